//! Undoing gzip as it comes: bytes in, bytes out, over any number of members.

use bytes::{Buf, Bytes};
use flate2::{Crc, Decompress, FlushDecompress, Status};

/// A decoder without I/O: `feed` what came, then take `next` until it wants more.
///
/// A streaming list of a 1.37 server is one member for each flush, so a decoder that stops after the first would end a watch after its
/// first event; and what a flush completed must come out at once.
#[derive(Debug)]
pub(crate) struct Gunzip {
    input: Bytes,
    stage: Stage,
    inflate: Decompress,
    crc: Crc,
    /// The last call brought something, so that there may be more without more input.
    has_more: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Header(Header),
    Deflate,
    Trailer { n_read: usize, bytes: [u8; 8] },
}

/// Where in a member's header the next byte stands (RFC 1952, section 2.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Header {
    Fixed {
        n_read: usize,
        flags: u8,
    },
    ExtraLength {
        low: Option<u8>,
        flags: u8,
    },
    Extra {
        n_left: u16,
        flags: u8,
    },
    Name {
        flags: u8,
    },
    Comment {
        flags: u8,
    },
    /// Of the header.
    Checksum {
        low: Option<u8>,
    },
}

const START: Stage = Stage::Header(Header::Fixed { n_read: 0, flags: 0 });
const HAS_CHECKSUM: u8 = 1 << 1;
const HAS_EXTRA: u8 = 1 << 2;
const HAS_NAME: u8 = 1 << 3;
const HAS_COMMENT: u8 = 1 << 4;
const UNKNOWN: u8 = 0b1110_0000;

/// What `next` gives at most, whatever a few bytes expand to.
const MAX_CHUNK: usize = 64 * 1024;

impl Gunzip {
    pub(crate) fn new() -> Self {
        Self {
            input: Bytes::new(),
            stage: START,
            inflate: Decompress::new(false),
            crc: Crc::new(),
            has_more: false,
        }
    }

    /// More input. All of the last one has been asked for by `next`.
    pub(crate) fn feed(&mut self, input: Bytes) {
        debug_assert!(self.input.is_empty(), "input is fed when the last one is used up");
        self.input = input;
    }

    /// The next decoded bytes, or `None` when more input is needed.
    pub(crate) fn next(&mut self) -> Result<Option<Bytes>, &'static str> {
        let capacity = (self.input.len() * 4).clamp(4 * 1024, MAX_CHUNK);
        let mut output = Vec::new();
        while !self.input.is_empty() || self.has_more {
            match self.stage {
                Stage::Header(at) => self.read_header(at)?,
                Stage::Deflate => {
                    if output.capacity() == 0 {
                        output.reserve_exact(capacity);
                    }
                    self.read_deflated(&mut output)?;
                    if output.len() == output.capacity() {
                        break;
                    }
                }
                Stage::Trailer { n_read, bytes } => self.read_trailer(n_read, bytes)?,
            }
        }
        Ok((!output.is_empty()).then(|| output.into()))
    }

    /// Whether the input may end here.
    pub(crate) fn is_complete(&self) -> bool {
        self.stage == START
    }

    fn read_header(&mut self, mut at: Header) -> Result<(), &'static str> {
        while let Some(&byte) = self.input.first() {
            self.input.advance(1);
            let next = match at {
                Header::Checksum { low: None } => Some(Header::Checksum { low: Some(byte) }),
                Header::Checksum { low: Some(low) } => {
                    if u32::from(u16::from_le_bytes([low, byte])) != self.crc.sum() & 0xFFFF {
                        return Err("the checksum of its header is wrong");
                    }
                    None
                }
                _ => {
                    self.crc.update(&[byte]);
                    at.after(byte)?
                }
            };
            let Some(next) = next else {
                self.crc.reset();
                self.stage = Stage::Deflate;
                return Ok(());
            };
            at = next;
        }
        self.stage = Stage::Header(at);
        Ok(())
    }

    fn read_deflated(&mut self, output: &mut Vec<u8>) -> Result<(), &'static str> {
        let (in_before, out_before, from) = (self.inflate.total_in(), self.inflate.total_out(), output.len());
        let status = self
            .inflate
            .decompress_vec(&self.input, output, FlushDecompress::Sync)
            .map_err(|_| "its deflated data is corrupt")?;
        let n_read = usize::try_from(self.inflate.total_in() - in_before).expect("no more than there was");
        self.input.advance(n_read);
        self.crc.update(&output[from..]);
        // Room that is left says nothing: the decoder also stops at the end of its window of 32 KiB, with all input taken in.
        self.has_more = self.inflate.total_out() != out_before;
        if status == Status::StreamEnd {
            self.has_more = false;
            self.stage = Stage::Trailer {
                n_read: 0,
                bytes: [0; 8],
            };
        } else if n_read == 0 && !self.has_more && !self.input.is_empty() {
            return Err("its deflated data makes no progress");
        }
        Ok(())
    }

    fn read_trailer(&mut self, mut n_read: usize, mut bytes: [u8; 8]) -> Result<(), &'static str> {
        let n = self.input.len().min(bytes.len() - n_read);
        self.input.copy_to_slice(&mut bytes[n_read..n_read + n]);
        n_read += n;
        if n_read < bytes.len() {
            self.stage = Stage::Trailer { n_read, bytes };
            return Ok(());
        }
        let [a, b, c, d, e, f, g, h] = bytes;
        if u32::from_le_bytes([a, b, c, d]) != self.crc.sum()
            || u32::from_le_bytes([e, f, g, h]) != self.crc.amount()
        {
            return Err("its checksum is wrong");
        }
        self.stage = START;
        self.inflate.reset(false);
        self.crc.reset();
        Ok(())
    }
}

