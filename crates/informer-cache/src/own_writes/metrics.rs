//! How long reads wait for own writes, for whoever collects it.

use std::time::Duration;

use crate::{CacheError, CacheErrorKind};

/// Is told how long each read of a [`ReadYourWrites`](crate::ReadYourWrites) took to show what was written before it: controller-runtime's
/// `controller_runtime_client_consistency_wait_duration_seconds`.
pub trait WaitMetrics: Send + Sync {
    /// A read has waited. The time is until it could be answered, the kind's first list included. A read whose future was dropped is not told.
    fn waited(&self, operation: ReadOperation, result: WaitResult, took: Duration);
}

/// What was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReadOperation {
    /// One object.
    Get,
    /// Those that options want.
    List,
}

impl ReadOperation {
    /// All there are.
    pub const ALL: [Self; 2] = [Self::Get, Self::List];

    /// As a label.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
        }
    }
}

/// How a wait ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WaitResult {
    /// The read was answered.
    Success,
    /// A write, or the first list, did not arrive in time.
    Timeout,
    /// The read failed.
    Error,
}

impl WaitResult {
    /// All there are.
    pub const ALL: [Self; 3] = [Self::Success, Self::Timeout, Self::Error];

    /// As a label.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Timeout => "timeout",
            Self::Error => "error",
        }
    }

    pub(super) fn of<R>(result: &Result<R, CacheError>) -> Self {
        match result.as_ref().map_err(CacheError::kind) {
            Ok(_) => Self::Success,
            Err(CacheErrorKind::Overdue | CacheErrorKind::NotSynced) => Self::Timeout,
            // The state was there; it cannot be decoded.
            Err(CacheErrorKind::Unreadable) => Self::Success,
            Err(_) => Self::Error,
        }
    }
}
