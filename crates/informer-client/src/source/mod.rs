//! `ApiSource`: an `Api` as a reflector's source.

mod frames;
mod list;
mod watch;

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{Request, Response};
use informer_core::{ListRequest, ListerWatcher, WatchRequest};
use informer_transport::{
    Asked, Codec, DEFAULT_FRAME_LIMIT, ListSplitter, Query, RepeatedBySender, RequestBuilder, Selectors,
    Transport, WatchDecoder, Wire,
};

use crate::{Api, Error, body::Chunks};

pub(crate) use frames::Frames;
pub use list::ListFeed;
pub use watch::WatchFeed;

/// Changes the query of a list, of each of its further pages, and of a watch.
type Tweak = Arc<dyn Fn(&mut Query) + Send + Sync>;

/// Lists and watches the objects of an [`Api`] that selectors match.
///
/// Bodies are read item by item as they arrive: no list is ever held as a whole, neither as bytes nor as objects.
pub struct ApiSource<T, K, C> {
    api: Api<T, K, C>,
    selectors: Selectors,
    tweak: Option<Tweak>,
    frame_limit: usize,
    is_repeated: bool,
}

impl<T, K, C> Clone for ApiSource<T, K, C> {
    fn clone(&self) -> Self {
        Self {
            api: self.api.clone(),
            selectors: self.selectors.clone(),
            tweak: self.tweak.clone(),
            frame_limit: self.frame_limit,
            is_repeated: self.is_repeated,
        }
    }
}

impl<T, K, C> fmt::Debug for ApiSource<T, K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiSource")
            .field("api", &self.api)
            .field("selectors", &self.selectors)
            .finish_non_exhaustive()
    }
}

impl<T: Transport, K, C: Codec<K>> ApiSource<T, K, C> {
    pub(crate) fn new(api: Api<T, K, C>, selectors: Selectors) -> Self {
        Self {
            api,
            selectors,
            tweak: None,
            frame_limit: DEFAULT_FRAME_LIMIT,
            is_repeated: true,
        }
    }

    /// The same for somebody who does not ask again what failed, so that a transport may.
    pub(crate) fn unrepeated(mut self) -> Self {
        self.is_repeated = false;
        self
    }

    /// Who reflects from a source repeats its requests, with a back-off and a status of its own.
    fn marked(&self, mut request: Request<Bytes>) -> Request<Bytes> {
        if self.is_repeated {
            request.extensions_mut().insert(RepeatedBySender);
        }
        request
    }

    /// The same, with a last word on the query of every list, page and watch (client-go `WithTweakListOptions`).
    #[must_use]
    pub fn tweak(mut self, tweak: impl Fn(&mut Query) + Send + Sync + 'static) -> Self {
        self.tweak = Some(Arc::new(tweak));
        self
    }

    /// The same, with another limit on the bytes of one object than 64 MiB.
    #[must_use]
    pub fn frame_limit(mut self, limit: usize) -> Self {
        self.frame_limit = limit;
        self
    }

    /// What it lists and watches.
    #[must_use]
    pub fn api(&self) -> &Api<T, K, C> {
        &self.api
    }

    /// Which of them.
    #[must_use]
    pub fn selectors(&self) -> &Selectors {
        &self.selectors
    }

    /// The limit on the bytes of one object.
    pub(crate) fn limit(&self) -> usize {
        self.frame_limit
    }

    fn tweaked(&self, mut query: Query) -> Query {
        if let Some(tweak) = &self.tweak {
            tweak(&mut query);
        }
        query
    }

    pub(crate) async fn open_list(
        &self,
        requests: &RequestBuilder,
        query: Query,
    ) -> Result<Response<T::Body>, Error> {
        let request = self.marked(requests.list(&self.tweaked(query))?);
        self.api.client().send(request, Asked::List).await
    }

    pub(crate) async fn open_watch(
        &self,
        requests: &RequestBuilder,
        query: Query,
        asked: Asked,
    ) -> Result<Frames<T::Body>, Error> {
        let request = self.marked(requests.watch(&self.tweaked(query))?);
        let response = self.api.client().send(request, asked).await?;
        let mut decoder = WatchDecoder::new(asked)
            .wire(Wire::of(response.headers()))
            .with_limit(self.frame_limit)
            .expect(self.api.resource());
        if let Some((api_version, kind)) = self.api.codec().envelope() {
            decoder = decoder.expect_types(api_version, kind);
        }
        Ok(Frames::new(Chunks::new(response.into_body()), decoder))
    }
}

impl<T, K, C> ListerWatcher for ApiSource<T, K, C>
where
    T: Transport,
    K: Send + Sync + 'static,
    C: Codec<K>,
{
    type Object = K;
    type Error = Error;
    type List = ListFeed<T::Body, K, C>;
    type Watch = WatchFeed<T::Body, K, C>;

    async fn list(&self, request: ListRequest) -> Result<Self::List, Error> {
        let query = Query::of_list(&self.selectors, &request);
        let response = self.open_list(&self.api.requests(), query).await?;
        let wire = Wire::of(response.headers());
        Ok(ListFeed::new(
            Chunks::new(response.into_body()),
            ListSplitter::of(wire).with_limit(self.frame_limit),
            self.api.codec().clone(),
        ))
    }

    async fn watch(&self, request: WatchRequest) -> Result<Self::Watch, Error> {
        let query = Query::of_watch(&self.selectors, &request);
        let asked = asked(&request);
        let frames = self.open_watch(&self.api.requests(), query, asked).await?;
        Ok(WatchFeed::new(frames, self.api.codec().clone()))
    }
}

/// How a failure of this watch is to be understood.
pub(crate) fn asked(request: &WatchRequest) -> Asked {
    if request.initial_events {
        Asked::StreamingList
    } else {
        Asked::Watch
    }
}
