//! The fence: a leader that is no more writes nothing into what its successors have taken up.

use std::{sync::Arc, time::Duration};

use informer_client::{
    DeleteOptions, DynamicObject, Error, Intercepted, Interceptor, Kinds, LiveClient, Patch, ReadClient as _,
    Selectors, Write, WriteClient, WriteClientExt as _, WriteOptions, WriteVerb, Written,
};
use informer_core::{BoxFuture, ObjectKey, Resource};
use informer_leaderelection::{Elector, Fence, Fenced, LeaseLock, NoTerm, Options, Term};
use informer_testkit::ManualClock;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::rig::{LEASE, NAMESPACE, World, options, rest, secs, spawn};

const TERM: &str = "example.com/term";

fn pages() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

fn key() -> ObjectKey {
    ObjectKey::namespaced(NAMESPACE, "page")
}

fn page(text: &str) -> DynamicObject {
    let value = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"namespace": NAMESPACE, "name": "page"}, "data": {"text": text},
    });
    DynamicObject::from_value(value).unwrap()
}

fn live(world: &World) -> LiveClient {
    let kinds = Kinds::new();
    kinds.register_dynamic(pages()).unwrap();
    LiveClient::of(&world.client(), kinds)
}

fn stored(world: &World) -> Option<Value> {
    world
        .api
        .with(|api| api.get(&pages(), Some(NAMESPACE), "page").ok())
}

async fn read(client: &LiveClient) -> DynamicObject {
    let found = client.read::<DynamicObject>(&pages(), &key()).await.unwrap();
    DynamicObject::clone(&found.expect("it is there").object)
}

fn write(verb: WriteVerb) -> Write {
    Write::to(pages(), &key(), verb, WriteOptions::default())
}

/// Holds writes that have passed the fence.
#[derive(Debug, Clone)]
struct Held(Arc<Semaphore>);

impl Interceptor for Held {
    fn write<'a>(&'a self, write: Write, next: &'a dyn WriteClient) -> BoxFuture<'a, Result<Written, Error>> {
        Box::pin(async move {
            let _open = self.0.acquire().await.unwrap();
            next.write(write).await
        })
    }
}

#[test]
fn terms_are_compared_by_version_and_told_by_text() {
    let term = |text: &str| text.parse::<Term>().unwrap();
    assert_eq!(term("3@1207").to_string(), "3@1207");
    // The lease was deleted while nobody looked: transitions start over, versions do not.
    assert!(term("0@5000").is_after(&term("3@1207")) && !term("3@1207").is_after(&term("0@5000")));
    // The same holder came back.
    assert!(term("3@1300").is_after(&term("3@1207")));
    assert!(!term("3@1207").is_after(&term("3@1207")));
    // Versions that have no order.
    assert!(term("4@x").is_after(&term("3@y")) && !term("3@y").is_after(&term("4@x")));
    for text in ["", "3", "3@", "@7", "-1@7", "a page"] {
        assert_eq!(text.parse::<Term>(), Err(NoTerm), "{text:?}");
    }
}

#[test]
fn other_lease_durations_keep_the_recommended_proportions() {
    let usual = Options::new("a");
    assert_eq!(usual.clone().with_lease_duration(secs(15)), usual);
    let short = Options::new("a").with_lease_duration(Duration::from_millis(1_500));
    assert_eq!(short.validate(), Ok(()));
    assert_eq!(short.renew_deadline, secs(1));
}

#[tokio::test(start_paused = true)]
async fn who_does_not_lead_writes_nothing() {
    let world = World::new();
    let a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    let b = world.run(options("b"));
    let fenced = Fence::new(b.leadership.clone(), TERM).around(live(&world));
    let error = fenced.create(&page("b"), &Default::default()).await.unwrap_err();
    assert_eq!(error.to_string(), "this process does not lead");
    assert!(stored(&world).is_none());
}

#[tokio::test(start_paused = true)]
async fn what_a_leader_writes_says_its_term() {
    let world = World::new();
    let a = world.run(options("a"));
    let term = a.leadership.elected().await.unwrap().to_string();
    let fence = Fence::new(a.leadership.clone(), TERM);
    let fenced = fence.around(live(&world));
    fenced.create(&page("one"), &Default::default()).await.unwrap();
    assert_eq!(stored(&world).unwrap()["metadata"]["annotations"][TERM], term);

    // Somebody takes it off, or scribbles on it: that fences nobody off, and the next write sets it right.
    for scribble in [json!(null), json!({TERM: "soon"})] {
        let mut object = read(fenced.client()).await;
        object.set("/metadata/annotations", scribble);
        fenced
            .client()
            .update(&object, &Default::default())
            .await
            .unwrap();
        let mut object = read(fenced.client()).await;
        assert!(fence.stamp(&mut object).unwrap());
        assert!(!fence.stamp(&mut object).unwrap(), "it says it now");
        fenced.update(&object, &Default::default()).await.unwrap();
        assert_eq!(stored(&world).unwrap()["metadata"]["annotations"][TERM], term);
    }
    let object = read(fenced.client()).await;
    let options = fence.only_this(&object).unwrap();
    fenced.write(write(WriteVerb::Delete(options))).await.unwrap();
    assert!(stored(&world).is_none());
}

