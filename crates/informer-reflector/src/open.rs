//! What is open at the source, and what comes of it.

use informer_core::{Feed, ListRequest, Listed, ListerWatcher, WatchRequest, Watched};

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

pub(crate) enum Request {
    List(ListRequest),
    Watch(WatchRequest),
}

impl<L: ListerWatcher> Open<L> {
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
}

/// Asks for a page of a list.
pub(crate) async fn open_list<L: ListerWatcher>(source: &L, request: ListRequest) -> Event<L> {
    match source.list(request).await {
        Ok(list) => Event::ListOpened(list),
        Err(error) => Event::Failed(error),
    }
}

/// Asks for a watch.
pub(crate) async fn open_watch<L: ListerWatcher>(source: &L, request: WatchRequest) -> Event<L> {
    match source.watch(request).await {
        Ok(watch) => Event::WatchOpened(watch),
        Err(error) => Event::Failed(error),
    }
}

/// What a list brings next.
pub(crate) async fn listed<L: ListerWatcher>(list: &mut L::List) -> Event<L> {
    match list.next().await {
        Some(Ok(listed)) => Event::Listed(listed),
        Some(Err(error)) => Event::Failed(error),
        None => Event::Ended,
    }
}

/// What a watch brings next.
pub(crate) async fn watched<L: ListerWatcher>(watch: &mut L::Watch) -> Event<L> {
    match watch.next().await {
        Some(Ok(watched)) => Event::Watched(watched),
        Some(Err(error)) => Event::Failed(error),
        None => Event::Ended,
    }
}
