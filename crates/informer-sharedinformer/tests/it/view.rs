//! Views: some of an informer's objects, as if they were an informer's own.

use std::time::Duration;

use informer_core::{Entry, Meta, MetaFields, ObjectKey, Store, StoreExt};
use informer_sharedinformer::{Factory, HandlerOptions, matching};

use crate::{
    support::{BOTH, Log, Pod, idle, key, pod, tapped, version},
    world::{World, pods},
};

type PodEntry = Entry<ObjectKey, Pod>;

fn on_node_1(pod: &PodEntry) -> bool {
    pod.object.node == "node-1"
}

#[tokio::test(start_paused = true)]
async fn a_view_shows_the_wanted_part_of_store_and_changes() {
    for queue in BOTH {
        let (tap, informer) = tapped(queue());
        let view = informer.view(on_node_1);
        let log = Log::default();
        view.add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        tap.list([pod("ns/a", 1), pod("ns/b", 2), pod("other/c", 4)], 4);
        informer.synced().await.unwrap();
        idle().await;
        assert_eq!(log.take().len(), 2);
        let (store, lister) = (view.store(), view.lister());
        assert_eq!(
            (store.len(), store.is_empty(), informer.store().len()),
            (2, false, 3)
        );
        assert!(store.get(&key("ns/a")).is_some() && store.get(&key("ns/b")).is_none());
        assert_eq!(lister.list_namespace("ns").len(), 1);
        assert_eq!(lister.by_index("node", "node-1").unwrap().len(), 2);
        assert!(lister.by_index("node", "node-2").unwrap().is_empty());
        assert!(lister.by_index("nod", "node-2").is_err());
        let held = store.snapshot();
        // It leaves the view, and another enters.
        tap.modify(pod("ns/a", 5));
        tap.modify(pod("ns/b", 7));
        store.wait_for(&version(7)).await.unwrap();
        idle().await;
        assert_eq!(log.take(), [r#"Removed "ns/a"@1"#, r#"Added "ns/b"@7"#]);
        assert_eq!(lister.list_namespace("ns")[0].version, 7);
        assert!(held.get(&key("ns/a")).is_some(), "a snapshot stays as it is");
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_view_of_a_view_is_narrower_and_every_form_of_handler_is_filtered() {
    let (tap, informer) = tapped(BOTH[0]());
    let view = informer
        .view(on_node_1)
        .view(|pod| pod.key.namespace() == Some("ns"));
    let (log, blocking) = (Log::default(), Log::default());
    let record = log.clone();
    view.add_async_handler(
        move |change| {
            let record = record.clone();
            async move { record.push(change) }
        },
        HandlerOptions::default(),
    )
    .unwrap();
    let on_thread = view
        .add_blocking_handler(blocking.handler(), HandlerOptions::default())
        .unwrap();
    let mut stream = view.subscribe(HandlerOptions::default()).unwrap();
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1), pod("ns/b", 2), pod("other/c", 4)], 4);
    let first = stream.next().await.unwrap();
    assert_eq!(format!("{first:?}"), r#"Added "ns/a"@1 initial"#);
    tap.modify(pod("ns/b", 7));
    let second = stream.next().await.unwrap();
    assert_eq!(format!("{second:?}"), r#"Added "ns/b"@7"#, "a is still there");
    on_thread.synced().await.unwrap();
    idle().await;
    assert_eq!(log.len(), 2);
    assert_eq!(blocking.lines()[0], r#"Added "ns/a"@1 initial"#);
    assert!(stream.registration().n_delivered() > 0);
    running.stop().await;
    assert!(stream.next().await.is_none());
}

/// Reads the node as a label.
struct NodeLabel;

impl Meta<Pod> for NodeLabel {
    fn fields(&self) -> MetaFields {
        let mut fields = MetaFields::default();
        fields.labels = true;
        fields
    }

    fn label<'a>(&self, pod: &'a Pod, name: &str) -> Option<&'a str> {
        (name == "node").then_some(&*pod.node)
    }
}

#[tokio::test(start_paused = true)]
async fn views_by_selector_share_one_informer_which_ends_with_the_last_of_them() {
    let world = World::with(&["ns/a", "ns/b", "ns/c", "ns/d"]);
    let factory = Factory::new(world.clone());
    let by = |selector: &str| {
        let wanted = matching(selector.parse().unwrap(), NodeLabel);
        factory.view::<Pod>(&pods(), wanted).unwrap()
    };
    let (one, two) = (by("node=node-1"), by("node in (node-0, node-2)"));
    assert!(one.informer().is_same(two.informer()));
    factory.start();
    factory.wait_synced(Duration::from_secs(5)).await.unwrap();
    assert_eq!((one.store().len(), two.store().len()), (2, 2));
    assert_eq!(world.asked(), ["pods"], "the superset is asked for once");
    let informer = one.informer().clone();
    let clone = one.clone();
    drop((one, two));
    idle().await;
    assert!(!informer.is_stopped());
    drop(clone);
    informer.ended().await;
    idle().await;
    assert_eq!(world.open_watches(), 0);
}
