//! `WatchFrame`: one event of a watch.

use std::{collections::BTreeMap, error::Error, fmt};

use bytes::Bytes;
use informer_core::{Classify, DecodeError, FailureClass, ResourceVersion};
use serde::Deserialize;

use crate::ApiError;

/// Marks the bookmark that ends the initial events of a streaming list.
pub const INITIAL_EVENTS_END: &str = "k8s.io/initial-events-end";

/// One event of a watch. Objects are still bytes.
#[derive(Debug, Clone)]
pub enum WatchFrame {
    /// ADDED.
    Added(Bytes),
    /// MODIFIED.
    Modified(Bytes),
    /// DELETED, with the last state.
    Deleted(Bytes),
    /// BOOKMARK: nothing is missing up to a version.
    Bookmark {
        /// The version.
        at: ResourceVersion,
        /// It ends the initial events: its annotation `k8s.io/initial-events-end` is `true`, and no other value.
        end_of_initial: bool,
    },
    /// ERROR: the server ends the watch.
    Error(ApiError),
    /// A line that is no event of this kind. It is to be reported; what follows is good.
    Odd(DecodeError),
}

/// An event is longer than the limit. What follows cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameTooLarge {
    pub(super) limit: usize,
}

impl fmt::Display for FrameTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "an event of the watch is longer than the limit of {} bytes",
            self.limit
        )
    }
}

impl Error for FrameTooLarge {}

impl Classify for FrameTooLarge {
    /// The same event would come again.
    fn class(&self) -> FailureClass {
        FailureClass::Fatal
    }
}

/// All that is read of a bookmark: its object has the kind, but often not the fields, of a real one.
#[derive(Deserialize)]
struct Bookmark {
    metadata: BookmarkMeta,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BookmarkMeta {
    resource_version: String,
    annotations: Option<BTreeMap<String, String>>,
}

pub(super) fn bookmark(object: &[u8]) -> WatchFrame {
    match serde_json::from_slice::<Bookmark>(object) {
        Ok(Bookmark { metadata }) if !metadata.resource_version.is_empty() => WatchFrame::Bookmark {
            end_of_initial: metadata
                .annotations
                .is_some_and(|all| all.get(INITIAL_EVENTS_END).is_some_and(|value| value == "true")),
            at: ResourceVersion::new(metadata.resource_version),
        },
        Ok(_) => odd("a bookmark has no resource version"),
        Err(error) => {
            WatchFrame::Odd(DecodeError::new("a bookmark has no resource version").caused_by(error))
        }
    }
}

pub(super) fn odd(message: &str) -> WatchFrame {
    WatchFrame::Odd(DecodeError::new(message))
}
