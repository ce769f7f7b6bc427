//! `WatchDecoder`: the body of a watch in JSON, event by event.

mod frame;

use bytes::Bytes;
use informer_core::{DecodeError, Resource};

use crate::{
    ApiError, Asked, Status,
    json::{Head, Malformed, Member, Scan, is_space, text},
    lines::Lines,
};
use frame::{bookmark, odd};

pub use frame::{FrameTooLarge, INITIAL_EVENTS_END, WatchFrame};

/// How many bytes an event may have, if nobody says otherwise.
pub const DEFAULT_FRAME_LIMIT: usize = 64 << 20;

/// Decodes the body of a watch without input or output: push chunks of any size, take frames.
///
/// An event is a line. Each byte is looked at a fixed number of times, however small the chunks, and the object inside is neither decoded
/// nor, if its line came in one chunk, copied. Where objects say of what kind they are and it is none of the expected ones, the frame is
/// [`Odd`](WatchFrame::Odd); upstream's reflector skips such events too.
#[derive(Debug)]
pub struct WatchDecoder {
    lines: Lines,
    limit: usize,
    broken: bool,
    asked: Asked,
    /// apiVersion and kind; empty accepts everything but tables.
    expected: Vec<(String, String)>,
    scanned: u64,
}

impl WatchDecoder {
    /// A decoder that takes objects of any kind.
    #[must_use]
    pub fn new(asked: Asked) -> Self {
        Self {
            lines: Lines::new(DEFAULT_FRAME_LIMIT),
            limit: DEFAULT_FRAME_LIMIT,
            broken: false,
            asked,
            expected: Vec::new(),
            scanned: 0,
        }
    }

    /// The same, for objects of this kind.
    #[must_use]
    pub fn expect(self, resource: &Resource) -> Self {
        self.expect_types(&resource.api_version(), &resource.kind)
    }

    /// The same, for objects with these types. May be called several times: then any of them will do.
    #[must_use]
    pub fn expect_types(mut self, api_version: &str, kind: &str) -> Self {
        self.expected.push((api_version.to_owned(), kind.to_owned()));
        self
    }

    /// The same, with another limit on the bytes of an event.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.lines = Lines::new(limit);
        self.limit = limit;
        self
    }

    /// Takes the next chunk of the body.
    pub fn push(&mut self, chunk: Bytes) {
        self.lines.push(chunk);
    }

    /// The body ended: a last line without a line feed counts.
    pub fn finish(&mut self) {
        self.lines.end();
    }

    /// The next frame; `None` asks for another chunk.
    ///
    /// # Errors
    /// When an event is longer than the limit. There are no frames after that.
    pub fn next_frame(&mut self) -> Result<Option<WatchFrame>, FrameTooLarge> {
        while !self.broken {
            let line = self.lines.next().map_err(|_| {
                self.broken = true;
                FrameTooLarge { limit: self.limit }
            })?;
            let Some(line) = line else { break };
            if !line.iter().all(|&byte| is_space(byte)) {
                return Ok(Some(self.frame(&line)));
            }
        }
        Ok(None)
    }

    /// How many bytes were looked at so far, to show that the cost is linear.
    #[must_use]
    pub fn scanned(&self) -> u64 {
        self.lines.scanned() + self.scanned
    }

    /// How many bytes were pushed and are not yet taken as frames.
    #[must_use]
    pub fn buffered(&self) -> usize {
        self.lines.buffered()
    }

    fn frame(&mut self, line: &Bytes) -> WatchFrame {
        let mut scan = Scan::new(line);
        let envelope = Envelope::read(line, &mut scan);
        self.scanned += scan.at() as u64;
        let Ok(envelope) = envelope else {
            return WatchFrame::Odd(DecodeError::new(format!(
                "a line of the watch is no event: {}",
                excerpt(line)
            )));
        };
        let (Some(event), Some(object)) = (envelope.event, envelope.object) else {
            return odd("an event of the watch lacks its type or object");
        };
        match &*event {
            "ERROR" => WatchFrame::Error(self.error(&object)),
            "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" => {
                if let Err(error) = self.check(&event, &object) {
                    return WatchFrame::Odd(error);
                }
                match &*event {
                    "ADDED" => WatchFrame::Added(object),
                    "MODIFIED" => WatchFrame::Modified(object),
                    "DELETED" => WatchFrame::Deleted(object),
                    _ => bookmark(&object),
                }
            }
            _ => WatchFrame::Odd(DecodeError::new(format!(
                "an event of the watch has the unknown type {event:?}"
            ))),
        }
    }

    /// Whether the object is of an expected kind. One that does not say is taken: the source may not write types.
    fn check(&mut self, event: &str, object: &[u8]) -> Result<(), DecodeError> {
        let head = Head::read(object, Member::Types)
            .map_err(|_| DecodeError::new(format!("{event} has no object: {}", excerpt(object))))?;
        self.scanned += head.scanned as u64;
        let (Some(version), Some(kind)) = (head.api_version.as_deref(), head.kind.as_deref()) else {
            return Ok(());
        };
        let is_table = kind == "Table" && version.starts_with("meta.k8s.io/");
        let is_expected = self.expected.is_empty()
            || self.expected.iter().any(|(expected_version, expected_kind)| {
                expected_version == version && expected_kind == kind
            });
        if is_expected && !is_table {
            return Ok(());
        }
        let error = DecodeError::new(match self.expected.first() {
            Some((version, expected)) => {
                format!("{event} holds it where a {expected} of {version} is watched")
            }
            None => format!("{event} holds it where objects are watched"),
        });
        let error = error.kind(format!("{kind} of {version}"));
        Err(match Head::read(object, Member::Metadata) {
            Ok(head) if head.name.is_some() => error.of(head.identity()),
            _ => error,
        })
    }

    fn error(&self, object: &[u8]) -> ApiError {
        let status = serde_json::from_slice(object).unwrap_or_else(|_| {
            Status::failure(
                0,
                "Unknown",
                format!(
                    "the watch ended with an error that is no status: {}",
                    excerpt(object)
                ),
            )
        });
        ApiError::from_status(status, self.asked)
    }
}

struct Envelope {
    event: Option<String>,
    object: Option<Bytes>,
}

impl Envelope {
    fn read(line: &Bytes, scan: &mut Scan<'_>) -> Result<Self, Malformed> {
        let mut envelope = Self {
            event: None,
            object: None,
        };
        let mut more = scan.enter()?;
        while more {
            let key = scan.key()?;
            let value = scan.value()?;
            match &line[key] {
                b"type" => envelope.event = text(&line[value]).map(Into::into),
                b"object" => envelope.object = Some(line.slice(value)),
                _ => {}
            }
            more = scan.more()?;
        }
        match scan.peek() {
            None => Ok(envelope),
            Some(_) => Err(Malformed { at: scan.at() }),
        }
    }
}

/// The beginning of a text, for messages.
pub(crate) fn excerpt(text: &[u8]) -> String {
    const LENGTH: usize = 80;
    let cut = String::from_utf8_lossy(&text[..text.len().min(LENGTH)]);
    let dots = if text.len() > LENGTH { "..." } else { "" };
    format!("{:?}{dots}", cut.trim_end())
}