#[tokio::test(start_paused = true)]
async fn what_does_not_say_of_which_state_it_is_made_is_refused() {
    let world = World::new();
    let a = world.run(options("a"));
    let term = a.leadership.elected().await.unwrap();
    let fenced = Fence::new(a.leadership.clone(), TERM).around(live(&world));
    // Somebody else's, which nobody has claimed.
    fenced
        .client()
        .create(&page("one"), &Default::default())
        .await
        .unwrap();
    let unclaimed = read(fenced.client()).await.into_value();
    let version = unclaimed["metadata"]["resourceVersion"].clone();
    let marked = json!({"metadata": {"annotations": {TERM: term.to_string()}}});
    let refused = [
        write(WriteVerb::Update(page("two").into_value())),
        write(WriteVerb::Update(unclaimed)).at("status"),
        write(WriteVerb::Patch(Patch::Merge(json!({"data": null})))),
        write(WriteVerb::Patch(Patch::Merge(marked.clone()))),
        write(WriteVerb::Patch(Patch::Apply(
            json!({"metadata": {"resourceVersion": version}}),
        ))),
        write(WriteVerb::Patch(Patch::Json(json!([])))),
        write(WriteVerb::Create(json!({}))).at("eviction"),
        write(WriteVerb::Delete(DeleteOptions::default())),
        write(WriteVerb::Delete(DeleteOptions::default().only_uid("u"))),
        write(WriteVerb::DeleteAll(Selectors::all(), DeleteOptions::default())),
    ];
    let before = stored(&world);
    for write in refused {
        let error = fenced.write(write.clone()).await.unwrap_err();
        assert!(
            error.to_string().starts_with("not fenced: "),
            "{write:?}: {error}"
        );
    }
    assert_eq!(stored(&world), before);

    // With both, it passes.
    let mut patch = marked;
    patch["metadata"]["resourceVersion"] = version;
    patch["data"] = json!({"text": "three"});
    fenced
        .write(write(WriteVerb::Patch(Patch::Merge(patch))))
        .await
        .unwrap();
    assert_eq!(stored(&world).unwrap()["data"]["text"], "three");
}

/// The half by version: what had passed the fence, and reaches the server after a takeover.
#[tokio::test(start_paused = true)]
async fn a_write_that_was_under_way_at_a_takeover_is_a_conflict() {
    let world = World::new();
    let a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    let fence = Fence::new(a.leadership.clone(), TERM);
    let gate = Arc::new(Semaphore::new(0));
    let fenced: Fenced<_> = fence.around(Intercepted::new(live(&world), Held(gate.clone())));
    let fenced = Arc::new(fenced);
    fence
        .around(live(&world))
        .create(&page("one"), &Default::default())
        .await
        .unwrap();
    let mut object = read(&live(&world)).await;
    let delete = WriteVerb::Delete(fence.only_this(&object).unwrap());
    object.set("/data", json!({"text": "of a"}));
    let verbs = [
        WriteVerb::Update(object.clone().into_value()),
        WriteVerb::Patch(Patch::Merge(object.into_value())),
        delete,
    ];
    let under_way: Vec<_> = verbs
        .map(|verb| {
            let fenced = fenced.clone();
            spawn(async move { fenced.write(write(verb)).await })
        })
        .into();
    rest(secs(1)).await;

    // The next leader finds all as it should be, and claims it all the same.
    a.line(crate::rig::Line::Hole);
    let b = world.run(options("b"));
    let term = b.leadership.elected().await.unwrap();
    let next = Fence::new(b.leadership.clone(), TERM);
    let mut object = read(&live(&world)).await;
    assert!(next.stamp(&mut object).unwrap());
    next.around(live(&world))
        .update(&object, &Default::default())
        .await
        .unwrap();

    gate.add_permits(8);
    for write in under_way {
        let error = write.await.unwrap().unwrap_err();
        assert!(error.is_conflict(), "{error}");
    }
    let page = stored(&world).unwrap();
    assert_eq!(page["data"]["text"], "one");
    assert_eq!(page["metadata"]["annotations"][TERM], term.to_string());
}

/// The half by term: a leader whose clock stood still, as in a machine that was suspended, reads again what its successor wrote.
#[tokio::test(start_paused = true)]
async fn a_leader_whose_clock_stood_still_leaves_alone_what_a_later_one_wrote() {
    let world = World::new();
    let clock = ManualClock::new();
    let lock = LeaseLock::new(&world.client(), NAMESPACE, LEASE);
    let elector = Elector::new(lock, options("a")).unwrap().clock(clock);
    let asleep = elector.leadership();
    let _runs = spawn(elector.run(std::future::pending()));
    asleep.elected().await.unwrap();
    let fence = Fence::new(asleep.clone(), TERM);
    fence
        .around(live(&world))
        .create(&page("one"), &Default::default())
        .await
        .unwrap();

    let b = world.run(options("b"));
    b.leadership.elected().await.unwrap();
    let next = Fence::new(b.leadership.clone(), TERM);
    let mut object = read(&live(&world)).await;
    object.set("/data", json!({"text": "two"}));
    next.around(live(&world))
        .update(&object, &Default::default())
        .await
        .unwrap();

    assert!(asleep.is_leader(), "by its clock");
    let mut object = read(&live(&world)).await;
    for error in [
        fence.check(&object).unwrap_err(),
        fence.stamp(&mut object).unwrap_err(),
        fence.only_this(&object).unwrap_err(),
        fence
            .around(live(&world))
            .update(&object, &Default::default())
            .await
            .unwrap_err(),
    ] {
        assert!(
            error
                .to_string()
                .starts_with("fenced off: page says the later term 1@"),
            "{error}"
        );
    }
    assert_eq!(stored(&world).unwrap()["data"]["text"], "two");
}
