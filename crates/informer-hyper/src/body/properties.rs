//! What holds of the gzip decoder for any bytes in any pieces. The fuzz target and the test that replays its corpus share it.

use std::io::Read as _;

use bytes::Bytes;

use super::Gunzip;

/// So many decoded bytes are enough to compare: a few bytes may expand to gigabytes.
const ENOUGH: usize = 1 << 20;

/// The first byte says how many bytes of sizes follow; the rest is a body, to be cut in pieces of these sizes, over and over.
fn pieces(data: &[u8]) -> (Bytes, Vec<Bytes>) {
    let (count, rest) = data
        .split_first()
        .map_or((0, data), |(first, rest)| (usize::from(first % 8), rest));
    let (sizes, body) = rest.split_at(count.min(rest.len()));
    let whole = Bytes::copy_from_slice(body);
    let (mut left, mut cut) = (whole.clone(), Vec::new());
    for size in sizes.iter().cycle() {
        if left.is_empty() {
            break;
        }
        cut.push(left.split_to(usize::from(*size).clamp(1, left.len())));
    }
    if !left.is_empty() {
        cut.push(left);
    }
    (whole, cut)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Whole,
    Short,
    Bad,
    /// There was more than is compared.
    Enough,
}

fn decode(chunks: impl IntoIterator<Item = Bytes>) -> (Vec<u8>, End) {
    let mut gunzip = Gunzip::new();
    let mut decoded = Vec::new();
    for chunk in chunks {
        gunzip.feed(chunk);
        loop {
            match gunzip.next() {
                Ok(Some(bytes)) => {
                    assert!(
                        !bytes.is_empty() && bytes.len() <= 64 * 1024,
                        "{} bytes at once",
                        bytes.len()
                    );
                    decoded.extend_from_slice(&bytes);
                }
                Ok(None) => break,
                Err(_) => return (decoded, End::Bad),
            }
            if decoded.len() > ENOUGH {
                decoded.truncate(ENOUGH);
                return (decoded, End::Enough);
            }
        }
    }
    let end = if gunzip.is_complete() {
        End::Whole
    } else {
        End::Short
    };
    (decoded, end)
}

/// What comes out does not depend on the pieces, and is what another decoder makes of it.
pub(super) fn gunzip(data: &[u8]) {
    let (whole, cut) = pieces(data);
    let (decoded, end) = decode([whole.clone()]);
    let (again, other) = decode(cut);
    if [end, other]
        .iter()
        .all(|end| matches!(end, End::Bad | End::Enough))
    {
        // Where the error is found within a piece is chance, and so whether enough came before.
        let common = decoded.len().min(again.len());
        assert!(decoded[..common] == again[..common]);
    } else {
        assert_eq!((end, decoded.len()), (other, again.len()));
        assert!(decoded == again);
    }

    if whole.is_empty() {
        return;
    }
    let mut peer = Vec::new();
    let read = flate2::read::MultiGzDecoder::new(&whole[..])
        .take(ENOUGH as u64)
        .read_to_end(&mut peer);
    match end {
        End::Whole => {
            read.expect("the other decoder takes it too");
            assert!(decoded == peer);
        }
        End::Enough => assert!(decoded == peer),
        End::Short | End::Bad => {}
    }
}
