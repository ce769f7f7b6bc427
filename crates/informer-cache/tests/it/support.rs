//! A model of an API server whose watches can be held back, and objects to put there.

use std::{
    collections::BTreeSet,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use informer_cache::{Cache, CacheBuilder, CachedClient};
use informer_client::{Kinds, LiveClient};
use informer_core::{Clock, ObjectKey, Resource, TokioClock};
use informer_reflector::{Options as ReflectorOptions, Start};
use informer_testkit::{FakeApi, FakeTransport, Options, SharedApi, Verb};
use informer_transport::Transport;
use serde_json::{Value, json};

pub(crate) type Inner = FakeTransport<TokioClock>;

/// Holds back what watches send, by the beginning of their path.
#[derive(Default)]
pub(crate) struct Gate(Mutex<Held>);

#[derive(Default)]
struct Held {
    paths: BTreeSet<String>,
    wakers: Vec<Waker>,
}

impl Gate {
    pub(crate) fn hold(&self, path: &str) {
        self.0.lock().unwrap().paths.insert(path.to_owned());
    }

    pub(crate) fn release(&self) {
        let mut held = self.0.lock().unwrap();
        held.paths.clear();
        held.wakers.drain(..).for_each(Waker::wake);
    }

    fn is_held(&self, path: &str, cx: &Context<'_>) -> bool {
        let mut held = self.0.lock().unwrap();
        let is_held = held.paths.iter().any(|it| path.starts_with(it));
        if is_held {
            held.wakers.push(cx.waker().clone());
        }
        is_held
    }
}

pub(crate) struct Gated {
    inner: Inner,
    gate: Arc<Gate>,
}

pub(crate) struct GatedBody {
    inner: Pin<Box<<Inner as Transport>::Body>>,
    /// Of a watch.
    path: Option<String>,
    gate: Arc<Gate>,
}

impl Transport for Gated {
    type Body = GatedBody;
    type Error = <Inner as Transport>::Error;

    async fn send(&self, request: Request<Bytes>) -> Result<Response<GatedBody>, Self::Error> {
        let is_watch = request
            .uri()
            .query()
            .is_some_and(|query| query.contains("watch=true"));
        let path = is_watch.then(|| request.uri().path().to_owned());
        let response = self.inner.send(request).await?;
        Ok(response.map(|body| GatedBody {
            inner: Box::pin(body),
            path,
            gate: self.gate.clone(),
        }))
    }
}

impl Body for GatedBody {
    type Data = Bytes;
    type Error = <<Inner as Transport>::Body as Body>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.path.as_ref().is_some_and(|path| self.gate.is_held(path, cx)) {
            return Poll::Pending;
        }
        self.inner.as_mut().poll_frame(cx)
    }
}

pub(crate) struct World {
    pub(crate) api: SharedApi<TokioClock>,
    pub(crate) gate: Arc<Gate>,
    pub(crate) live: LiveClient,
}

impl World {
    pub(crate) fn new() -> Self {
        let mut options = Options::default();
        // No bookmark helps out, unless a test asks for it.
        options.bookmark_every = Duration::from_secs(100_000);
        Self::with(options)
    }

    pub(crate) fn with(options: Options) -> Self {
        let api = SharedApi::new(FakeApi::with_builtins_and(options), TokioClock);
        let gate = Arc::new(Gate::default());
        let transport = Gated {
            inner: FakeTransport::new(api.clone()),
            gate: gate.clone(),
        };
        let live = LiveClient::new(transport, Kinds::kubernetes());
        let world = Self { api, gate, live };
        for name in ["fast", "slow"] {
            world.put(&namespaces(), json!({"metadata": {"name": name}}));
        }
        world
    }

    /// Of a cache that streams its lists: the gate holds streams.
    pub(crate) fn builder(&self) -> CacheBuilder {
        let mut options = ReflectorOptions::default();
        options.start = Start::StreamingList;
        Cache::builder(self.live.clone()).reflector_options(options)
    }

    /// A client of a cache that is started.
    pub(crate) fn client(&self, builder: CacheBuilder) -> CachedClient {
        let cache = builder.build().unwrap();
        cache.start();
        CachedClient::new(cache)
    }

    pub(crate) fn put(&self, resource: &Resource, object: Value) -> Value {
        self.api.with(|api| api.put(resource, object)).unwrap()
    }

    pub(crate) fn config(&self, namespace: &str, name: &str, labels: Value) {
        let metadata = json!({"namespace": namespace, "name": name, "labels": labels});
        self.put(&configs(), json!({"metadata": metadata, "data": {"key": "old"}}));
    }

    /// How often a kind was listed and watched: streaming lists are both.
    pub(crate) fn n_watches(&self, plural: &str) -> usize {
        self.api.with(|api| {
            let log = api.request_log();
            log.of(Verb::Watch, plural).count() + log.of(Verb::StreamingList, plural).count()
        })
    }
}

pub(crate) fn configs() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

pub(crate) fn pods() -> Resource {
    Resource::namespaced("", "v1", "pods", "Pod")
}

pub(crate) fn namespaces() -> Resource {
    Resource::cluster("", "v1", "namespaces", "Namespace")
}

pub(crate) fn key(name: &str) -> ObjectKey {
    ObjectKey::namespaced("default", name)
}

pub(crate) fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

pub(crate) async fn sleep(time: Duration) {
    TokioClock.sleep_until(TokioClock.now() + time).await;
}

/// Whether a future is not done within a second of virtual time; it can be awaited further.
pub(crate) async fn waits<F: Future + Unpin>(future: &mut F) -> bool {
    tokio::time::timeout(secs(1), future).await.is_err()
}
