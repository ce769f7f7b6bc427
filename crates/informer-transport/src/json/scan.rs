//! Finds the ends of JSON values. It looks at each byte once and checks only what it needs: what is inside a value is serde's to judge.

use std::{borrow::Cow, ops::Range};

use memchr::memchr2;

/// The bytes are not JSON of the shape that was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Malformed {
    /// Where.
    pub(crate) at: usize,
}

/// Finds the end of one value that arrives in pieces.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ValueScan(State);

#[derive(Debug, Clone, Copy, Default)]
enum State {
    #[default]
    Start,
    Scalar,
    Nested {
        depth: u32,
    },
    String {
        depth: u32,
        escaped: bool,
    },
}

impl ValueScan {
    /// Takes the next piece, whose first byte is that of the value if it is the first piece. Returns where in it the value ends, or
    /// `None` if the value goes on.
    pub(crate) fn advance(&mut self, piece: &[u8]) -> Option<usize> {
        let mut at = 0;
        loop {
            match self.0 {
                State::Start => match piece.first()? {
                    b'"' => {
                        at = 1;
                        self.0 = State::String {
                            depth: 0,
                            escaped: false,
                        };
                    }
                    b'{' | b'[' => {
                        at = 1;
                        self.0 = State::Nested { depth: 1 };
                    }
                    _ => self.0 = State::Scalar,
                },
                State::Scalar => {
                    return piece[at..]
                        .iter()
                        .position(|&byte| ends_scalar(byte))
                        .map(|end| at + end);
                }
                State::Nested { depth } => {
                    at += 1 + piece[at..].iter().position(|&byte| is_structural(byte))?;
                    match piece[at - 1] {
                        b'"' => {
                            self.0 = State::String {
                                depth,
                                escaped: false,
                            }
                        }
                        b'{' | b'[' => self.0 = State::Nested { depth: depth + 1 },
                        _ if depth == 1 => return Some(at),
                        _ => self.0 = State::Nested { depth: depth - 1 },
                    }
                }
                State::String { depth, escaped: true } => {
                    piece.get(at)?;
                    at += 1;
                    self.0 = State::String {
                        depth,
                        escaped: false,
                    };
                }
                State::String {
                    depth,
                    escaped: false,
                } => {
                    at += 1 + memchr2(b'"', b'\\', &piece[at..])?;
                    if piece[at - 1] == b'\\' {
                        self.0 = State::String { depth, escaped: true };
                    } else if depth == 0 {
                        return Some(at);
                    } else {
                        self.0 = State::Nested { depth };
                    }
                }
            }
        }
    }

    /// Whether the end of the input would end the value: only a number or a word has no end of its own.
    pub(crate) fn may_end(self) -> bool {
        matches!(self.0, State::Scalar)
    }
}

fn is_structural(byte: u8) -> bool {
    matches!(byte, b'"' | b'{' | b'}' | b'[' | b']')
}

fn ends_scalar(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b',' | b'}' | b']' | b':' | b'"' | b'{' | b'[')
}

/// White space as JSON has it.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Walks over JSON that is whole.
#[derive(Debug)]
pub(crate) struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How far it has come: everything before was looked at once.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// The next byte that is no white space.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if !is_space(byte) {
                return Some(byte);
            }
            self.at += 1;
        }
        None
    }

    /// Steps over `byte`, if it is next.
    pub(crate) fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Steps into an object. Whether it has members.
    pub(crate) fn enter(&mut self) -> Result<bool, Malformed> {
        if !self.take(b'{') {
            return Err(self.malformed());
        }
        Ok(!self.take(b'}'))
    }

    /// Steps over a key and its colon. Returns the text between the quotes.
    pub(crate) fn key(&mut self) -> Result<Range<usize>, Malformed> {
        if self.peek() != Some(b'"') {
            return Err(self.malformed());
        }
        let quoted = self.value()?;
        if !self.take(b':') {
            return Err(self.malformed());
        }
        Ok(quoted.start + 1..quoted.end - 1)
    }

    /// Steps over what follows a member: `true` if another follows, `false` if the object ends.
    pub(crate) fn more(&mut self) -> Result<bool, Malformed> {
        if self.take(b',') {
            Ok(true)
        } else if self.take(b'}') {
            Ok(false)
        } else {
            Err(self.malformed())
        }
    }

    /// Steps over a value.
    pub(crate) fn value(&mut self) -> Result<Range<usize>, Malformed> {
        if matches!(self.peek(), None | Some(b',' | b'}' | b']' | b':')) {
            return Err(self.malformed());
        }
        let start = self.at;
        let mut scan = ValueScan::default();
        match scan.advance(&self.bytes[start..]) {
            Some(length) => self.at = start + length,
            None if scan.may_end() => self.at = self.bytes.len(),
            None => {
                self.at = self.bytes.len();
                return Err(self.malformed());
            }
        }
        Ok(start..self.at)
    }

    fn malformed(&self) -> Malformed {
        Malformed { at: self.at }
    }
}

/// The text of a JSON string with its quotes, or `None` if it is another value or no UTF-8.
pub(crate) fn text(value: &[u8]) -> Option<Cow<'_, str>> {
    let inner = value.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if memchr::memchr(b'\\', inner).is_none() {
        return std::str::from_utf8(inner).ok().map(Cow::Borrowed);
    }
    serde_json::from_slice(value).ok().map(Cow::Owned)
}
