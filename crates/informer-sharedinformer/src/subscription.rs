//! An informer's changes as a stream.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::Stream;
use informer_core::{Change, Key};

use crate::{
    driver::mailbox::{Mailbox, Serving},
    registration::Registration,
    shared::Shared,
};

/// An informer's changes, to be asked for: as a stream or with [`next`](Self::next). Ends when the informer stops or the subscription is
/// removed. Dropping it removes it.
///
/// A change counts as handled, and the subscription thereby as synced, when the next one is asked for.
///
/// # Cancel safety
/// Dropping the future of `next` loses no change.
pub struct Subscription<Q: Key, K: Send + Sync + 'static> {
    shared: Arc<Shared<Q, K>>,
    serving: Serving<Q, K>,
    in_hand: bool,
}

impl<Q: Key, K: Send + Sync + 'static> Subscription<Q, K> {
    pub(crate) fn new(shared: Arc<Shared<Q, K>>, mailbox: Arc<Mailbox<Q, K>>) -> Self {
        Self {
            shared,
            serving: Serving(mailbox),
            in_hand: false,
        }
    }

    /// The next change; `None` after the end.
    pub async fn next(&mut self) -> Option<Change<Q, K>> {
        poll_fn(|cx| self.poll_change(cx)).await
    }

    /// The next change, if it is there.
    pub fn poll_change(&mut self, cx: &mut Context<'_>) -> Poll<Option<Change<Q, K>>> {
        if std::mem::take(&mut self.in_hand) {
            self.serving.0.returned(false);
        }
        let polled = self.serving.0.poll_take(cx.waker());
        self.in_hand = matches!(polled, Poll::Ready(Some(_)));
        polled
    }

    /// Its registration: sync, backlog, removal.
    #[must_use]
    pub fn registration(&self) -> Registration {
        Registration::new(self.shared.clone(), self.serving.0.clone())
    }
}

impl<Q: Key, K: Send + Sync + 'static> Stream for Subscription<Q, K> {
    type Item = Change<Q, K>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Change<Q, K>>> {
        self.get_mut().poll_change(cx)
    }
}

impl<Q: Key, K: Send + Sync + 'static> Drop for Subscription<Q, K> {
    fn drop(&mut self) {
        if self.in_hand {
            self.serving.0.returned(false);
        }
        self.shared.remove(&self.serving.0);
    }
}

impl<Q: Key, K: Send + Sync + 'static> fmt::Debug for Subscription<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("name", &self.serving.0.name)
            .field("progress", &self.serving.0.progress())
            .finish()
    }
}
