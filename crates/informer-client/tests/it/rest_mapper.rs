//! Kinds that no registry has: found at the server, seldom asked.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use informer_client::{
    Client, DynamicObject, Kinds, LiveClient, Outcome, RestMapper, WriteClient, WriteClientExt, WriteOptions,
    create_or_update,
};
use informer_core::{Classify, Clock, FailureClass, Resource, TokioClock};
use informer_testkit::{FakeApi, FakeTransport, ResourceDef, SharedApi};
use informer_transport::Transport;

use crate::scripted::{Scripted, ok, run, status};

type Inner = FakeTransport<TokioClock>;

/// Counts discoveries: each asks for `/apis` once. Each request takes a second, so that others come meanwhile.
struct Counting {
    inner: Inner,
    n: Arc<AtomicUsize>,
}

impl Transport for Counting {
    type Body = <Inner as Transport>::Body;
    type Error = <Inner as Transport>::Error;

    async fn send(&self, request: Request<Bytes>) -> Result<Response<Self::Body>, Self::Error> {
        if request.uri().path() == "/apis" {
            self.n.fetch_add(1, Relaxed);
            wait(1).await;
        }
        self.inner.send(request).await
    }
}

struct World {
    api: SharedApi<TokioClock>,
    n: Arc<AtomicUsize>,
    live: LiveClient,
}

fn world() -> World {
    let api = SharedApi::new(FakeApi::with_builtins(), TokioClock);
    let n = Arc::<AtomicUsize>::default();
    let inner = FakeTransport::new(api.clone());
    let client = Client::new(Counting { inner, n: n.clone() });
    let mapper = RestMapper::new(&client).clock(TokioClock);
    let live = LiveClient::of(&client, Kinds::kubernetes()).with_mapper(mapper);
    World { api, n, live }
}

impl World {
    fn define(&self, plural: &str, kind: &str) {
        let resource = Resource::namespaced("example.org", "v1", plural, kind);
        self.api.with(|api| api.register(ResourceDef::new(resource)));
    }

    fn n(&self) -> usize {
        self.n.load(Relaxed)
    }
}

async fn wait(seconds: u64) {
    TokioClock
        .sleep_until(TokioClock.now() + Duration::from_secs(seconds))
        .await;
}

fn object(kind: &str, name: &str) -> DynamicObject {
    let mut object = DynamicObject::new("example.org/v1", kind, name);
    object.set("/metadata/namespace", "default");
    object
}

fn options() -> WriteOptions {
    WriteOptions::default()
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_comes_after_the_start_is_found() {
    let world = world();
    world.define("gadgets", "Gadget");
    let made = world
        .live
        .create(&object("Gadget", "a"), &options())
        .await
        .unwrap();
    assert!(!made.uid().is_empty());
    assert_eq!(world.n(), 1);
    // What is kept does not know it.
    world.define("widgets", "Widget");
    world
        .live
        .create(&object("Widget", "a"), &options())
        .await
        .unwrap();
    assert_eq!(world.n(), 2);
    let again = create_or_update(&world.live, object("Widget", "a"), |_| Ok(()), &options()).await;
    assert_eq!(again.unwrap().0, Outcome::Unchanged);
    world
        .live
        .create(&object("Gadget", "b"), &options())
        .await
        .unwrap();
    assert_eq!(world.n(), 2, "both are known now");
    // Registered kinds ask nobody.
    world.live.resolve("apps/v1", "Deployment").await.unwrap();
    assert_eq!(world.n(), 2);
}

#[tokio::test(start_paused = true)]
async fn those_who_miss_at_the_same_time_share_one_discovery() {
    let world = world();
    world.define("gadgets", "Gadget");
    let three = |kind: &'static str| {
        let live = world.live.clone();
        async move {
            let (a, b, c) = tokio::join!(
                live.resolve("example.org/v1", kind),
                live.resolve("example.org/v1", kind),
                live.resolve("example.org/v1", kind),
            );
            [a, b, c].map(|it| it.map(|it| it.plural.to_string()))
        }
    };
    for found in three("Gadget").await {
        assert_eq!(found.unwrap(), "gadgets");
    }
    assert_eq!(world.n(), 1);
    for found in three("Nothing").await {
        found.unwrap_err();
    }
    assert_eq!(world.n(), 2);
    // One that is dropped while it asks leaves the question to the next.
    wait(10).await;
    world.define("widgets", "Widget");
    let asking = world.live.resolve("example.org/v1", "Widget");
    assert!(
        tokio::time::timeout(Duration::from_millis(500), asking)
            .await
            .is_err()
    );
    for found in three("Widget").await {
        assert_eq!(found.unwrap(), "widgets");
    }
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_nobody_has_is_asked_for_seldom() {
    let world = world();
    let ask = || world.live.resolve("example.org/v1", "Gadget");
    let error = ask().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the server has no resource \"Gadget of example.org/v1\""
    );
    assert_eq!(error.class(), FailureClass::NotFound);
    assert!(!error.is_not_found(), "no object is absent");
    ask().await.unwrap_err();
    assert_eq!(world.n(), 2, "the first discovery was for nobody's miss");
    for _ in 0..100 {
        ask().await.unwrap_err();
    }
    assert_eq!(world.n(), 2);
    world.define("gadgets", "Gadget");
    ask().await.unwrap_err();
    wait(5).await;
    ask().await.unwrap();
    assert_eq!(world.n(), 3);
}

#[tokio::test(start_paused = true)]
async fn wrappers_pass_it_on() {
    let world = world();
    world.define("gadgets", "Gadget");
    let wrapped = informer_client::FieldOwner::new(Arc::new(world.live.clone()), "me");
    let wrapped = informer_client::Namespaced::new(wrapped, "default");
    let client: &dyn WriteClient = &wrapped;
    assert_eq!(
        &*client.resolve("example.org/v1", "Gadget").await.unwrap().plural,
        "gadgets"
    );
}

#[test]
fn a_server_that_cannot_be_asked_does_not_make_an_object_absent() {
    let (_, client) = Scripted::new([status(503, "")]);
    let live = LiveClient::of(&client, Kinds::new());
    let error = run(live.resolve("example.org/v1", "Gadget")).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("example.org/v1 Gadget is not registered, and the server"),
        "{error}"
    );
    assert!(!error.is_not_found() && error.class() == FailureClass::Transient);
    // An object that does not say what it is, is no question.
    let (log, client) = Scripted::new([ok("{}")]);
    let live = LiveClient::of(&client, Kinds::new());
    run(live.resolve("", "Gadget")).unwrap_err();
    assert!(log.requests().is_empty());
}

#[expect(
    clippy::manual_async_fn,
    reason = "only this form says that the future can be sent"
)]
fn _assert_send(live: &LiveClient) -> impl Future<Output = ()> + Send + '_ {
    async move {
        let _found = live.resolve("v1", "Pod").await;
    }
}
