//! `WatchDecoder`: the body of a watch, event by event.

mod frame;
mod json;
#[cfg(feature = "protobuf")]
mod proto;

use std::borrow::Cow;

use bytes::Bytes;
use informer_core::{DecodeError, Identity, Resource};

use crate::{
    ApiError, Asked, Status, Wire,
    json::is_space,
    lines::{Lines, TooLong},
};
use frame::{Mark, bookmark, odd};
#[cfg(feature = "protobuf")]
use proto::Lengths;

pub use frame::{FrameTooLarge, INITIAL_EVENTS_END, WatchFrame};

/// How many bytes an event may have, if nobody says otherwise.
pub const DEFAULT_FRAME_LIMIT: usize = 64 << 20;

/// Decodes the body of a watch without input or output: push chunks of any size, take frames.
///
/// In JSON an event is a line, in protobuf a frame with its length before it. Each byte is looked at a fixed number of times, however small
/// the chunks, and the object inside is neither decoded nor, if all of it came in one chunk, copied. Where objects say of what kind they are and it is none of the expected ones, the frame is
/// [`Odd`](WatchFrame::Odd); upstream's reflector skips such events too.
#[derive(Debug)]
pub struct WatchDecoder {
    framing: Framing,
    limit: usize,
    broken: bool,
    asked: Asked,
    /// apiVersion and kind; empty accepts everything but tables.
    expected: Vec<(String, String)>,
    /// Tables are taken besides.
    tables: bool,
    scanned: u64,
}

/// What tells one event from the next.
#[derive(Debug)]
enum Framing {
    Lines(Lines),
    #[cfg(feature = "protobuf")]
    Lengths(Lengths),
}

impl Framing {
    fn new(wire: Wire, limit: usize) -> Self {
        match wire {
            Wire::Json => Self::Lines(Lines::new(limit)),
            #[cfg(feature = "protobuf")]
            Wire::Protobuf => Self::Lengths(Lengths::new(limit)),
        }
    }

    fn wire(&self) -> Wire {
        match self {
            Self::Lines(_) => Wire::Json,
            #[cfg(feature = "protobuf")]
            Self::Lengths(_) => Wire::Protobuf,
        }
    }
}

/// One method of all framings.
macro_rules! each {
    ($framing:expr, $it:ident => $call:expr) => {
        match $framing {
            Framing::Lines($it) => $call,
            #[cfg(feature = "protobuf")]
            Framing::Lengths($it) => $call,
        }
    };
}

/// `apiVersion` and `kind` of an object, empty where it does not say.
type Types<'a> = (Cow<'a, str>, Cow<'a, str>);

/// An event whose object is still bytes.
#[derive(Debug, Default)]
struct Event {
    event: Option<String>,
    object: Option<Bytes>,
}

