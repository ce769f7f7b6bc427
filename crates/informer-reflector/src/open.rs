//! What is open at the source, and what comes of it.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

use informer_core::{Feed, ListRequest, Listed, ListerWatcher, WatchRequest, Watched};

use crate::{
    Request,
    ingest::{Panicked, guarded},
};

/// What is open at the source.
pub(crate) enum Open<L: ListerWatcher> {
    Nothing,
    /// To be asked for.
    Wanted(Request),
    /// Asked for.
    Opening,
    List(L::List),
    Watch(L::Watch),
}

impl<L: ListerWatcher> Open<L> {
    /// Bytes of the body that is open, as far as it was read and where the source counts them.
    pub(crate) fn bytes_read(&self) -> Option<u64> {
        match self {
            Self::List(list) => list.bytes_read(),
            Self::Watch(watch) => watch.bytes_read(),
            Self::Nothing | Self::Wanted(_) | Self::Opening => None,
        }
    }

    /// What is to be asked for, once.
    pub(crate) fn take_request(&mut self) -> Option<Request> {
        match std::mem::replace(self, Self::Opening) {
            Self::Wanted(request) => Some(request),
            other => {
                *self = other;
                None
            }
        }
    }
}

/// What came of it.
pub(crate) enum Event<L: ListerWatcher> {
    ListOpened(L::List),
    WatchOpened(L::Watch),
    Listed(Listed<L::Object>),
    Watched(Watched<L::Object>),
    Ended,
    Failed(L::Error),
    /// The source panicked. What was open is not asked again.
    Panicked(Panicked),
}

/// Asks for a page of a list.
pub(crate) async fn open_list<L: ListerWatcher>(source: &L, request: ListRequest) -> Event<L> {
    match caught(async { source.list(request).await }).await {
        Ok(Ok(list)) => Event::ListOpened(list),
        Ok(Err(error)) => Event::Failed(error),
        Err(panic) => Event::Panicked(panic),
    }
}

/// Asks for a watch.
pub(crate) async fn open_watch<L: ListerWatcher>(source: &L, request: WatchRequest) -> Event<L> {
    match caught(async { source.watch(request).await }).await {
        Ok(Ok(watch)) => Event::WatchOpened(watch),
        Ok(Err(error)) => Event::Failed(error),
        Err(panic) => Event::Panicked(panic),
    }
}

/// What a list brings next.
pub(crate) async fn listed<L: ListerWatcher>(list: &mut L::List) -> Event<L> {
    match caught(async { list.next().await }).await {
        Ok(Some(Ok(listed))) => Event::Listed(listed),
        Ok(Some(Err(error))) => Event::Failed(error),
        Ok(None) => Event::Ended,
        Err(panic) => Event::Panicked(panic),
    }
}

/// What a watch brings next.
pub(crate) async fn watched<L: ListerWatcher>(watch: &mut L::Watch) -> Event<L> {
    match caught(async { watch.next().await }).await {
        Ok(Some(Ok(watched))) => Event::Watched(watched),
        Ok(Some(Err(error))) => Event::Failed(error),
        Ok(None) => Event::Ended,
        Err(panic) => Event::Panicked(panic),
    }
}

/// Waits for work of the source. Its panic ends that work, and nothing else.
async fn caught<T>(work: impl Future<Output = T>) -> Result<T, Panicked> {
    let mut work = pin!(work);
    poll_fn(|cx| match guarded(|| work.as_mut().poll(cx)) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => Poll::Ready(Err(panic.named("source"))),
    })
    .await
}
