//! The numbers of an informer, for whoever collects them.

mod registry;

use std::{fmt, sync::Arc, time::Duration};

use informer_core::{BoxClock, Clock, ResourceVersion};

pub(crate) use self::registry::Claim;
pub use self::registry::{InformerId, MetricsProvider, MetricsRegistry};

/// Is told what happens in an informer's queue, store and listeners: client-go's `informer_*` metrics, and what it lacks. `()` ignores
/// them all; what the reflector does, [`informer_reflector::Metrics`] is told.
///
/// An informer without one reads no clock and calls nothing. Called under locks of the informer: count and return, and do not panic.
pub trait Metrics: Send + Sync {
    /// So many deltas now wait for the store (`informer_queued_items`).
    fn queued(&self, _deltas: usize) {}

    /// So many deltas were applied to the store and given to the listeners in this time (`informer_processing_latency_seconds`).
    fn processed(&self, _deltas: usize, _took: Duration) {}

    /// The store holds so many objects, and follows the source up to this version (`informer_store_resource_version`, which shows
    /// [`gauge_of`] it).
    fn stored(&self, _objects: usize, _applied: &ResourceVersion) {}

    /// The store refuses the latest state of so many objects.
    fn refused(&self, _objects: usize) {}

    /// So many changes now wait for a handler, and so many were merged into others since its beginning.
    fn backlog(&self, _handler: &str, _waiting: usize, _merged: u64) {}

    /// A call of a handler ended, after so long.
    fn called(&self, _handler: &str, _took: Duration, _panicked: bool) {}

    /// A handler is gone for good: its series may be dropped.
    fn gone(&self, _handler: &str) {}

    /// The informer has stopped: its series may be dropped. Handlers whose call still runs may be told of after it.
    fn stopped(&self) {}
}

impl Metrics for () {}

impl<M: Metrics + ?Sized> Metrics for Arc<M> {
    fn queued(&self, deltas: usize) {
        (**self).queued(deltas);
    }

    fn processed(&self, deltas: usize, took: Duration) {
        (**self).processed(deltas, took);
    }

    fn stored(&self, objects: usize, applied: &ResourceVersion) {
        (**self).stored(objects, applied);
    }

    fn refused(&self, objects: usize) {
        (**self).refused(objects);
    }

    fn backlog(&self, handler: &str, waiting: usize, merged: u64) {
        (**self).backlog(handler, waiting, merged);
    }

    fn called(&self, handler: &str, took: Duration, panicked: bool) {
        (**self).called(handler, took, panicked);
    }

    fn gone(&self, handler: &str) {
        (**self).gone(handler);
    }

    fn stopped(&self) {
        (**self).stopped();
    }
}

/// A version as the value of a gauge: its last 15 decimal digits, which a 64-bit float holds exactly (client-go `thread_safe_store.go`).
/// `None` for a version that is no number.
///
/// ```
/// use informer_sharedinformer::metrics::gauge_of;
///
/// assert_eq!(gauge_of(&"7".into()), Some(7));
/// assert_eq!(gauge_of(&"1234567890123456789".into()), Some(567_890_123_456_789));
/// assert_eq!(gauge_of(&"a7".into()), None);
/// ```
#[must_use]
pub fn gauge_of(version: &ResourceVersion) -> Option<u64> {
    let text = version.as_str();
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text[text.len().saturating_sub(15)..].parse().ok()
}

/// Who is told, and the time: held by the parts of an informer that is measured.
#[derive(Clone)]
pub(crate) struct Meter(Arc<(Box<dyn Metrics>, BoxClock)>);

impl Meter {
    pub(crate) fn new(metrics: Box<dyn Metrics>, clock: BoxClock) -> Self {
        Self(Arc::new((metrics, clock)))
    }

    pub(crate) fn now(&self) -> std::time::Instant {
        self.0.1.now()
    }
}

impl std::ops::Deref for Meter {
    type Target = dyn Metrics;

    fn deref(&self) -> &Self::Target {
        &*self.0.0
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter").finish_non_exhaustive()
    }
}
