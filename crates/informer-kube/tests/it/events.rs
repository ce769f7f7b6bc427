//! An informer as a kube watcher and as a kube store.

use std::{collections::BTreeSet, convert::Infallible, future::poll_fn, sync::Arc, time::Duration};

use futures_util::{FutureExt as _, StreamExt as _};
use informer_client::Selectors;
use informer_controller::ForObject;
use informer_core::{Cause, Delta, DeltaSink as _, Entry, ObjectKey, Stamp};
use informer_kube::{KubeClientExt as _, KubeInformerExt as _, Shared, key_of, object_ref};
use informer_sharedinformer::{HandlerOptions, SharedInformer, Sink};
use informer_testkit::Verb;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Resource as _, ResourceExt as _,
    runtime::{
        Controller, WatchStreamExt as _,
        controller::Action,
        reflector::{self, ObjectRef},
        watcher::Event,
    },
};
use tokio::sync::mpsc;

use crate::support::{Gadget, client, define_gadgets, gadgets, serve, soon, until};

fn map(name: &str, version: u32, uid: &str) -> Entry<ObjectKey, ConfigMap> {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(name.to_owned());
    map.metadata.namespace = Some("default".to_owned());
    map.metadata.resource_version = Some(version.to_string());
    map.metadata.uid = Some(uid.to_owned());
    let stamp = Stamp::new(&*version.to_string(), uid);
    Entry::new(ObjectKey::namespaced("default", name), stamp, Arc::new(map))
}

fn replace(items: Vec<Entry<ObjectKey, ConfigMap>>, at: u32) -> Delta<ObjectKey, ConfigMap> {
    Delta::Replace {
        items,
        unreadable: Vec::new(),
        at: (&*at.to_string()).into(),
        may_rewind: false,
    }
}

type Deltas = mpsc::UnboundedSender<Delta<ObjectKey, ConfigMap>>;

/// An informer that is told what to hold.
fn told() -> (Deltas, SharedInformer<ObjectKey, ConfigMap>) {
    let (deltas, mut said) = mpsc::unbounded_channel();
    let source = move |mut sink: Sink<ObjectKey, ConfigMap>| async move {
        while let Some(delta) = said.recv().await {
            if poll_fn(|cx| sink.poll_ready(cx)).await.is_err() {
                return;
            }
            sink.push(delta);
        }
    };
    (deltas, SharedInformer::fed_by(source).build().unwrap())
}

fn word(event: &Event<Shared<ConfigMap>>) -> String {
    let of = |map: &Shared<ConfigMap>| format!("{}@{}", map.name_any(), map.resource_version().unwrap());
    match event {
        Event::Init => "init".to_owned(),
        Event::InitDone => "done".to_owned(),
        Event::InitApply(map) => format!("init {}", of(map)),
        Event::Apply(map) => format!("apply {}", of(map)),
        Event::Delete(map) => format!("delete {}", of(map)),
    }
}

macro_rules! expect {
    ($events:expr, $($wanted:expr),+) => {
        for wanted in [$($wanted),+] {
            let event = soon(wanted, $events.next()).await.expect("it goes on").expect("it never fails");
            assert_eq!(word(&event), wanted);
        }
    };
}

#[tokio::test]
async fn changes_are_the_events_of_a_watcher() {
    let (deltas, informer) = told();
    let mut early = informer.kube_events(HandlerOptions::default()).unwrap();
    let running = informer.spawn().unwrap();
    expect!(early, "init");
    assert!(early.next().now_or_never().is_none(), "nothing is known yet");
    deltas
        .send(replace(vec![map("b", 2, "b"), map("a", 1, "a")], 2))
        .unwrap();
    expect!(early, "init b@2", "init a@1", "done");
    deltas
        .send(Delta::Upsert(map("a", 3, "a"), Cause::Modified))
        .unwrap();
    deltas
        .send(Delta::Upsert(map("c", 4, "c"), Cause::Added))
        .unwrap();
    expect!(early, "apply a@3", "apply c@4");
    // A relist tells what it changed: `b` vanished unseen, `c` is another one.
    deltas
        .send(replace(vec![map("a", 3, "a"), map("c", 9, "other")], 9))
        .unwrap();
    expect!(early, "delete b@2", "delete c@4", "apply c@9");
    assert!(early.next().now_or_never().is_none());

    // One who comes late is told the state as it is.
    let mut late = informer.kube_events(HandlerOptions::default()).unwrap();
    expect!(late, "init", "init a@3", "init c@9", "done");
    deltas
        .send(Delta::Upsert(map("a", 10, "a"), Cause::Modified))
        .unwrap();
    expect!(late, "apply a@10");
    expect!(early, "apply a@10");

    running.stop().await;
    assert!(soon("the end", early.next()).await.is_none());
    assert!(soon("the end", late.next()).await.is_none());
}

