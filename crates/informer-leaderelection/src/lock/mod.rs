//! `Lock`: where the record is kept.

use std::{error::Error, fmt, sync::Arc};

use informer_core::{BoxFuture, ResourceVersion};

use crate::{Failure, Observed, Record};

mod lease;
mod memory;

pub use lease::{Lease, LeaseLock, LeaseSpec};
pub use memory::{MemoryLock, Mishap};

/// One record that all candidates see, with optimistic concurrency: a lease, or whatever else can do this (client-go
/// `resourcelock.Interface`).
///
/// # Contract
/// 1. `update` changes the record only if its version is still `at`, and `create` only if there is none; otherwise they fail as a
///    [conflict](LockError::conflict). Of several at once, one gets through.
/// 2. Each write that goes through gives another version, and each read sees every write that had gone through when it began.
/// 3. Records come back as they were written.
///
/// # Cancel safety
/// Dropping a future abandons the request. A write that was abandoned may still take effect.
pub trait Lock: Send + Sync {
    /// Reads the record; `None` when there is no lock. An object without record is one with an empty record.
    fn get(&self) -> impl Future<Output = Result<Option<Observed>, LockError>> + Send;

    /// Creates the lock. Returns it as it was left.
    fn create(&self, record: Record) -> impl Future<Output = Result<Observed, LockError>> + Send;

    /// Replaces the record at this version. Returns it as it was left.
    fn update(
        &self,
        record: Record,
        at: ResourceVersion,
    ) -> impl Future<Output = Result<Observed, LockError>> + Send;

    /// What it is, for logs: `namespace/name`.
    fn describe(&self) -> String {
        "lock".to_owned()
    }
}

/// A request to a lock failed.
#[derive(Debug)]
pub struct LockError {
    failure: Failure,
    cause: Box<dyn Error + Send + Sync>,
}

impl LockError {
    /// Somebody else wrote first.
    #[must_use]
    pub fn conflict(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            failure: Failure::Conflict,
            cause: cause.into(),
        }
    }

    /// Anything else.
    #[must_use]
    pub fn other(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            failure: Failure::Other,
            cause: cause.into(),
        }
    }

    /// Which of the two.
    #[must_use]
    pub fn failure(&self) -> Failure {
        self.failure
    }
}

impl fmt::Display for LockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl Error for LockError {
    /// The cause of what this error prints as.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.source()
    }
}

impl<L: Lock + ?Sized> Lock for Arc<L> {
    fn get(&self) -> impl Future<Output = Result<Option<Observed>, LockError>> + Send {
        (**self).get()
    }

    fn create(&self, record: Record) -> impl Future<Output = Result<Observed, LockError>> + Send {
        (**self).create(record)
    }

    fn update(
        &self,
        record: Record,
        at: ResourceVersion,
    ) -> impl Future<Output = Result<Observed, LockError>> + Send {
        (**self).update(record, at)
    }

    fn describe(&self) -> String {
        (**self).describe()
    }
}

trait DynLock: Send + Sync {
    fn dyn_get(&self) -> BoxFuture<'_, Result<Option<Observed>, LockError>>;
    fn dyn_create(&self, record: Record) -> BoxFuture<'_, Result<Observed, LockError>>;
    fn dyn_update(&self, record: Record, at: ResourceVersion) -> BoxFuture<'_, Result<Observed, LockError>>;
    fn dyn_describe(&self) -> String;
}

impl<L: Lock> DynLock for L {
    fn dyn_get(&self) -> BoxFuture<'_, Result<Option<Observed>, LockError>> {
        Box::pin(self.get())
    }

    fn dyn_create(&self, record: Record) -> BoxFuture<'_, Result<Observed, LockError>> {
        Box::pin(self.create(record))
    }

    fn dyn_update(&self, record: Record, at: ResourceVersion) -> BoxFuture<'_, Result<Observed, LockError>> {
        Box::pin(self.update(record, at))
    }

    fn dyn_describe(&self) -> String {
        self.describe()
    }
}

/// Any lock behind one type. Clones share it.
#[derive(Clone)]
pub struct BoxLock(Arc<dyn DynLock>);

impl BoxLock {
    /// Boxes a lock.
    #[must_use]
    pub fn new(lock: impl Lock + 'static) -> Self {
        Self(Arc::new(lock))
    }
}

impl fmt::Debug for BoxLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BoxLock").field(&self.0.dyn_describe()).finish()
    }
}

impl Lock for BoxLock {
    fn get(&self) -> impl Future<Output = Result<Option<Observed>, LockError>> + Send {
        self.0.dyn_get()
    }

    fn create(&self, record: Record) -> impl Future<Output = Result<Observed, LockError>> + Send {
        self.0.dyn_create(record)
    }

    fn update(
        &self,
        record: Record,
        at: ResourceVersion,
    ) -> impl Future<Output = Result<Observed, LockError>> + Send {
        self.0.dyn_update(record, at)
    }

    fn describe(&self) -> String {
        self.0.dyn_describe()
    }
}
