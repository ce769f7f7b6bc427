//! What is known of one connection while it lives, beside what hyper says.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use super::{frames::Said, liveness::Liveness, now};
use crate::metrics::Life;

/// More streams are not opened on one connection, whatever the server allows: so many of them, all stalled by slow readers, still leave
/// room in the window of the connection (see `open`). It is also the number that Go and hyper assume when the server says nothing.
pub(crate) const MAX_STREAMS: u32 = 100;

/// Shared by the task of a connection, the pool and the bodies that stream over it.
#[derive(Debug)]
pub(crate) struct Signals {
    n_read: AtomicU64,
    max_streams: AtomicU32,
    has_settings: AtomicBool,
    is_closing: AtomicBool,
    has_ended: AtomicBool,
    was_cut: AtomicBool,
    error: Mutex<Option<Arc<hyper::Error>>>,
    liveness: Mutex<Liveness>,
    /// How long an answer may be due in silence; `None` for ever.
    patience: Option<Duration>,
    /// For the one who opens the connection: settings came, or the end.
    news: Notify,
}

impl Signals {
    pub(crate) fn new(patience: Option<Duration>) -> Arc<Self> {
        Arc::new(Self {
            n_read: AtomicU64::new(0),
            max_streams: AtomicU32::new(MAX_STREAMS),
            has_settings: AtomicBool::new(false),
            is_closing: AtomicBool::new(false),
            has_ended: AtomicBool::new(false),
            was_cut: AtomicBool::new(false),
            error: Mutex::new(None),
            liveness: Mutex::new(Liveness::new(now())),
            patience,
            news: Notify::new(),
        })
    }

    pub(crate) fn add_read(&self, n: usize) {
        self.n_read.fetch_add(n as u64, Ordering::Relaxed);
        if n > 0 {
            self.liveness().heard(now());
        }
    }

    fn liveness(&self) -> MutexGuard<'_, Liveness> {
        self.liveness.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request goes out, and its answer is due until this is told that it came, or is dropped.
    pub(crate) fn due(self: &Arc<Self>) -> Due {
        let asked = now();
        self.liveness().asked(asked);
        Due {
            signals: Some(Arc::clone(self)),
            asked,
        }
    }

    /// Whether an answer is late and nothing came at all: whoever has a choice asks elsewhere.
    pub(crate) fn is_silent(&self, now: Instant) -> bool {
        self.patience
            .is_some_and(|patience| self.liveness().is_silent(now, patience))
    }

    pub(crate) fn last_heard(&self) -> Instant {
        self.liveness().last_heard()
    }

    /// Waits until nothing has come for as long as patience lasts, from this moment on.
    pub(crate) async fn silence(&self) {
        let Some(patience) = self.patience else {
            return std::future::pending().await;
        };
        let since = now();
        loop {
            let end = since.max(self.last_heard()) + patience;
            if now() >= end {
                return;
            }
            tokio::time::sleep_until(end.into()).await;
        }
    }

    pub(crate) fn heard(&self, said: Said) {
        match said {
            Said::Settings { max_streams } => {
                if let Some(max_streams) = max_streams {
                    self.max_streams
                        .store(max_streams.min(MAX_STREAMS), Ordering::Relaxed);
                }
                self.has_settings.store(true, Ordering::Release);
                self.news.notify_one();
            }
            Said::GoAway => self.is_closing.store(true, Ordering::Release),
        }
    }

    /// How many bytes came from the server so far.
    pub(crate) fn n_read(&self) -> u64 {
        self.n_read.load(Ordering::Relaxed)
    }

    pub(crate) fn max_streams(&self) -> usize {
        self.max_streams.load(Ordering::Relaxed) as usize
    }

    /// Whether no new request may go this way: the server said so, or the connection has ended.
    pub(crate) fn is_closing(&self) -> bool {
        self.is_closing.load(Ordering::Acquire) || self.has_ended.load(Ordering::Acquire)
    }

    /// Whether the task was dropped before the connection was at its end, so that what looks like the end of a body is none.
    pub(crate) fn was_cut(&self) -> bool {
        self.was_cut.load(Ordering::Acquire)
    }

    /// Why the connection ended, if it failed.
    pub(crate) fn error(&self) -> Option<Arc<hyper::Error>> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for the first settings; `false` when the connection ends before.
    pub(crate) async fn settings(&self) -> bool {
        loop {
            if self.has_settings.load(Ordering::Acquire) {
                return true;
            }
            if self.has_ended.load(Ordering::Acquire) {
                return false;
            }
            // A permit is kept, so that news between the looks and here is not lost.
            self.news.notified().await;
        }
    }
}

/// An answer that is due.
#[derive(Debug)]
pub(crate) struct Due {
    signals: Option<Arc<Signals>>,
    asked: Instant,
}

impl Due {
    /// It came.
    pub(crate) fn came(mut self) {
        if let Some(signals) = self.signals.take() {
            signals.liveness().answered();
        }
    }
}

impl Drop for Due {
    fn drop(&mut self) {
        if let Some(signals) = self.signals.take() {
            signals.liveness().given_up(self.asked);
        }
    }
}

/// The task of a connection: drives it, and notes how it ended.
#[derive(Debug)]
pub(crate) struct Driven<C> {
    connection: Pin<Box<C>>,
    signals: Arc<Signals>,
    _life: Life,
}

impl<C> Driven<C> {
    pub(crate) fn new(connection: C, signals: Arc<Signals>, life: Life) -> Self {
        Self {
            connection: Box::pin(connection),
            signals,
            _life: life,
        }
    }
}

impl<C: Future<Output = hyper::Result<()>>> Future for Driven<C> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let result = ready!(self.connection.as_mut().poll(cx));
        if let Err(error) = result {
            tracing::debug!(%error, cause = std::error::Error::source(&error), "Connection failed");
            *self.signals.error.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(error));
        }
        self.signals.has_ended.store(true, Ordering::Release);
        self.signals.news.notify_one();
        Poll::Ready(())
    }
}

/// Runs before the connection itself is dropped, and so before bodies notice.
impl<C> Drop for Driven<C> {
    fn drop(&mut self) {
        if !self.signals.has_ended.swap(true, Ordering::AcqRel) {
            self.signals.was_cut.store(true, Ordering::Release);
            self.signals.news.notify_one();
        }
    }
}
