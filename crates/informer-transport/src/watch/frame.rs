//! `WatchFrame`: one event of a watch.

use std::{collections::BTreeMap, error::Error, fmt};

use bytes::Bytes;
use informer_core::{Classify, DecodeError, FailureClass, ResourceVersion};

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
    /// A line, or frame, that is no event of this kind. It is to be reported; what follows is good.
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

/// What a bookmark says.
pub(super) struct Mark {
    pub(super) at: ResourceVersion,
    pub(super) annotations: BTreeMap<String, String>,
}

pub(super) fn bookmark(mark: Result<Mark, DecodeError>) -> WatchFrame {
    match mark {
        Ok(mark) if !mark.at.is_none() => WatchFrame::Bookmark {
            end_of_initial: mark
                .annotations
                .get(INITIAL_EVENTS_END)
                .is_some_and(|value| value == "true"),
            at: mark.at,
        },
        Ok(_) => odd("a bookmark has no resource version"),
        Err(error) => WatchFrame::Odd(error),
    }
}

pub(super) fn odd(message: &str) -> WatchFrame {
    WatchFrame::Odd(DecodeError::new(message))
}