#[tokio::test]
async fn an_empty_cluster_is_done_at_once() {
    let (deltas, informer) = told();
    let mut events = informer.kube_events(HandlerOptions::default()).unwrap();
    let running = informer.spawn().unwrap();
    deltas.send(replace(Vec::new(), 1)).unwrap();
    expect!(events, "init", "done");
    deltas
        .send(Delta::Upsert(map("a", 2, "a"), Cause::Added))
        .unwrap();
    expect!(events, "apply a@2");
    running.stop().await;
    let stopped = informer.kube_events(HandlerOptions::default());
    assert!(stopped.is_err());
}

#[tokio::test]
async fn one_who_reads_slowly_is_told_in_order() {
    let (deltas, informer) = told();
    let mut events = informer.kube_events(HandlerOptions::default()).unwrap();
    let running = informer.spawn().unwrap();
    deltas.send(replace(vec![map("a", 1, "a")], 1)).unwrap();
    deltas
        .send(Delta::Upsert(map("b", 2, "b"), Cause::Added))
        .unwrap();
    until("both", || informer.store().len() == 2).await;
    // The later change is there before the first was asked for.
    expect!(events, "init", "init a@1", "done", "apply b@2");
    running.stop().await;
}

#[tokio::test]
async fn a_kube_store_follows_and_shares_the_objects() {
    let (deltas, informer) = told();
    let mirror = informer.kube_store(()).unwrap();
    let store = mirror.store();
    let following = tokio::task::LocalSet::new();
    following
        .run_until(async {
            let mirror = tokio::task::spawn_local(mirror);
            let running = informer.spawn().unwrap();
            assert!(store.is_empty());
            assert!(store.wait_until_ready().now_or_never().is_none());
            deltas
                .send(replace(
                    (0..300).map(|n| map(&format!("m{n}"), n + 1, "")).collect(),
                    300,
                ))
                .unwrap();
            soon("the store", store.wait_until_ready()).await.unwrap();
            assert_eq!(store.len(), 300);
            let key = ObjectKey::namespaced("default", "m7");
            let reference: ObjectRef<Shared<ConfigMap>> = object_ref(&key, ());
            assert_eq!(key_of(&reference), key);
            let theirs = store.get(&reference).unwrap();
            let ours = informer.lister().get(&key).unwrap();
            assert!(Arc::ptr_eq(theirs.as_arc(), &ours), "one object, held twice");
            deltas
                .send(Delta::Delete {
                    key: key.clone(),
                    stamp: Stamp::new("301", ""),
                    last: None,
                    observed: true,
                })
                .unwrap();
            until_local(|| store.get(&reference).is_none()).await;
            running.stop().await;
            soon("the end of the mirror", mirror).await.unwrap();
        })
        .await;
}

async fn until_local(holds: impl FnMut() -> bool) {
    until("the change in the kube store", holds).await;
}

#[test]
fn writing_to_a_shared_object_copies_it() {
    let ours = map("a", 1, "a").object;
    let mut theirs = Shared::from(ours.clone());
    theirs.meta_mut().generation = Some(7);
    assert_eq!(
        (ours.metadata.generation, theirs.metadata.generation),
        (None, Some(7))
    );
    assert_eq!(theirs.name_any(), "a");
    let json = serde_json::to_value(&theirs).unwrap();
    assert_eq!(json["metadata"]["generation"], 7);
    assert_eq!(serde_json::from_value::<Shared<ConfigMap>>(json).unwrap(), theirs);
}

