//! Reading along with HTTP/2: what a server says of a whole connection.

/// What concerns more than one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// A SETTINGS frame, and the number of streams that may be open at once if it holds one.
    Settings { max_streams: Option<u32> },
    /// No new streams are taken.
    GoAway,
}

/// Walks over the frames that a server sends, without touching them (RFC 9113, section 4.1).
///
/// hyper tells neither when the first SETTINGS have arrived nor, to the holder of a sender, what they allow; a stream beyond it would wait
/// without an end behind watches that do not end.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    head: [u8; 9],
    n_head: usize,
    payload_left: usize,
    /// The setting that is being read, when the frame is one of settings.
    setting: [u8; 6],
    n_setting: usize,
    max_streams: Option<u32>,
}

const SETTINGS: u8 = 0x4;
const GO_AWAY: u8 = 0x7;
const ACK: u8 = 0x1;
const MAX_CONCURRENT_STREAMS: [u8; 2] = [0, 3];

impl Frames {
    /// The next bytes. What they complete is handed to `said`.
    pub(crate) fn read(&mut self, mut bytes: &[u8], mut said: impl FnMut(Said)) {
        while !bytes.is_empty() {
            if self.n_head < self.head.len() {
                let n = bytes.len().min(self.head.len() - self.n_head);
                self.head[self.n_head..self.n_head + n].copy_from_slice(&bytes[..n]);
                self.n_head += n;
                bytes = &bytes[n..];
                if self.n_head < self.head.len() {
                    return;
                }
                let [a, b, c, ..] = self.head;
                self.payload_left = u32::from_be_bytes([0, a, b, c]) as usize;
                (self.n_setting, self.max_streams) = (0, None);
            }
            let n = bytes.len().min(self.payload_left);
            if self.is_settings() {
                bytes[..n].iter().for_each(|byte| self.read_setting(*byte));
            }
            self.payload_left -= n;
            bytes = &bytes[n..];
            if self.payload_left == 0 {
                self.n_head = 0;
                match self.head[3] {
                    SETTINGS if self.is_settings() => said(Said::Settings {
                        max_streams: self.max_streams,
                    }),
                    GO_AWAY => said(Said::GoAway),
                    _ => {}
                }
            }
        }
    }

    fn is_settings(&self) -> bool {
        self.head[3] == SETTINGS && self.head[4] & ACK == 0
    }

    fn read_setting(&mut self, byte: u8) {
        self.setting[self.n_setting] = byte;
        self.n_setting += 1;
        if self.n_setting == self.setting.len() {
            self.n_setting = 0;
            let [identifier @ .., a, b, c, d] = self.setting;
            if identifier == MAX_CONCURRENT_STREAMS {
                self.max_streams = Some(u32::from_be_bytes([a, b, c, d]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Frames, Said};

    fn frame(kind: u8, flags: u8, payload: &[u8]) -> Vec<u8> {
        let length = u32::try_from(payload.len()).expect("short").to_be_bytes();
        [&length[1..], &[kind, flags, 0, 0, 0, 1], payload].concat()
    }

    #[test]
    fn settings_and_go_away_are_heard_however_the_bytes_are_cut() {
        let stream = [
            frame(4, 0, &[0, 4, 0, 0, 1, 0, 0, 3, 0, 0, 0, 250]),
            frame(4, 1, &[]),
            frame(0, 0, &[0; 300]),
            frame(0, 1, &[]),
            frame(4, 0, &[]),
            // A payload that looks like a frame is none.
            frame(0, 0, &frame(7, 0, &[0; 8])),
            frame(4, 0, &[0, 3, 255, 255, 255, 255]),
            frame(7, 0, &[0; 8]),
        ]
        .concat();
        for size in 1..=stream.len() {
            let (mut frames, mut heard) = (Frames::default(), Vec::new());
            for chunk in stream.chunks(size) {
                frames.read(chunk, |said| heard.push(said));
            }
            let settings = |max_streams| Said::Settings { max_streams };
            assert_eq!(
                heard,
                [
                    settings(Some(250)),
                    settings(None),
                    settings(Some(u32::MAX)),
                    Said::GoAway
                ],
                "in chunks of {size}"
            );
        }
    }
}
