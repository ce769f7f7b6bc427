//! kube-rs cases B15 to B21 and B23: sharing, events, deletes. B22 is the reflector's own case.

use std::{
    convert::Infallible,
    ops::ControlFlow,
    sync::{Arc, Mutex},
    time::Duration,
};

use case_tests::{Mode, PATH, Script, Stream, World, bookmark, config_map, event, list, status_error};
use informer_client::DynamicMeta;
use informer_controller::{
    Action, Controller, ForOwner, GenerationChanged, KindSource, Predicate as _, Running, map_fn,
};
use informer_core::{
    Batch, Cause, Change, Delta, Entry, ObjectKey, Resource, ResourceVersion, Snapshot, Stamp, Store as _,
    StoreWriter as _,
};
use informer_sharedinformer::{BacklogPolicy, HandlerOptions};
use informer_store::{Indexers, indexed};
use informer_testkit::{Answer, BodyHandle, Expect, ScriptedTransport};
use informer_transport::DynamicObject;
use serde_json::json;

type Told = Arc<Mutex<Vec<String>>>;

fn word(change: &Change<ObjectKey, DynamicObject>) -> String {
    let version = change.entry().stamp.version.clone();
    let name = change.key().name();
    match change {
        Change::Added { initial: true, .. } => format!("initial {name}@{version}"),
        Change::Added { .. } => format!("add {name}@{version}"),
        Change::Updated { old, .. } => format!("update {name}@{}->{version}", old.stamp.version),
        Change::Removed { .. } => format!("delete {name}@{version}"),
        Change::Resynced { .. } => format!("resync {name}@{version}"),
    }
}

fn writes(told: &Told) -> impl FnMut(&Change<ObjectKey, DynamicObject>) + Send + 'static {
    let told = told.clone();
    move |change| told.lock().unwrap().push(word(change))
}

fn all(told: &Told) -> Vec<String> {
    told.lock().unwrap().clone()
}

/// A controller of what changes here and passes, as the mapper names it; and what it reconciled.
fn reconciles(
    name: &str,
    source: KindSource<ObjectKey, DynamicObject, ObjectKey>,
) -> (Running<ObjectKey>, Told) {
    let told = Told::default();
    let reconciled = told.clone();
    let controller = Controller::builder(name)
        .skip_name_validation()
        .source(source)
        .reconcile(move |key: ObjectKey, _| {
            reconciled.lock().unwrap().push(key.to_string());
            async { Ok::<_, Infallible>(Action::Done) }
        })
        .build()
        .unwrap();
    (controller.spawn().unwrap(), told)
}

/// A list of these at version 5, and a watch whose lines the test pushes.
async fn pushed(items: &[serde_json::Value]) -> (World<DynamicObject>, BodyHandle) {
    let transport = ScriptedTransport::new();
    transport.on(Expect::list(PATH), Answer::json(&list(items, "5")));
    transport.on(Expect::watch(PATH), Answer::status(200).then_hang());
    let world = World::start_with(&transport, Mode::List, case_tests::Options::default());
    let watches = || transport.requests().iter().any(|request| request.is_watch());
    world.until("it watches", watches).await;
    let watch = transport.open_body().expect("the watch is open");
    (world, watch)
}

