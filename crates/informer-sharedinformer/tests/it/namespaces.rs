//! Several namespaces seen as one, which come and go.

use std::{
    ops::ControlFlow,
    sync::{Arc, Mutex},
    time::Duration,
};

use informer_core::{Change, ObjectKey, Snapshot, Store, StoreExt};
use informer_sharedinformer::{Factory, HandlerOptions, Namespaces, Registration};

use crate::{
    support::{Log, Pod, assert_gapless, idle, key, pass},
    world::{World, pods},
};

fn names(snapshot: &dyn Snapshot<ObjectKey, Pod>, after: Option<&str>) -> Vec<String> {
    let mut names = Vec::new();
    snapshot.scan(after.map(key).as_ref(), &mut |entry| {
        names.push(entry.key.to_string());
        ControlFlow::Continue(())
    });
    names
}

async fn synced(factory: &Factory<World>, of: &[&str]) -> Namespaces<Pod> {
    let namespaces = factory.namespaces::<Pod, _>(&pods(), of.iter().copied()).unwrap();
    factory.start();
    namespaces.wait_synced(Duration::from_secs(5)).await.unwrap();
    assert!(namespaces.has_synced());
    namespaces
}

#[tokio::test(start_paused = true)]
async fn the_stores_of_several_namespaces_are_read_as_one() {
    let world = World::with(&["b/2", "a/1", "c/1", "b/1", "x/1"]);
    let factory = Factory::new(world.clone());
    let namespaces = synced(&factory, &["b", "c", "a"]).await;
    assert_eq!(world.asked(), ["pods in b", "pods in c", "pods in a"]);
    namespaces
        .add_index("node", |pod: &Pod, emit: &mut dyn FnMut(&str)| emit(&pod.node))
        .unwrap();
    let store = namespaces.store();
    assert_eq!((store.len(), namespaces.lister().len()), (4, 4));
    let snapshot = store.snapshot();
    assert_eq!(snapshot.len(), 4);
    assert_eq!(names(&*snapshot, None), ["a/1", "b/1", "b/2", "c/1"]);
    assert_eq!(names(&*snapshot, Some("b/1")), ["b/2", "c/1"]);
    assert_eq!(names(&*snapshot, Some("aa/1")), ["b/1", "b/2", "c/1"]);
    let mut first = Vec::new();
    snapshot.scan(None, &mut |entry| {
        first.push(entry.key.to_string());
        if first.len() < 2 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    assert_eq!(first, ["a/1", "b/1"], "a break ends all of it");
    assert_eq!(snapshot.get(&key("b/2")).unwrap().object.version, 1);
    assert!(snapshot.get(&key("x/1")).is_none() && snapshot.get(&key("b/9")).is_none());
    let on_1 = namespaces.lister().by_index("node", "node-1").unwrap();
    assert_eq!(on_1.iter().map(|pod| pod.version).collect::<Vec<_>>(), [4, 1]);
    let error = namespaces.lister().by_index("nod", "").unwrap_err();
    assert_eq!(error.to_string(), r#"no index "nod": there are node"#);
    world.delete("b/2");
    world.put("a/2");
    idle().await;
    assert_eq!(names(&*store.snapshot(), None), ["a/1", "a/2", "b/1", "c/1"]);
    assert_eq!(names(&*snapshot, None), ["a/1", "b/1", "b/2", "c/1"], "held");
    factory.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn the_applied_version_is_the_earliest_and_can_be_waited_for() {
    let world = World::with(&["a/1", "b/1"]);
    let factory = Factory::new(world.clone());
    let namespaces = synced(&factory, &["a", "b"]).await;
    let store = namespaces.store();
    let listed = world.version();
    assert_eq!(*store.snapshot().applied(), listed);
    world.put("a/1");
    idle().await;
    assert_eq!(*store.snapshot().applied(), listed, "b has not heard of more");
    let wanted = world.version();
    let wait = store.wait_for(&wanted);
    let mut wait = std::pin::pin!(wait);
    tokio::select! {
        biased;
        _ = &mut wait => panic!("b has not heard of it"),
        () = idle() => {}
    }
    world.put("b/1");
    wait.await.unwrap();
    // Without the one that lags it is there at once, and whoever waits is woken.
    world.put("a/1");
    let wanted = world.version();
    let wait = store.wait_for(&wanted);
    let (done, ()) = tokio::join!(wait, async {
        idle().await;
        assert!(namespaces.remove("b"));
    });
    done.unwrap();
    factory.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_is_told_of_all_namespaces_and_of_those_that_come_and_go() {
    let world = World::with(&["a/1", "b/1", "c/1", "c/2"]);
    let factory = Factory::new(world.clone());
    let namespaces = synced(&factory, &["a", "b"]).await;
    let log = Log::default();
    let handler = namespaces
        .add_handler(log.handler(), HandlerOptions::named("both"))
        .unwrap();
    assert_eq!(handler.name(), "both");
    handler.synced().await.unwrap();
    let mut told = log.take();
    told.sort();
    assert_eq!(told, [r#"Added "a/1"@1 initial"#, r#"Added "b/1"@2 initial"#]);
    assert!(namespaces.add("c").await.unwrap());
    assert!(!namespaces.add("c").await.unwrap(), "it is there");
    idle().await;
    assert_eq!(
        log.take(),
        [r#"Added "c/1"@3 initial"#, r#"Added "c/2"@4 initial"#]
    );
    assert_eq!(namespaces.store().len(), 4);
    assert!(handler.has_synced(), "once true, always true");
    world.put("c/1");
    idle().await;
    assert_eq!(log.take(), [r#"Updated "c/1"@3 -> "c/1"@5"#]);
    let watches = world.open_watches();
    assert!(namespaces.remove("c") && !namespaces.remove("c"));
    assert_eq!(namespaces.store().len(), 2, "at once");
    idle().await;
    let expected = [r#"Removed "c/1"@5 unobserved"#, r#"Removed "c/2"@4 unobserved"#];
    assert_eq!(log.take(), expected);
    assert_eq!(world.open_watches(), watches - 1, "nobody else holds it");
    world.put("c/1");
    world.put("a/1");
    idle().await;
    assert_eq!(log.take(), [r#"Updated "a/1"@1 -> "a/1"@7"#]);
    assert_eq!(handler.n_delivered(), 8);
    handler.remove();
    handler.removed().await;
    world.put("a/1");
    assert!(namespaces.add("c").await.unwrap());
    idle().await;
    assert_eq!(log.len(), 0);
    factory.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn an_informer_that_somebody_else_holds_goes_on() {
    let world = World::with(&["a/1"]);
    let factory = Factory::new(world.clone());
    let alone = factory.informer::<Pod>(&pods().namespace("a")).unwrap();
    let other = Log::default();
    alone
        .add_handler(other.handler(), HandlerOptions::default())
        .unwrap();
    let namespaces = synced(&factory, &["a"]).await;
    let log = Log::default();
    namespaces
        .add_handler(log.handler(), HandlerOptions::default())
        .unwrap();
    idle().await;
    assert_eq!(world.asked(), ["pods in a"]);
    namespaces.remove("a");
    world.put("a/1");
    idle().await;
    assert_eq!(log.lines().last().unwrap(), r#"Removed "a/1"@1 unobserved"#);
    assert_eq!(other.lines().last().unwrap(), r#"Updated "a/1"@1 -> "a/1"@2"#);
    // It comes back, with the state of now.
    assert!(namespaces.add("a").await.unwrap());
    idle().await;
    assert_eq!(log.lines().last().unwrap(), r#"Added "a/1"@2 initial"#);
    assert_gapless(&log.changes());
    factory.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_comes_back_waits_until_its_end_was_told() {
    let world = World::with(&["a/1", "a/2", "a/3"]);
    let factory = Factory::new(world.clone());
    let namespaces = synced(&factory, &["a"]).await;
    let log = Log::default();
    let record = log.clone();
    let slow = move |change| {
        let record = record.clone();
        async move {
            pass(Duration::from_secs(1)).await;
            record.push(change);
        }
    };
    namespaces
        .add_async_handler(slow, HandlerOptions::default())
        .unwrap();
    pass(Duration::from_millis(3_500)).await;
    assert_eq!(log.len(), 3);
    namespaces.remove("a");
    assert!(namespaces.add("a").await.unwrap());
    assert_eq!(log.len(), 6, "its end was told first");
    pass(Duration::from_secs(4)).await;
    assert_eq!(assert_gapless(&log.changes()).len(), 3);
    factory.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn what_a_slow_handler_was_not_told_yet_of_a_namespace_that_goes_it_is_never_told() {
    let world = World::with(&["a/1", "a/2", "a/3", "b/1"]);
    let factory = Factory::new(world.clone());
    let namespaces = synced(&factory, &["a", "b"]).await;
    let log = Log::default();
    let record = log.clone();
    let slow = move |change| {
        let record = record.clone();
        async move {
            pass(Duration::from_secs(1)).await;
            record.push(change);
        }
    };
    let handler = namespaces
        .add_async_handler(slow, HandlerOptions::default())
        .unwrap();
    idle().await;
    namespaces.remove("a");
    pass(Duration::from_secs(20)).await;
    let end = assert_gapless(&log.changes());
    assert_eq!(end.keys().map(ToString::to_string).collect::<Vec<_>>(), ["b/1"]);
    assert!(handler.has_synced());
    factory.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_can_remove_itself_and_wait_for_it() {
    let world = World::with(&["a/1", "b/1", "b/2"]);
    let factory = Factory::new(world.clone());
    let namespaces = synced(&factory, &["a", "b"]).await;
    let own: Arc<Mutex<Option<Registration>>> = Arc::default();
    let log = Log::default();
    let (record, own_in) = (log.clone(), own.clone());
    let handler = move |change: Change<ObjectKey, Pod>| {
        record.push(change);
        let own = own_in.lock().unwrap().clone();
        async move {
            let own = own.unwrap();
            own.remove();
            own.removed().await;
        }
    };
    let handler = namespaces
        .add_async_handler(handler, HandlerOptions::default())
        .unwrap();
    *own.lock().unwrap() = Some(handler.clone());
    handler.removed().await;
    idle().await;
    assert_eq!(
        log.len(),
        1,
        "those that were handed their change find it removed"
    );
    assert!(handler.synced().await.is_err());
    factory.shut_down().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_of_a_handler_never_overlap() {
    let keys: Vec<String> = (0..200)
        .map(|n| format!("{}/{n}", ["a", "b", "c"][n % 3]))
        .collect();
    let keys: Vec<&str> = keys.iter().map(|key| &**key).collect();
    let world = World::with(&keys);
    let factory = Factory::new(world.clone());
    let namespaces = synced(&factory, &["a", "b", "c"]).await;
    let log = Log::default();
    let inside = Mutex::new(());
    let mut record = log.handler();
    let handler = move |change: &Change<_, _>| {
        let alone = inside.try_lock().expect("one call at a time");
        record(change);
        drop(alone);
    };
    let handler = namespaces
        .add_blocking_handler(handler, HandlerOptions::default())
        .unwrap();
    handler.synced().await.unwrap();
    assert_eq!((log.len(), handler.n_panics()), (200, 0));
    factory.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_cannot_be_listed_is_named_and_stops_no_other() {
    let world = World::with(&["a/1", "b/1"]);
    world.forbid("b");
    let factory = Factory::new(world.clone());
    let namespaces = factory.namespaces::<Pod, _>(&pods(), ["a", "b"]).unwrap();
    factory.start();
    let error = namespaces.wait_synced(Duration::from_secs(3)).await.unwrap_err();
    assert_eq!(error.missing().len(), 1);
    assert!(error.to_string().contains("pods in b is forbidden"), "{error}");
    assert!(!namespaces.has_synced());
    assert_eq!(namespaces.status().len(), 2);
    assert_eq!(namespaces.store().len(), 1);
    assert!(
        namespaces.store().snapshot().applied().is_none(),
        "nothing can be said of b"
    );
    let log = Log::default();
    let handler = namespaces
        .add_handler(log.handler(), HandlerOptions::default())
        .unwrap();
    idle().await;
    assert!(!handler.has_synced());
    assert_eq!(log.len(), 1);
    // Without it all is well.
    let (done, _) = tokio::join!(handler.synced(), async { namespaces.remove("b") });
    done.unwrap();
    factory.shut_down().await;
    let stopped = namespaces.add_handler(log.handler(), HandlerOptions::default());
    assert!(stopped.is_err());
    let refused = namespaces.add("z").await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "no informer of pods in z: the factory was shut down"
    );
}

#[tokio::test(start_paused = true)]
async fn its_informers_end_with_the_last_that_holds_it() {
    let world = World::with(&["a/1", "b/1"]);
    let factory = Factory::new(world.clone());
    let namespaces = synced(&factory, &["a", "b"]).await;
    idle().await;
    assert_eq!(world.open_watches(), 2);
    let lister = namespaces.lister();
    drop(namespaces);
    idle().await;
    assert_eq!(world.open_watches(), 2, "a lister holds it, too");
    drop(lister);
    idle().await;
    assert_eq!(world.open_watches(), 0);
    assert!(factory.status().is_empty());
}

#[tokio::test(start_paused = true)]
async fn before_the_start_and_without_namespaces_nothing_hangs() {
    let world = World::with(&["a/1"]);
    let factory = Factory::new(world.clone());
    let none: [&str; 0] = [];
    let namespaces = factory.namespaces::<Pod, _>(&pods(), none).unwrap();
    assert!(namespaces.has_synced() && namespaces.store().is_empty());
    assert!(namespaces.lister().by_index("node", "x").is_err());
    namespaces.wait_synced(Duration::from_secs(1)).await.unwrap();
    let log = Log::default();
    let handler = namespaces
        .add_handler(log.handler(), HandlerOptions::default())
        .unwrap();
    handler.synced().await.unwrap();
    // It comes and goes before anything runs.
    assert!(namespaces.add("a").await.unwrap());
    assert!(namespaces.remove("a"));
    assert!(namespaces.add("a").await.unwrap());
    factory.start();
    namespaces.wait_synced(Duration::from_secs(1)).await.unwrap();
    idle().await;
    assert_eq!(log.lines(), [r#"Added "a/1"@1 initial"#]);
    namespaces.remove("a");
    idle().await;
    assert_eq!(log.len(), 2);
    let removed = handler.removed();
    let mut removed = std::pin::pin!(removed);
    tokio::select! {
        biased;
        () = &mut removed => panic!("it was not removed"),
        () = idle() => {}
    }
    handler.remove();
    removed.await;
    factory.shut_down().await;
}