impl Header {
    /// The place after this byte; `None` when the header is over.
    fn after(self, byte: u8) -> Result<Option<Self>, &'static str> {
        Ok(match self {
            Self::Fixed { n_read, flags } => {
                match (n_read, byte) {
                    (3, flags) if flags & UNKNOWN != 0 => {
                        return Err("its header has flags that nobody knows");
                    }
                    (0, 0x1F) | (1, 0x8B) | (2, 8) | (3.., _) => {}
                    _ => return Err("it does not begin like gzip"),
                }
                let flags = if n_read == 3 { byte } else { flags };
                if n_read < 9 {
                    Some(Self::Fixed {
                        n_read: n_read + 1,
                        flags,
                    })
                } else {
                    Self::optional(flags)
                }
            }
            Self::ExtraLength { low: None, flags } => Some(Self::ExtraLength {
                low: Some(byte),
                flags,
            }),
            Self::ExtraLength {
                low: Some(low),
                flags,
            } => match u16::from_le_bytes([low, byte]) {
                0 => Self::optional(flags),
                n_left => Some(Self::Extra { n_left, flags }),
            },
            Self::Extra { n_left: 1, flags } => Self::optional(flags),
            Self::Extra { n_left, flags } => Some(Self::Extra {
                n_left: n_left - 1,
                flags,
            }),
            Self::Name { flags } | Self::Comment { flags } if byte == 0 => Self::optional(flags),
            Self::Name { .. } | Self::Comment { .. } => Some(self),
            Self::Checksum { .. } => None,
        })
    }

    /// The next optional part, whose flag is then cleared.
    fn optional(flags: u8) -> Option<Self> {
        if flags & HAS_EXTRA != 0 {
            let flags = flags & !HAS_EXTRA;
            Some(Self::ExtraLength { low: None, flags })
        } else if flags & HAS_NAME != 0 {
            Some(Self::Name {
                flags: flags & !HAS_NAME,
            })
        } else if flags & HAS_COMMENT != 0 {
            Some(Self::Comment {
                flags: flags & !HAS_COMMENT,
            })
        } else if flags & HAS_CHECKSUM != 0 {
            Some(Self::Checksum { low: None })
        } else {
            None
        }
    }
}