#[tokio::test(start_paused = true)]
async fn b15_each_handler_hears_of_the_delete() {
    for mode in Mode::ALL {
        let script = Script::new(mode);
        let lines = [
            event("ADDED", &config_map("a", "6")),
            event("DELETED", &config_map("a", "7")),
        ];
        script.state(None, &[], "5", Stream::open(&lines));
        let world = World::start(&script, mode);
        let others: Vec<Told> = (0..3).map(|_| Told::default()).collect();
        for told in &others {
            let options = HandlerOptions::default();
            world.informer.add_handler(writes(told), options).unwrap();
        }
        world.until_told(2).await;
        world.pass(Duration::from_secs(1)).await;
        for told in &others {
            assert_eq!(all(told), ["add a@6", "delete a@7"]);
        }
        world.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn b16_a_change_that_is_gone_when_it_is_read_wedges_nobody() {
    let (world, watch) = pushed(&[]).await;
    let mut stream = world.informer.subscribe(HandlerOptions::default()).unwrap();
    world.until("it is in sync", || world.informer.has_synced()).await;
    // By the time that anybody looks, the object is gone again.
    watch.push_line(event("ADDED", &config_map("a", "6")));
    watch.push_line(event("DELETED", &config_map("a", "7")));
    world.until_told(2).await;
    assert!(world.stored().is_empty());
    let mut told = vec![
        word(&stream.next().await.unwrap()),
        word(&stream.next().await.unwrap()),
    ];
    for n in 8..40 {
        watch.push_line(event("ADDED", &config_map(&format!("b{n}"), &n.to_string())));
        told.push(word(&stream.next().await.unwrap()));
    }
    assert_eq!(told[..3], ["add a@6", "delete a@7", "add b8@8"]);
    assert_eq!(told.len(), 34);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn b17_a_handler_that_never_returns_holds_up_nobody_else() {
    const CHANGES: usize = 10_000;
    let (world, watch) = pushed(&[]).await;
    let stuck = |_: Change<_, _>| std::future::pending();
    let stuck = world
        .informer
        .add_async_handler(stuck, HandlerOptions::named("stuck"))
        .unwrap();
    let told = Told::default();
    let patient = HandlerOptions::default().backlog(BacklogPolicy::Unbounded);
    world.informer.add_handler(writes(&told), patient).unwrap();
    for n in 0..CHANGES {
        let kind = if n == 0 { "ADDED" } else { "MODIFIED" };
        watch.push_line(event(kind, &config_map("a", &(n + 6).to_string())));
    }
    world
        .until("all is told", || told.lock().unwrap().len() == CHANGES)
        .await;
    assert_eq!(world.stored(), [format!("ns/a@{}", CHANGES + 5)]);
    assert!(stuck.backlog() <= 1024 + 1, "{} wait", stuck.backlog());
    assert!(stuck.n_merged() > 0, "what it is behind by is a number");
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn b18_a_late_handler_is_told_what_is_there_and_after_its_removal_nothing() {
    let items: Vec<_> = (0..100).map(|n| config_map(&format!("o{n}"), "1")).collect();
    let (world, watch) = pushed(&items).await;
    world.until_told(100).await;

    let told = Told::default();
    let late = world
        .informer
        .add_handler(writes(&told), HandlerOptions::default())
        .unwrap();
    assert!(!late.has_synced());
    watch.push_line(event("MODIFIED", &config_map("o7", "6")));
    watch.push_line(event("ADDED", &config_map("new", "7")));
    world.until_told(102).await;
    world.until("it is in sync", || late.has_synced()).await;
    world.until("it heard of all", || all(&told).len() >= 102).await;
    let heard = all(&told);
    let n_initial = heard.iter().filter(|line| line.starts_with("initial ")).count();
    assert_eq!(n_initial, 100);
    assert_eq!(heard[100..], ["update o7@1->6", "add new@7"]);

    late.remove();
    watch.push_line(event("DELETED", &config_map("new", "8")));
    world.until_told(103).await;
    world.pass(Duration::from_secs(1)).await;
    assert_eq!(all(&told).len(), 102);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn b19_what_vanished_in_a_gap_is_told_with_its_owner() {
    let mut child = config_map("child", "2");
    child["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "v1", "kind": "Owner", "name": "boss", "uid": "u", "controller": true}]);
    for mode in Mode::ALL {
        let script = Script::new(mode);
        script.state(
            None,
            &[config_map("other", "1"), child.clone()],
            "5",
            Stream::closing(&[status_error(410, "Expired")]),
        );
        script.state(Some("5"), &[config_map("other", "1")], "9", Stream::open(&[]));
        let world = World::start(&script, mode);
        let owners = Told::default();
        let seen = owners.clone();
        let of_owner = move |change: &Change<ObjectKey, DynamicObject>| {
            if let Change::Removed { last, observed } = change {
                let owner = last.object.text("/metadata/ownerReferences/0/name");
                let owner = owner.unwrap_or("nobody");
                seen.lock().unwrap().push(format!("{owner} {observed}"));
            }
        };
        world
            .informer
            .add_handler(of_owner, HandlerOptions::default())
            .unwrap();
        let owner = Resource::namespaced("", "v1", "owners", "Owner");
        let mapper = ForOwner::new::<DynamicObject>(&owner, DynamicMeta).unwrap();
        let (controller, reconciled) = reconciles("owners", KindSource::new(&world.informer, mapper));
        world.until_told(2).await;
        let n_first = all(&reconciled).len();
        assert!(n_first <= 1, "one object has an owner");
        world.until_told(3).await;
        assert_eq!(world.log()[2], "vanish ns/child@2");
        world
            .until("the owner is named", || !all(&owners).is_empty())
            .await;
        assert_eq!(
            all(&owners),
            ["boss false"],
            "the final state is unknown, the owner is not"
        );
        // Not only when it began: once more for the child that is gone.
        world
            .until("the owner is reconciled", || all(&reconciled).len() == 2)
            .await;
        assert_eq!(all(&reconciled), ["ns/boss"; 2]);
        controller.stop().await.unwrap();
        world.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn b20_a_recreated_object_of_the_same_generation_is_told_as_what_it_is() {
    let of_uid = |version: &str, uid: &str| {
        let mut object = config_map("a", version);
        object["metadata"]["generation"] = json!(1);
        object["metadata"]["uid"] = json!(uid);
        object
    };
    let (world, watch) = pushed(&[]).await;
    let passed = Told::default();
    let told = passed.clone();
    let predicate = || GenerationChanged::new::<DynamicObject>(DynamicMeta).unwrap();
    let generation = predicate();
    let passes = move |change: &Change<ObjectKey, DynamicObject>| {
        if generation.admits(change) {
            told.lock().unwrap().push(word(change));
        }
    };
    world
        .informer
        .add_handler(passes, HandlerOptions::default())
        .unwrap();
    let of_key = map_fn(|entry: &Entry<ObjectKey, DynamicObject>| Some(entry.key.clone()));
    let source = KindSource::new(&world.informer, of_key).predicate(predicate());
    let (controller, reconciled) = reconciles("lives", source);
    let lines = [
        event("ADDED", &of_uid("6", "one")),
        event("DELETED", &of_uid("7", "one")),
        event("ADDED", &of_uid("8", "two")),
    ];
    for (n, line) in (1..).zip(lines) {
        watch.push_line(line);
        world
            .until("it is reconciled", || all(&reconciled).len() == n)
            .await;
    }
    assert_eq!(
        all(&passed),
        ["add a@6", "delete a@7", "add a@8"],
        "three deliveries"
    );
    // The third time the delete is missed: one upsert, two lives.
    watch.push_line(event("MODIFIED", &of_uid("9", "three")));
    world.until_told(5).await;
    world
        .until("it is reconciled", || all(&reconciled).len() >= 4)
        .await;
    world
        .until("both ends are let through", || all(&passed).len() == 5)
        .await;
    // The same life of the same generation is what the predicate is there to drop.
    watch.push_line(event("MODIFIED", &of_uid("10", "three")));
    world.until_told(6).await;
    world.pass(Duration::from_secs(1)).await;
    assert_eq!(all(&passed)[3..], ["delete a@8", "add a@9"]);
    controller.stop().await.unwrap();
    let told = [
        "add ns/a@6",
        "delete ns/a@7",
        "add ns/a@8",
        "vanish ns/a@8",
        "add ns/a@9",
        "update ns/a@9->10",
    ];
    assert_eq!(world.log(), told);
    world.stop().await;
}

#[tokio::test(start_paused = true)]
async fn b21_an_update_has_both_states_and_an_unchanged_relist_has_none() {
    for mode in Mode::ALL {
        let script = Script::new(mode);
        let lines = [
            event("MODIFIED", &config_map("a", "6")),
            bookmark("7"),
            status_error(410, "Expired"),
        ];
        script.state(None, &[config_map("a", "1")], "5", Stream::closing(&lines));
        script.state(
            Some("7"),
            &[config_map("a", "6")],
            "9",
            Stream::open(&[bookmark("10")]),
        );
        let world = World::start(&script, mode);
        world.until("it watches again", || world.received() == "10").await;
        world.pass(Duration::from_secs(1)).await;
        assert_eq!(world.log(), ["add ns/a@1 initial", "update ns/a@1->6"]);
        world.stop().await;
    }
}

#[derive(Debug, Clone)]
struct Pod {
    node: &'static str,
}

fn pod(version: &str, node: &'static str) -> Delta<ObjectKey, Pod> {
    let stamp = Stamp {
        version: ResourceVersion::new(version),
        uid: "u".into(),
    };
    let entry = Entry::new(ObjectKey::namespaced("ns", "p"), stamp, Arc::new(Pod { node }));
    Delta::Upsert(entry, Cause::Modified)
}

#[test]
fn b23_an_object_moves_from_one_index_value_to_another_in_one_step() {
    let by_node = |pod: &Pod, emit: &mut dyn FnMut(&str)| emit(pod.node);
    let (mut writer, reader) = indexed::<ObjectKey, Pod>(Indexers::new().with("node", by_node)).unwrap();
    let mut commit = |delta| {
        let mut changes = Vec::new();
        writer.commit(&mut Batch::of(delta, false), &mut changes).unwrap();
    };
    let on = |snapshot: &dyn Snapshot<ObjectKey, Pod>, node: &str| {
        let mut n_pods = 0;
        let count = &mut |_: &Entry<ObjectKey, Pod>| {
            n_pods += 1;
            ControlFlow::Continue(())
        };
        snapshot.by_index("node", node, count).unwrap();
        n_pods
    };
    commit(pod("1", "n1"));
    let before = reader.snapshot();
    commit(pod("2", "n2"));
    let after = reader.snapshot();
    assert_eq!([on(&*before, "n1"), on(&*before, "n2")], [1, 0]);
    assert_eq!([on(&*after, "n1"), on(&*after, "n2")], [0, 1]);
}
