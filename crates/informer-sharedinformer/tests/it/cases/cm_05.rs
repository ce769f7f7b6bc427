//! CM-05: several namespaces as one cache.

use std::time::Duration;

use informer_core::{Meta, MetaFields, ResourceVersion};
use informer_sharedinformer::{Factory, Namespaces};

use crate::{
    support::{Pod, key},
    world::{World, nodes, pods},
};

/// Reads the version as a label.
struct Number;

impl Meta<Pod> for Number {
    fn fields(&self) -> MetaFields {
        let mut fields = MetaFields::default();
        fields.labels = true;
        fields
    }

    fn label<'a>(&self, pod: &'a Pod, name: &str) -> Option<&'a str> {
        (name == "fifth" && pod.version == 5).then_some("yes")
    }
}

async fn limited(world: &World) -> (Factory<World>, Namespaces<Pod>) {
    let factory = Factory::new(world.clone());
    let selection = pods().labels("app=web").fields("spec.nodeName=n");
    let namespaces = factory.namespaces(&selection, ["ns1", "ns2"]).unwrap();
    factory.start();
    namespaces.wait_synced(Duration::from_secs(5)).await.unwrap();
    (factory, namespaces)
}

#[tokio::test(start_paused = true)]
async fn cm_05_several_namespaces_are_exact_sets() {
    let world = World::with(&["ns1/a", "ns1/b", "ns2/a", "ns2/b", "ns2/c", "ns3/a"]);
    let (factory, namespaces) = limited(&world).await;
    let lister = namespaces.lister();
    for _ in 0..2 {
        assert_eq!(lister.list().len(), 5, "nothing accumulates");
        assert_eq!(lister.list_namespace("ns2").unwrap().len(), 3);
    }
    // Selectors are on the wire of every namespace.
    let expected = [
        "pods in ns1 with app=web with spec.nodeName=n",
        "pods in ns2 with app=web with spec.nodeName=n",
    ];
    assert_eq!(world.asked(), expected);
    // The limit counts what the selector lets through.
    let fifth = "fifth=yes".parse().unwrap();
    let page = lister.page(None, 1, informer_sharedinformer::matching(fifth, Number));
    assert_eq!(page.entries.len(), 1);
    assert_eq!((&page.entries[0].key, page.next), (&key("ns2/c"), None));
    assert_eq!(lister.matching(&"fifth".parse().unwrap(), &Number).len(), 1);
    // Pages join without gap or double, across namespaces.
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = lister.page(after.as_ref(), 2, |_| true);
        all.extend(page.entries.iter().map(|entry| entry.key.to_string()));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(all, ["ns1/a", "ns1/b", "ns2/a", "ns2/b", "ns2/c"]);
    let page = lister.page_of("ns2", None, 2, |_| true).unwrap();
    assert_eq!(page.next, Some(key("ns2/b")));
    let page = lister.page_of("ns2", page.next.as_ref(), 2, |_| true).unwrap();
    assert_eq!((page.entries.len(), page.next), (1, None));
    factory.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn cm_05_a_namespace_that_is_not_covered_is_an_error() {
    let world = World::with(&["ns1/a", "ns3/a"]);
    let (factory, namespaces) = limited(&world).await;
    let lister = namespaces.lister();
    let error = lister.list_namespace("ns3").unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"informer "pods with app=web with spec.nodeName=n" does not cover namespace "ns3", but ns1, ns2"#
    );
    assert_eq!((error.namespace(), error.covered().len()), ("ns3", 2));
    assert!(lister.get(&key("ns3/a")).is_err());
    assert!(
        lister.get(&key("a")).is_err(),
        "nor is an object without a namespace"
    );
    assert!(lister.page_of("ns3", None, 1, |_| true).is_err());
    assert!(lister.get(&key("ns1/a")).unwrap().is_some());
    assert!(lister.get(&key("ns1/b")).unwrap().is_none());
    assert!(namespaces.add("ns3").await.unwrap());
    namespaces.wait_synced(Duration::from_secs(5)).await.unwrap();
    assert!(lister.get(&key("ns3/a")).unwrap().is_some());
    factory.shut_down().await;
}

#[tokio::test(start_paused = true)]
async fn cm_05_cluster_wide_kinds_ignore_the_namespaces() {
    let world = World::with(&["node-a", "node-b"]);
    let factory = Factory::new(world.clone());
    let namespaces = factory.namespaces::<Pod, _>(&nodes(), ["ns1", "ns2"]).unwrap();
    factory.start();
    namespaces.wait_synced(Duration::from_secs(5)).await.unwrap();
    let lister = namespaces.lister();
    assert_eq!(world.asked(), ["nodes"]);
    assert_eq!(lister.list().len(), 2);
    assert!(lister.get(&key("node-a")).unwrap().is_some());
    assert!(namespaces.covers(None) && namespaces.names().is_empty());
    assert!(!namespaces.add("ns3").await.unwrap() && !namespaces.remove("ns1"));
    assert_eq!(*lister.snapshot().applied(), world.version());
    factory.shut_down().await;
}

/// A version stands for all namespaces or is not there.
#[tokio::test(start_paused = true)]
async fn cm_05_a_version_is_told_only_if_it_means_something() {
    let world = World::with(&["ns1/a", "ns2/a"]);
    let (factory, namespaces) = limited(&world).await;
    assert_eq!(*namespaces.lister().snapshot().applied(), world.version());
    world.forbid("ns3");
    namespaces.add("ns3").await.unwrap();
    assert_eq!(*namespaces.lister().snapshot().applied(), ResourceVersion::none());
    factory.shut_down().await;
}
