//! How an informer is: what a health check, a log line or a person wants to know.

use std::{fmt, sync::Arc};

use informer_core::{FailureClass, ResourceVersion};

/// Where an informer is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Phase {
    /// Not run yet.
    #[default]
    Idle,
    /// It runs, and the first list is not in the store yet.
    Syncing,
    /// The store follows the source.
    Synced,
    /// It was stopped.
    Stopped,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Idle => "idle",
            Self::Syncing => "syncing",
            Self::Synced => "synced",
            Self::Stopped => "stopped",
        })
    }
}

/// How an informer is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Status {
    /// Its name.
    pub name: Arc<str>,
    /// Where it is in its life.
    pub phase: Phase,
    /// The first list is in the store. Stays true after a stop.
    pub synced: bool,
    /// Nothing that it was told waits because it could not be applied.
    pub healthy: bool,
    /// Objects whose latest state the store refuses; they are tried again, and in the end listed again.
    pub refused: usize,
    /// The first of them in key order, [`MOST_NAMED`](Self::MOST_NAMED) at most.
    pub refusals: Vec<Refusal>,
    /// Objects in the store.
    pub objects: usize,
    /// Deltas that wait for the store.
    pub queued: usize,
    /// The version up to which the store follows the source.
    pub applied: ResourceVersion,
    /// Commits that failed in part, so far.
    pub commit_failures: u64,
    /// Why the last one did.
    pub last_commit_error: Option<Arc<str>>,
    /// Its handlers, in the order of their registration.
    pub handlers: Vec<HandlerStatus>,
    /// Its source.
    pub source: SourceStatus,
}

impl Status {
    /// So many objects that the store refuses are named.
    pub const MOST_NAMED: usize = 10;
}

/// An object whose latest state the store refuses.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// Its key.
    pub key: Box<str>,
    /// Why.
    pub why: Arc<str>,
}

/// How a handler is.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HandlerStatus {
    /// Its name.
    pub name: Arc<str>,
    /// Its last initial add has returned.
    pub synced: bool,
    /// Changes that wait for it, replay included.
    pub backlog: usize,
    /// Calls that returned or panicked.
    pub delivered: u64,
    /// Changes that it was not told since they merged with others.
    pub merged: u64,
    /// Calls that panicked.
    pub panics: u64,
    /// A call runs now.
    pub calling: bool,
}

/// How a source is, as far as it tells.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SourceStatus {
    /// What it does now, in a word or two: `listing`, `watching`, `backing off`.
    pub phase: Option<Arc<str>>,
    /// The class of its last failure, while that is not made good.
    pub class: Option<FailureClass>,
    /// Its last failure, while that is not made good.
    pub error: Option<Arc<str>>,
    /// All that a reflector tells, where the source is one.
    pub reflector: Option<informer_reflector::Status>,
}

impl fmt::Display for SourceStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.phase, &self.error) {
            (None, None) => f.write_str("the first list has not arrived"),
            (Some(phase), None) => f.write_str(phase),
            (None, Some(error)) => f.write_str(error),
            (Some(phase), Some(error)) => write!(f, "{phase}, after {error}"),
        }
    }
}