/// Two controllers of kube, one of ours and a kube store: one LIST, one watch.
#[tokio::test]
async fn controllers_of_both_share_an_informer() {
    let server = serve().await;
    define_gadgets(&server, &[1, 2, 3]).await;
    let source = client(&server).kube::<Gadget>().source(Selectors::all());
    let informer = SharedInformer::builder(source).name("gadgets").build().unwrap();
    let (told, mut heard) = mpsc::unbounded_channel();

    let kube_controller = |name: &'static str| {
        let (store, writer) = reflector::store();
        let events = informer.kube_events(HandlerOptions::named(name)).unwrap();
        let (told, lister) = (told.clone(), informer.lister());
        Controller::for_stream(events.reflect(writer).applied_objects(), store)
            .run(
                move |gadget: Arc<Shared<Gadget>>, _| {
                    // What it reads beside: the informer's store, by the reference it has.
                    let seen = lister.get(&key_of(&ObjectRef::from_obj(&*gadget)));
                    let size = seen.map(|it| it.spec.size);
                    let _ = told.send((name, gadget.name_any(), size));
                    async { Ok::<_, Infallible>(Action::await_change()) }
                },
                |_, error, _| match *error {},
                Arc::new(()),
            )
            .for_each(|_| std::future::ready(()))
    };
    let (first, second) = (kube_controller("first"), kube_controller("second"));
    let (our_told, lister) = (told.clone(), informer.lister());
    let ours = informer_controller::Controller::builder("ours")
        .watches(&informer, ForObject)
        .reconcile(move |key: ObjectKey, _| {
            let size = lister.get(&key).map(|it| it.spec.size);
            let _ = our_told.send(("ours", key.name().to_owned(), size));
            async { Ok::<_, Infallible>(informer_controller::Action::Done) }
        })
        .build()
        .unwrap();
    let reconciling = ours.spawn().unwrap();
    let watching = informer.spawn().unwrap();
    let test = async {
        let mut seen = BTreeSet::new();
        while seen.len() < 9 {
            seen.insert(soon("the reconcile", heard.recv()).await.unwrap());
        }
        let mut gadget = server
            .with(|api| api.get(&gadgets(), Some("default"), "g2"))
            .unwrap();
        gadget["spec"]["size"] = 20.into();
        server.with(|api| api.put(&gadgets(), gadget)).unwrap();
        let mut seen = BTreeSet::new();
        while seen.len() < 3 {
            let (who, name, size) = soon("the reconcile", heard.recv()).await.unwrap();
            if size == Some(20) {
                assert_eq!(name, "g2");
                seen.insert(who);
            }
        }
    };
    tokio::select! {
        () = first => panic!("a controller ended"),
        () = second => panic!("a controller ended"),
        () = test => {}
    }
    let (n_lists, n_watches) = server.with(|api| {
        let count = |verb| api.request_log().of(verb, "gadgets").count();
        (count(Verb::List) + count(Verb::StreamingList), count(Verb::Watch))
    });
    assert!(
        n_lists == 1 && n_watches <= 1,
        "{n_lists} lists, {n_watches} watches"
    );
    reconciling.stop().await.unwrap();
    watching.stop().await;
    tokio::time::timeout(Duration::from_secs(60), server.shutdown())
        .await
        .unwrap();
}

/// What a controller of kube owns comes from an informer too. What vanished unseen wakes its owner, where a watcher would say nothing.
#[tokio::test]
async fn what_it_owns_comes_from_an_informer_too() {
    let server = serve().await;
    define_gadgets(&server, &[1]).await;
    let source = client(&server).kube::<Gadget>().source(Selectors::all());
    let informer = SharedInformer::builder(source).build().unwrap();
    let (deltas, owned) = told();
    let (store, writer) = reflector::store();
    let events = informer.kube_events(HandlerOptions::default()).unwrap();
    let owned_events = owned.kube_events(HandlerOptions::default()).unwrap();
    let (said, mut heard) = mpsc::unbounded_channel();
    let controller = Controller::for_stream(events.reflect(writer).applied_objects(), store)
        .owns_stream(owned_events.touched_objects())
        .run(
            move |gadget: Arc<Shared<Gadget>>, _| {
                let _ = said.send(gadget.name_any());
                async { Ok::<_, Infallible>(Action::await_change()) }
            },
            |_, error, _| match *error {},
            Arc::new(()),
        )
        .for_each(|_| std::future::ready(()));
    let (one, two) = (informer.spawn().unwrap(), owned.spawn().unwrap());
    let test = async {
        assert_eq!(soon("the reconcile", heard.recv()).await.as_deref(), Some("g1"));
        let gadget = informer
            .lister()
            .get(&ObjectKey::namespaced("default", "g1"))
            .unwrap();
        let mut entry = map("owned", 2, "o");
        let object = Arc::make_mut(&mut entry.object);
        object.metadata.owner_references = gadget.controller_owner_ref(&()).map(|it| vec![it]);
        deltas.send(replace(vec![entry], 2)).unwrap();
        assert_eq!(soon("the reconcile", heard.recv()).await.as_deref(), Some("g1"));
        deltas.send(replace(Vec::new(), 3)).unwrap();
        assert_eq!(soon("the reconcile", heard.recv()).await.as_deref(), Some("g1"));
    };
    tokio::select! {
        () = controller => panic!("the controller ended"),
        () = test => {}
    }
    one.stop().await;
    two.stop().await;
    server.shutdown().await;
}
