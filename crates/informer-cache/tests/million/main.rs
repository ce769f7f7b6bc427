//! A million objects in the store of one kind: what each costs, and that reading them copies nothing. In a process of its own, since it looks
//! at what the process holds. How long a list takes is a figure and no test: `cargo bench -p informer-benches --bench store`.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{ops::ControlFlow, sync::Arc, time::Duration};

use informer_core::{Delta, DeltaSink, Entry, ObjectKey, Stamp};
use informer_sharedinformer::{SharedInformer, Sink};
use tokio::sync::mpsc;

const OBJECTS: usize = 1_000_000;

/// What a projected object may be.
#[derive(Debug)]
struct Pod {
    node: u32,
}

/// Bytes that the process holds.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

fn list() -> Delta<ObjectKey, Pod> {
    let entry = |n: usize| {
        let key = ObjectKey::namespaced(&format!("ns-{}", n % 1000), &format!("pod-{n:07}"));
        let node = u32::try_from(n % 5000).unwrap();
        Entry::new(key, Stamp::new("1", format!("{n:036}")), Arc::new(Pod { node }))
    };
    Delta::Replace {
        items: (0..OBJECTS).map(entry).collect(),
        unreadable: Vec::new(),
        at: "5".into(),
        may_rewind: false,
    }
}

#[tokio::test]
async fn t27_a_store_of_a_million_objects() {
    let (feed, mut deltas) = mpsc::unbounded_channel();
    let source = move |mut sink: Sink<ObjectKey, Pod>| async move {
        while let Some(delta) = deltas.recv().await {
            sink.push(delta);
        }
        std::future::pending::<()>().await;
    };
    let informer = SharedInformer::fed_by(source).name("pods").build().unwrap();
    let running = informer.spawn().unwrap();
    let before = resident();
    feed.send(list()).unwrap();
    informer.wait_synced(Duration::from_secs(600)).await.unwrap();
    assert_eq!(informer.store().len(), OBJECTS);
    let each = (resident() - before) / OBJECTS;
    // Key, version, uid, object, and their place in the store: the peers' overhead alone, without the object, is from 257 bytes (kube) up.
    assert!(each < 600, "{each} bytes for each object");

    // Everything can be read, in order, and what is read is what is held.
    let (snapshot, held) = (informer.store().snapshot(), resident());
    let (mut n, mut last) = (0, None);
    snapshot.scan(None, &mut |entry: &Entry<ObjectKey, Pod>| {
        assert!(last.as_ref() < Some(&entry.key), "in order");
        last = Some(entry.key.clone());
        n += usize::from(entry.object.node < 5000);
        ControlFlow::Continue(())
    });
    assert_eq!(n, OBJECTS);
    let all = informer.lister().list();
    assert_eq!(all.len(), OBJECTS);
    assert!(
        Arc::ptr_eq(&all[7], &informer.lister().list()[7]),
        "shared, not copied"
    );
    drop(all);
    let mut visited = 0;
    let page = informer.lister().page(None, 500, |_| {
        visited += 1;
        true
    });
    assert_eq!(page.entries.len(), 500);
    assert!(visited <= 501, "a page costs what a page has: {visited}");
    let grown = resident().saturating_sub(held) / OBJECTS;
    assert!(grown < 32, "{grown} bytes for each object that is read");

    running.stop().await;
}
