//! Where an informer's deltas come from: a reflector, or anything else that fills a queue.

use std::{
    fmt,
    future::Future,
    sync::Arc,
    task::{Context, Poll},
};

use informer_core::{BoxClock, BoxFuture, Closed, Delta, DeltaQueue, DeltaSink, Handle, Key, Stamp, Store};

use crate::{error::Trouble, metrics::Meter, retry::LastWord, status::SourceStatus};

/// Fills an informer's queue. A reflector does ([`SharedInformer::builder`](crate::SharedInformer::builder)); so may a recording, another
/// cache, or a test ([`SharedInformer::fed_by`](crate::SharedInformer::fed_by)).
///
/// It must push one [`Delta::Replace`] first: with it the informer is in sync. For every closure from a [`Sink`] to a future.
pub trait Source<Q, K>: Send + 'static {
    /// Joins it to the queue. Called once, when the informer is built; nothing may run before the future is polled.
    fn connect(self, sink: Sink<Q, K>, context: SourceContext) -> Connected;
}

/// What an informer gives its source besides the queue.
#[derive(Clone)]
#[non_exhaustive]
pub struct SourceContext {
    /// The informer's name.
    pub name: Arc<str>,
    /// The informer's clock.
    pub clock: BoxClock,
    /// Who counts for its reflector.
    pub metrics: Option<Arc<dyn informer_reflector::Metrics>>,
    report: Arc<dyn Fn(Trouble) + Send + Sync>,
}

impl SourceContext {
    pub(crate) fn new(name: Arc<str>, clock: BoxClock, report: Arc<dyn Fn(Trouble) + Send + Sync>) -> Self {
        Self {
            name,
            clock,
            metrics: None,
            report,
        }
    }

    /// Tells the informer's error hook.
    pub fn report(&self, trouble: Trouble) {
        (self.report)(trouble);
    }
}

impl fmt::Debug for SourceContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceContext")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

/// A source that is joined to a queue.
pub struct Connected {
    pub(crate) run: BoxFuture<'static, ()>,
    pub(crate) status: Arc<dyn Fn() -> SourceStatus + Send + Sync>,
    pub(crate) relist: Arc<dyn Fn() + Send + Sync>,
}

impl Connected {
    /// A source that `run` runs: it ends when the sink is closed or the source has nothing more; dropping it stops it at once.
    pub fn new(run: impl Future<Output = ()> + Send + 'static) -> Self {
        Self {
            run: Box::pin(run),
            status: Arc::new(SourceStatus::default),
            relist: Arc::new(|| {}),
        }
    }

    /// The same, where `status` says how it is, at any time.
    #[must_use]
    pub fn with_status(mut self, status: impl Fn() -> SourceStatus + Send + Sync + 'static) -> Self {
        self.status = Arc::new(status);
        self
    }

    /// The same, where `relist` has it push a [`Delta::Replace`] soon: the informer asks for it when the store goes on refusing what the
    /// source brought.
    #[must_use]
    pub fn with_relist(mut self, relist: impl Fn() + Send + Sync + 'static) -> Self {
        self.relist = Arc::new(relist);
        self
    }
}

impl fmt::Debug for Connected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connected")
            .field("status", &(self.status)())
            .finish_non_exhaustive()
    }
}

impl<Q: Key, K: Send + Sync + 'static, F, R> Source<Q, K> for F
where
    F: FnOnce(Sink<Q, K>) -> R + Send + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    fn connect(self, sink: Sink<Q, K>, _: SourceContext) -> Connected {
        Connected::new(async move { self(sink).await })
    }
}

/// An informer's queue, as its source sees it.
pub struct Sink<Q, K> {
    queue: Handle<Box<dyn DeltaQueue<Q, K>>, Q, K>,
    store: Arc<dyn Store<Q, K>>,
    last_word: LastWord<Q>,
    meter: Option<Meter>,
}

impl<Q, K> Sink<Q, K> {
    pub(crate) fn new(
        queue: Handle<Box<dyn DeltaQueue<Q, K>>, Q, K>,
        store: Arc<dyn Store<Q, K>>,
        last_word: LastWord<Q>,
        meter: Option<Meter>,
    ) -> Self {
        Self {
            queue,
            store,
            last_word,
            meter,
        }
    }
}

impl<Q, K> Clone for Sink<Q, K> {
    fn clone(&self) -> Self {
        Self::new(
            self.queue.clone(),
            self.store.clone(),
            self.last_word.clone(),
            self.meter.clone(),
        )
    }
}

impl<Q, K> fmt::Debug for Sink<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink")
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}

impl<Q: Key, K> DeltaSink<Q, K> for Sink<Q, K> {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        self.queue.poll_ready(cx)
    }

    fn push(&mut self, delta: Delta<Q, K>) {
        self.last_word.hear(&delta);
        self.queue.push(delta);
        if let Some(meter) = &self.meter {
            meter.queued(self.queue.len());
        }
    }

    fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.queue.poll_closed(cx)
    }

    /// The stored object, so that a relist of unchanged objects costs no memory.
    fn known(&self, key: &Q, stamp: &Stamp) -> Option<Arc<K>> {
        let snapshot = self.store.snapshot();
        let entry = snapshot.get(key)?;
        (entry.stamp == *stamp && !stamp.version.is_none()).then(|| entry.object.clone())
    }
}
