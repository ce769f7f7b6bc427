//! Options of handlers.

use std::{sync::Arc, time::Duration};

use crate::backlog::BacklogPolicy;

/// How often a handler is told the cached state again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Resync {
    /// As often as the informer says ([`Builder::resync`](crate::Builder::resync)); never if it says nothing.
    #[default]
    Inherit,
    /// Never.
    Never,
    /// About this often. At least a second; and no oftener than the informer checks, which a handler that is added before the start can
    /// still shorten and a later one cannot. An informer without a resync period of its own never resyncs anybody (as in client-go).
    Every(Duration),
}

/// What a handler is added with.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct HandlerOptions {
    /// Its name in status, logs and reports; by default its place in the order of registrations.
    pub name: Option<Arc<str>>,
    /// How often it is told the cached state again.
    pub resync: Resync,
    /// What happens when it is slow.
    pub backlog: BacklogPolicy,
}

impl HandlerOptions {
    /// The default with a name.
    #[must_use]
    pub fn named(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: Some(name.into()),
            ..Self::default()
        }
    }

    /// The same with this resync.
    #[must_use]
    pub fn resync(mut self, resync: Resync) -> Self {
        self.resync = resync;
        self
    }

    /// The same with this backlog policy.
    #[must_use]
    pub fn backlog(mut self, policy: BacklogPolicy) -> Self {
        self.backlog = policy;
        self
    }
}
