//! JSON as bytes: where values begin and end, without decoding them.

mod head;
mod scan;

pub(crate) use head::{Head, Member};
pub(crate) use scan::{Malformed, Scan, ValueScan, is_space, text};