impl WatchDecoder {
    /// A decoder of JSON that takes objects of any kind.
    #[must_use]
    pub fn new(asked: Asked) -> Self {
        Self {
            framing: Framing::new(Wire::Json, DEFAULT_FRAME_LIMIT),
            limit: DEFAULT_FRAME_LIMIT,
            broken: false,
            asked,
            expected: Vec::new(),
            tables: false,
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

    /// The same, which takes tables too: the object of an event is then a whole table, mostly of one row, and a bookmark is one whose row
    /// has nothing but metadata.
    #[must_use]
    pub fn tables(mut self) -> Self {
        self.tables = true;
        self
    }

    /// The same, for a body in this format.
    #[must_use]
    pub fn wire(mut self, wire: Wire) -> Self {
        self.framing = Framing::new(wire, self.limit);
        self
    }

    /// The same, with another limit on the bytes of an event.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.framing = Framing::new(self.framing.wire(), limit);
        self.limit = limit;
        self
    }

    /// Takes the next chunk of the body.
    pub fn push(&mut self, chunk: Bytes) {
        each!(&mut self.framing, it => it.push(chunk));
    }

    /// The body ended: a last line without a line feed counts, and so does half a frame, which is [`Odd`](WatchFrame::Odd).
    pub fn finish(&mut self) {
        each!(&mut self.framing, it => it.end());
    }

    /// The next frame; `None` asks for another chunk.
    ///
    /// # Errors
    /// When an event is longer than the limit. There are no frames after that.
    pub fn next_frame(&mut self) -> Result<Option<WatchFrame>, FrameTooLarge> {
        while !self.broken {
            let line = each!(&mut self.framing, it => it.next()).map_err(|TooLong| {
                self.broken = true;
                FrameTooLarge { limit: self.limit }
            })?;
            let Some(line) = line else { break };
            if self.framing.wire() != Wire::Json || !line.iter().all(|&byte| is_space(byte)) {
                return Ok(Some(self.frame(line)));
            }
        }
        Ok(None)
    }

    /// How many bytes were looked at so far, to show that the cost is linear.
    #[must_use]
    pub fn scanned(&self) -> u64 {
        each!(&self.framing, it => it.scanned()) + self.scanned
    }

    /// How many bytes were pushed and are not yet taken as frames.
    #[must_use]
    pub fn buffered(&self) -> usize {
        each!(&self.framing, it => it.buffered())
    }

    fn frame(&mut self, line: Bytes) -> WatchFrame {
        let event = match self.framing.wire() {
            Wire::Json => json::event(&line, &mut self.scanned),
            #[cfg(feature = "protobuf")]
            Wire::Protobuf => proto::event(line),
        };
        let event = match event {
            Ok(event) => event,
            Err(error) => return WatchFrame::Odd(error),
        };
        let (Some(event), Some(object)) = (event.event, event.object) else {
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
                    _ => bookmark(self.mark(&object)),
                }
            }
            _ => WatchFrame::Odd(DecodeError::new(format!(
                "an event of the watch has the unknown type {event:?}"
            ))),
        }
    }

    /// Whether the object is of an expected kind. One that does not say is taken: the source may not write types.
    fn check(&mut self, event: &str, object: &Bytes) -> Result<(), DecodeError> {
        let (version, kind) = self
            .types(object)
            .ok_or_else(|| DecodeError::new(format!("{event} has no object: {}", excerpt(object))))?;
        if version.is_empty() || kind.is_empty() {
            return Ok(());
        }
        let is_table = kind == "Table" && version.starts_with("meta.k8s.io/");
        let is_expected = self.expected.is_empty()
            || self.expected.iter().any(|(expected_version, expected_kind)| {
                *expected_version == version && *expected_kind == kind
            });
        if if is_table { self.tables } else { is_expected } {
            return Ok(());
        }
        let error = DecodeError::new(match self.expected.first() {
            Some((version, expected)) => {
                format!("{event} holds it where a {expected} of {version} is watched")
            }
            None => format!("{event} holds it where objects are watched"),
        });
        let error = error.kind(format!("{kind} of {version}"));
        Err(match self.identity(object) {
            Some(identity) => error.of(identity),
            None => error,
        })
    }

    fn types<'a>(&mut self, object: &'a Bytes) -> Option<Types<'a>> {
        match self.framing.wire() {
            Wire::Json => json::types(object, &mut self.scanned),
            #[cfg(feature = "protobuf")]
            Wire::Protobuf => proto::types(object),
        }
    }

    fn identity(&self, object: &Bytes) -> Option<Identity> {
        match self.framing.wire() {
            Wire::Json => json::identity(object),
            #[cfg(feature = "protobuf")]
            Wire::Protobuf => proto::identity(object),
        }
    }

    fn mark(&self, object: &Bytes) -> Result<Mark, DecodeError> {
        match self.framing.wire() {
            Wire::Json => json::mark(object),
            #[cfg(feature = "protobuf")]
            Wire::Protobuf => proto::mark(object),
        }
    }

    fn error(&self, object: &Bytes) -> ApiError {
        let status = match self.framing.wire() {
            Wire::Json => json::status(object),
            #[cfg(feature = "protobuf")]
            Wire::Protobuf => crate::proto::status(object),
        };
        let status = status.unwrap_or_else(|| {
            let sentence = format!(
                "the watch ended with an error that is no status: {}",
                excerpt(object)
            );
            Status::failure(0, "Unknown", sentence)
        });
        ApiError::from_status(status, self.asked)
    }
}

/// The beginning of a text, for messages.
pub(crate) fn excerpt(text: &[u8]) -> String {
    const LENGTH: usize = 80;
    let cut = String::from_utf8_lossy(&text[..text.len().min(LENGTH)]);
    let dots = if text.len() > LENGTH { "..." } else { "" };
    format!("{:?}{dots}", cut.trim_end())
}
