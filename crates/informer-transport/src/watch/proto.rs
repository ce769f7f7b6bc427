//! The events of a watch in Kubernetes protobuf: a length of four bytes, an event, and in it an object in its envelope.

use bytes::{Buf, Bytes};
use informer_core::{DecodeError, Identity, ResourceVersion};
use prost::Message;

use super::{Event, TooLong, Types, frame::Mark};
use crate::proto::{Input, Item, PartialItem, Unknown, WatchEvent, open};

/// A length in front of each frame (apimachinery `framer.NewLengthDelimitedFrameReader`).
const LENGTH: usize = 4;

/// Cuts the body into frames.
#[derive(Debug)]
pub(super) struct Lengths {
    input: Input,
    /// Of the frame that is awaited.
    length: Option<usize>,
    pub(super) limit: usize,
    ended: bool,
}

impl Lengths {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            input: Input::default(),
            length: None,
            limit,
            ended: false,
        }
    }

    pub(super) fn push(&mut self, chunk: Bytes) {
        self.input.push(chunk);
    }

    pub(super) fn end(&mut self) {
        self.ended = true;
    }

    pub(super) fn scanned(&self) -> u64 {
        self.input.taken()
    }

    pub(super) fn buffered(&self) -> usize {
        self.input.len()
    }

    /// The next frame. What is left at the end of the body counts as one.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, TooLong> {
        let length = match self.length {
            Some(length) => length,
            None => match self.input.take(LENGTH) {
                Some(mut length) => usize::try_from(length.get_u32()).map_err(|_| TooLong)?,
                None => return Ok(self.rest()),
            },
        };
        if length > self.limit {
            return Err(TooLong);
        }
        let frame = self.input.take(length);
        self.length = frame.is_none().then_some(length);
        Ok(frame.or_else(|| self.rest()))
    }

    fn rest(&mut self) -> Option<Bytes> {
        let is_cut = self.ended && (self.length.is_some() || self.input.len() > 0);
        self.length = self.length.filter(|_| !is_cut);
        is_cut.then(|| self.input.take(self.input.len())).flatten()
    }
}

pub(super) fn event(frame: Bytes) -> Result<Event, DecodeError> {
    let event = WatchEvent::decode(frame)
        .map_err(|error| DecodeError::new("a frame of the watch is no event").caused_by(error))?;
    Ok(Event {
        event: Some(event.event).filter(|event| !event.is_empty()),
        object: event.object.map(|object| object.raw),
    })
}

fn opened(object: &Bytes) -> Option<Unknown> {
    open(object.clone())?.ok()
}

/// The types of an object; `None` where it is none.
pub(super) fn types(object: &Bytes) -> Option<Types<'static>> {
    let types = opened(object)?.types.unwrap_or_default();
    Some((types.api_version.into(), types.kind.into()))
}

pub(super) fn identity(object: &Bytes) -> Option<Identity> {
    let identity = Item::decode(opened(object)?.raw).ok()?.identity();
    (!identity.name.is_empty()).then_some(identity)
}

pub(super) fn mark(object: &Bytes) -> Result<Mark, DecodeError> {
    let item = opened(object).and_then(|unknown| PartialItem::decode(unknown.raw).ok());
    let metadata = item.and_then(|item| item.metadata);
    let metadata = metadata.ok_or_else(|| DecodeError::new("a bookmark has no resource version"))?;
    Ok(Mark {
        at: ResourceVersion::new(metadata.version),
        annotations: metadata.annotations,
    })
}
