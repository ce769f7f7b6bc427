//! `RepeatedBySender`: who repeats a request that failed.

/// Among the extensions of a request: its sender repeats it by itself, with pauses of its own, and wants to know of each failure at once.
/// A transport that retries leaves such a request alone, so that one pause does not hide behind another and a status shows what is wrong
/// while it is wrong. The lists and watches of a reflector are such requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepeatedBySender;
