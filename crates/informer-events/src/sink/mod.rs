//! `EventSink`: where events are written to.

mod api;
mod memory;

use std::{error::Error, fmt, future::Future, sync::Arc, time::Duration};

use informer_core::BoxFuture;

pub use self::{api::ApiSink, memory::MemorySink};
use crate::Event;

/// Where events are written to: an API server ([`ApiSink`]), a test ([`MemorySink`]), a log.
///
/// The driver may have several writes under way at once, but never two of one event.
pub trait EventSink: Send + Sync {
    /// Creates an event.
    ///
    /// # Errors
    /// The error says whether another try makes sense.
    ///
    /// # Cancel safety
    /// Dropping it abandons the request, which may have been served.
    fn create(&self, event: &Event) -> impl Future<Output = Result<(), SinkError>> + Send;

    /// Writes the series of an event that was created before.
    ///
    /// # Errors
    /// [`Refusal::Gone`] when it is not there, and has to be created anew; otherwise as [`create`](Self::create).
    ///
    /// # Cancel safety
    /// As [`create`](Self::create).
    fn patch(&self, event: &Event) -> impl Future<Output = Result<(), SinkError>> + Send;
}

/// Why a write came to nothing, as far as it matters for the next try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// There is no such event, or no such namespace.
    Gone,
    /// There is an event of that name.
    Exists,
    /// It would be refused each time.
    Rejected,
    /// It may work later; not before this, if that is said.
    Unavailable {
        /// How long to wait at least.
        retry_after: Option<Duration>,
    },
}

/// A write failed.
///
/// Prints as what the sink said.
#[derive(Debug)]
pub struct SinkError {
    refusal: Refusal,
    cause: Box<dyn Error + Send + Sync>,
}

impl SinkError {
    /// An error, and what it means.
    pub fn new(refusal: Refusal, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            refusal,
            cause: cause.into(),
        }
    }

    /// What it means for the next try.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        self.refusal
    }
}

impl fmt::Display for SinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl Error for SinkError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.source()
    }
}

impl<S: EventSink + ?Sized> EventSink for Arc<S> {
    fn create(&self, event: &Event) -> impl Future<Output = Result<(), SinkError>> + Send {
        (**self).create(event)
    }

    fn patch(&self, event: &Event) -> impl Future<Output = Result<(), SinkError>> + Send {
        (**self).patch(event)
    }
}

trait DynSink: Send + Sync {
    fn dyn_create<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Result<(), SinkError>>;
    fn dyn_patch<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Result<(), SinkError>>;
}

impl<S: EventSink> DynSink for S {
    fn dyn_create<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Result<(), SinkError>> {
        Box::pin(self.create(event))
    }

    fn dyn_patch<'a>(&'a self, event: &'a Event) -> BoxFuture<'a, Result<(), SinkError>> {
        Box::pin(self.patch(event))
    }
}

/// Any sink behind one type.
#[derive(Clone)]
pub struct BoxEventSink(Arc<dyn DynSink>);

impl BoxEventSink {
    /// Boxes a sink.
    pub fn new(sink: impl EventSink + 'static) -> Self {
        Self(Arc::new(sink))
    }
}

impl fmt::Debug for BoxEventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxEventSink").finish_non_exhaustive()
    }
}

impl EventSink for BoxEventSink {
    async fn create(&self, event: &Event) -> Result<(), SinkError> {
        self.0.dyn_create(event).await
    }

    async fn patch(&self, event: &Event) -> Result<(), SinkError> {
        self.0.dyn_patch(event).await
    }
}
