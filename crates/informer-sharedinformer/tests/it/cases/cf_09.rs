//! CF-09: a transform runs once, on real objects only.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use informer_core::{Identity, ObjectKey};
use informer_sharedinformer::{HandlerOptions, SharedInformer, Sources, TransformError};

use crate::{
    support::{BOTH, Informer, Log, Pod, assert_gapless, idle, key, pass},
    world::{Cut, World, pods},
};

type Calls = Arc<Mutex<BTreeMap<(String, u64), usize>>>;

/// Appends a mark, and counts the states that it was asked about.
fn marking(world: &World, queue: usize, calls: &Calls) -> Informer {
    let calls = calls.clone();
    SharedInformer::builder(world.source(&pods()))
        .queue(BOTH[queue]())
        .resync(Duration::from_secs(10))
        .index("node", |pod: &Pod, emit: &mut dyn FnMut(&str)| emit(&pod.node))
        .transform(move |identity: &Identity, pod: &mut Pod| {
            assert!(!pod.node.ends_with('!'), "it was here before");
            if &*identity.name == "bad" {
                return Err(TransformError::new("bad stays bad"));
            }
            pod.node.push('!');
            let state = (identity.name.to_string(), pod.version);
            *calls.lock().unwrap().entry(state).or_default() += 1;
            Ok(())
        })
        .build()
        .unwrap()
}

/// Add, update, relist, resyncs, a missed delete, by list and by streaming list.
async fn play(world: &World, queue: usize) {
    let calls = Calls::default();
    let informer = marking(world, queue, &calls);
    let log = Log::default();
    informer
        .add_handler(log.handler(), HandlerOptions::default())
        .unwrap();
    let running = informer.spawn().unwrap();
    informer.synced().await.unwrap();
    world.put("ns/new");
    world.put("ns/a");
    idle().await;
    // Three resyncs, and a relist that brings all of it again.
    pass(Duration::from_secs(31)).await;
    world.cut(Cut::Expired);
    world.delete("ns/missed");
    pass(Duration::from_secs(10)).await;
    world.delete("ns/b");
    world.put("ns/c");
    idle().await;
    let resynced = log
        .lines()
        .iter()
        .filter(|line| line.starts_with("Resynced"))
        .count();
    assert!(resynced >= 3 * 4, "{resynced}");
    // Once each, whatever the state went through.
    let calls = calls.lock().unwrap().clone();
    let twice: Vec<_> = calls.iter().filter(|(_, n)| **n != 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    for change in log.changes() {
        let node = &change.entry().object.node;
        assert!(node.ends_with('!') && !node.ends_with("!!"), "{change:?}: {node}");
    }
    assert_gapless(&log.changes());
    // The one that is refused is reported and left out; the rest went on.
    let held: Vec<ObjectKey> = informer.store().list().into_iter().map(|it| it.key).collect();
    assert_eq!(held, [key("ns/a"), key("ns/c"), key("ns/new")]);
    let status = informer.status().source.reflector.unwrap();
    assert!(status.skipped >= 1);
    assert!(status.last_skipped.unwrap().contains("bad stays bad"));
    assert!(
        informer.lister().by_index("node", "node-0").unwrap().is_empty(),
        "no index saw it before"
    );
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn cf_09_a_transform_that_is_not_idempotent_is_seen_to_run_once() {
    for queue in 0..2 {
        let names = ["ns/a", "ns/b", "ns/c", "ns/missed", "ns/bad"];
        play(&World::with(&names), queue).await;
        play(&World::with(&names).streaming(), queue).await;
    }
}
