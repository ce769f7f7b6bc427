//! Walks the fields of a message: over chunks while they arrive, and in place.

use std::{collections::VecDeque, ops::Range};

use bytes::{Buf, Bytes, BytesMut};
use prost::encoding::{WireType, decode_key, decode_varint, encode_varint};

/// A varint has no more bytes.
const LONGEST_VARINT: usize = 10;

/// The chunks of a body of which not all has come.
#[derive(Debug, Default)]
pub(crate) struct Input {
    chunks: VecDeque<Bytes>,
    length: usize,
    taken: u64,
}

/// Bytes that are no message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoMessage;

impl Input {
    pub(crate) fn push(&mut self, chunk: Bytes) {
        if !chunk.is_empty() {
            self.length += chunk.len();
            self.chunks.push_back(chunk);
        }
    }

    /// How many bytes wait.
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// How many bytes were taken.
    pub(crate) fn taken(&self) -> u64 {
        self.taken
    }

    /// The next `n` bytes, once they are there: copied only where they lie in several chunks.
    pub(crate) fn take(&mut self, n: usize) -> Option<Bytes> {
        if n > self.length {
            return None;
        }
        let mut pieces = BytesMut::new();
        loop {
            let missing = n - pieces.len();
            let piece = self.piece(missing);
            if piece.len() == missing && pieces.is_empty() {
                return Some(piece);
            }
            pieces.extend_from_slice(&piece);
            if pieces.len() == n {
                return Some(pieces.freeze());
            }
        }
    }

    /// Drops up to `n` bytes; says how many.
    pub(crate) fn skip(&mut self, n: u64) -> u64 {
        let mut left = n;
        while left > 0 && self.length > 0 {
            left -= self.piece(usize::try_from(left).unwrap_or(usize::MAX)).len() as u64;
        }
        n - left
    }

    /// The next varint, and how many bytes it had, once it is there.
    pub(crate) fn varint(&mut self) -> Result<Option<(u64, u64)>, NoMessage> {
        let mut head = [0; LONGEST_VARINT];
        let (mut n, mut whole) = (0, false);
        for byte in self
            .chunks
            .iter()
            .flat_map(|chunk| chunk.iter())
            .take(LONGEST_VARINT)
        {
            head[n] = *byte;
            n += 1;
            if byte & 0x80 == 0 {
                whole = true;
                break;
            }
        }
        if !whole {
            return if n == LONGEST_VARINT {
                Err(NoMessage)
            } else {
                Ok(None)
            };
        }
        let value = decode_varint(&mut &head[..n]).map_err(|_| NoMessage)?;
        self.skip(n as u64);
        Ok(Some((value, n as u64)))
    }

    /// Up to `n` bytes of the first chunk.
    fn piece(&mut self, n: usize) -> Bytes {
        let Some(chunk) = self.chunks.front_mut() else {
            return Bytes::new();
        };
        let piece = chunk.split_to(n.min(chunk.len()));
        if chunk.is_empty() {
            self.chunks.pop_front();
        }
        self.length -= piece.len();
        self.taken += piece.len() as u64;
        piece
    }
}

/// The fields of a message: number, where it stands as a whole, and where what is inside stands.
struct Fields<'a> {
    message: &'a [u8],
    rest: &'a [u8],
}

struct Field {
    number: u32,
    whole: Range<usize>,
    inside: Range<usize>,
}

impl<'a> Fields<'a> {
    fn of(message: &'a [u8]) -> Self {
        Self {
            message,
            rest: message,
        }
    }

    fn at(&self) -> usize {
        self.message.len() - self.rest.len()
    }

    fn read(&mut self) -> Result<Option<Field>, NoMessage> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let start = self.at();
        let (number, kind) = decode_key(&mut self.rest).map_err(|_| NoMessage)?;
        let length = match kind {
            WireType::Varint => {
                let from = self.at();
                decode_varint(&mut self.rest).map_err(|_| NoMessage)?;
                let end = self.at();
                return Ok(Some(Field {
                    number,
                    whole: start..end,
                    inside: from..end,
                }));
            }
            WireType::ThirtyTwoBit => 4,
            WireType::SixtyFourBit => 8,
            WireType::LengthDelimited => decode_varint(&mut self.rest).map_err(|_| NoMessage)?,
            // Kubernetes has no groups.
            WireType::StartGroup | WireType::EndGroup => return Err(NoMessage),
        };
        let length = usize::try_from(length).map_err(|_| NoMessage)?;
        if length > self.rest.len() {
            return Err(NoMessage);
        }
        let inside = self.at()..self.at() + length;
        self.rest.advance(length);
        Ok(Some(Field {
            number,
            whole: start..inside.end,
            inside,
        }))
    }
}

/// The number of `metadata` in every object, and of `managedFields` in it.
const METADATA: u32 = 1;
const MANAGED_FIELDS: u32 = 17;

/// The message of an object without its managed fields; the same bytes where it has none.
pub(crate) fn without_managed_fields(object: &Bytes) -> Result<Bytes, NoMessage> {
    let mut fields = Fields::of(object);
    while let Some(field) = fields.read()? {
        if field.number != METADATA {
            continue;
        }
        let metadata = &object[field.inside.clone()];
        let mut kept = BytesMut::new();
        let mut inner = Fields::of(metadata);
        while let Some(member) = inner.read()? {
            if member.number != MANAGED_FIELDS {
                kept.extend_from_slice(&metadata[member.whole]);
            }
        }
        if kept.len() == metadata.len() {
            return Ok(object.clone());
        }
        let mut rest = BytesMut::with_capacity(object.len() - metadata.len() + kept.len());
        rest.extend_from_slice(&object[..field.whole.start]);
        // Field 1, with a length.
        rest.extend_from_slice(&[0x0a]);
        encode_varint(kept.len() as u64, &mut rest);
        rest.extend_from_slice(&kept);
        rest.extend_from_slice(&object[field.whole.end..]);
        return Ok(rest.freeze());
    }
    Ok(object.clone())
}
