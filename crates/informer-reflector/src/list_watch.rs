//! A source of two closures.

use std::{error::Error, fmt, future::Future, sync::Arc};

use informer_core::{
    BoxFeed, BoxFuture, Classify, Feed, ListRequest, Listed, ListerWatcher, SourceError, WatchRequest,
    Watched,
};

type Opener<R, E> = Arc<dyn Fn(R) -> BoxFuture<'static, Result<BoxFeed<E>, SourceError>> + Send + Sync>;

/// A [`ListerWatcher`] of two closures, one that opens lists and one that opens watches (client-go `ListWatch`).
///
/// Each returns a future of a [`Feed`]; [`feed`](crate::feed) has some. Every error that knows its class will do; [`SourceError`] does.
pub struct ListWatch<K> {
    list: Opener<ListRequest, Listed<K>>,
    watch: Opener<WatchRequest, Watched<K>>,
    pages: bool,
}

impl<K: Send + Sync + 'static> ListWatch<K> {
    /// A source that lists with `list` and watches with `watch`.
    pub fn new<L, LFuture, LFeed, LError, W, WFuture, WFeed, WError>(list: L, watch: W) -> Self
    where
        L: Fn(ListRequest) -> LFuture + Send + Sync + 'static,
        LFuture: Future<Output = Result<LFeed, LError>> + Send + 'static,
        LFeed: Feed<Event = Listed<K>> + 'static,
        LFeed::Error: Error + Classify + Send + Sync + 'static,
        LError: Error + Classify + Send + Sync + 'static,
        W: Fn(WatchRequest) -> WFuture + Send + Sync + 'static,
        WFuture: Future<Output = Result<WFeed, WError>> + Send + 'static,
        WFeed: Feed<Event = Watched<K>> + 'static,
        WFeed::Error: Error + Classify + Send + Sync + 'static,
        WError: Error + Classify + Send + Sync + 'static,
    {
        Self {
            list: opener(list),
            watch: opener(watch),
            pages: true,
        }
    }

    /// Whether lists are asked for in pages, as they are unless this says `false`: then no request that reaches the closure has a limit,
    /// whatever the reflector would ask for (client-go `ListWatch.DisableChunking`). A token that a list comes with is followed all the same.
    #[must_use]
    pub fn paging(mut self, pages: bool) -> Self {
        self.pages = pages;
        self
    }
}

fn opener<R, F, Fut, Fd, X>(open: F) -> Opener<R, Fd::Event>
where
    F: Fn(R) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Fd, X>> + Send + 'static,
    Fd: Feed + 'static,
    Fd::Error: Error + Classify + Send + Sync + 'static,
    X: Error + Classify + Send + Sync + 'static,
{
    Arc::new(move |request| {
        let opening = open(request);
        Box::pin(async move {
            opening
                .await
                .map(BoxFeed::new)
                .map_err(SourceError::from_classified)
        })
    })
}

impl<K> Clone for ListWatch<K> {
    fn clone(&self) -> Self {
        Self {
            list: self.list.clone(),
            watch: self.watch.clone(),
            pages: self.pages,
        }
    }
}

impl<K> fmt::Debug for ListWatch<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListWatch")
            .field("pages", &self.pages)
            .finish_non_exhaustive()
    }
}

impl<K: Send + Sync + 'static> ListerWatcher for ListWatch<K> {
    type Object = K;
    type Error = SourceError;
    type List = BoxFeed<Listed<K>>;
    type Watch = BoxFeed<Watched<K>>;

    fn list(&self, mut request: ListRequest) -> impl Future<Output = Result<Self::List, SourceError>> + Send {
        if !self.pages {
            request.limit = None;
        }
        (self.list)(request)
    }

    fn watch(&self, request: WatchRequest) -> impl Future<Output = Result<Self::Watch, SourceError>> + Send {
        (self.watch)(request)
    }
}
