//! Readers that hold what they read: invariants 3 and 4.

use std::{
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use informer_backoff::SplitMix64;
use informer_core::{ObjectKey, Snapshot, Store};

use crate::{
    cluster::{FLIP, GROUP, Pod},
    pass,
};

/// Reads until the end. `atomic`: a list is seen whole or not at all.
pub(crate) async fn read(
    store: Arc<dyn Store<ObjectKey, Pod>>,
    seed: u64,
    atomic: bool,
    stop: Arc<AtomicBool>,
) {
    let mut random = SplitMix64::new(seed);
    while !stop.load(Ordering::Relaxed) {
        let snapshot = store.snapshot();
        let first = look(&*snapshot, &format!("node-{}", random.next_u64() % 5));
        if atomic {
            assert_whole(&*snapshot);
        }
        // Held while the store moves on, on whatever thread.
        pass(Duration::from_millis(20 + random.next_u64() % 60)).await;
        assert_eq!(look(&*snapshot, &first.node), first);
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Seen {
    node: String,
    applied: String,
    objects: Vec<(ObjectKey, u64)>,
}

/// All of it, in order; the index must agree.
fn look(snapshot: &dyn Snapshot<ObjectKey, Pod>, node: &str) -> Seen {
    let mut objects = Vec::new();
    let mut on_node = Vec::new();
    snapshot.scan(None, &mut |entry| {
        assert_eq!(entry.stamp.version.as_str(), entry.object.version.to_string());
        objects.push((entry.key.clone(), entry.object.version));
        if entry.object.node == node {
            on_node.push((entry.key.clone(), entry.object.version));
        }
        ControlFlow::Continue(())
    });
    assert!(
        objects.is_sorted_by(|one, next| one.0 < next.0),
        "no key twice, and in order"
    );
    let mut indexed = Vec::new();
    let visit = &mut |entry: &informer_core::Entry<ObjectKey, Pod>| {
        indexed.push((entry.key.clone(), entry.object.version));
        ControlFlow::Continue(())
    };
    snapshot.by_index("node", node, visit).unwrap();
    assert_eq!(indexed, on_node, "store and index are of one time");
    Seen {
        node: node.to_owned(),
        applied: snapshot.applied().to_string(),
        objects,
    }
}

/// The group comes and goes by lists: all of one generation, or none.
fn assert_whole(snapshot: &dyn Snapshot<ObjectKey, Pod>) {
    let mut names = Vec::new();
    snapshot.scan(Some(&ObjectKey::first_of(FLIP)), &mut |entry| {
        if entry.key.namespace() != Some(FLIP) {
            return ControlFlow::Break(());
        }
        names.push(entry.key.name().to_owned());
        ControlFlow::Continue(())
    });
    let generation = |name: &str| name.split_once('-').map(|(generation, _)| generation.to_owned());
    let first = names.first().and_then(|name| generation(name));
    assert!(
        names.is_empty() || names.len() == GROUP,
        "a part of a list: {names:?}"
    );
    assert!(
        names.iter().all(|name| generation(name) == first),
        "two lists: {names:?}"
    );
}
