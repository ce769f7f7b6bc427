//! `ListError`: why a body is no list.

use std::{error::Error, fmt};

use informer_core::{Classify, FailureClass};

/// The body of a LIST could not be split.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListError {
    /// It is not the JSON of a list.
    Malformed {
        /// After how many bytes.
        at: u64,
        /// What stood there.
        found: String,
    },
    /// It ended before the list was whole.
    Cut {
        /// After how many bytes.
        at: u64,
    },
    /// An item is longer than the limit.
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// It is something else, such as a table.
    NotAList {
        /// What it says it is.
        kind: String,
    },
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { at, found } => write!(f, "the answer is no list: {found} after {at} bytes"),
            Self::Cut { at } => write!(f, "the list was cut after {at} bytes"),
            Self::TooLarge { limit } => {
                write!(f, "an item of the list is longer than the limit of {limit} bytes")
            }
            Self::NotAList { kind } => write!(f, "the answer is a {kind} where a list was asked for"),
        }
    }
}

impl Error for ListError {}

impl Classify for ListError {
    fn class(&self) -> FailureClass {
        match self {
            Self::Malformed { .. } | Self::Cut { .. } => FailureClass::Transient,
            Self::TooLarge { .. } | Self::NotAList { .. } => FailureClass::Fatal,
        }
    }
}
