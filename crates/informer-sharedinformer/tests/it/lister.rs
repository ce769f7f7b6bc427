//! The lister: keys, namespaces, indices, labels.

use informer_core::{Meta, MetaFields};
use informer_sharedinformer::LabelSelector;

use crate::support::{BOTH, Pod, key, pod, tapped};

struct NodeAsLabel;

impl Meta<Pod> for NodeAsLabel {
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
async fn a_lister_answers_from_the_store() {
    let (tap, informer) = tapped(BOTH[0]());
    let running = informer.spawn().unwrap();
    tap.list(
        [
            pod("b/x", 1),
            pod("a/y", 2),
            pod("b/z", 3),
            pod("bb/x", 4),
            pod("cluster", 5),
        ],
        5,
    );
    informer.synced().await.unwrap();
    let lister = informer.lister();
    let versions = |pods: Vec<std::sync::Arc<Pod>>| pods.iter().map(|pod| pod.version).collect::<Vec<_>>();
    assert_eq!(lister.get(&key("b/x")).unwrap().version, 1);
    assert!(lister.get(&key("b/y")).is_none());
    assert_eq!(
        &*lister.entry(&key("cluster")).unwrap().stamp.version.to_string(),
        "5"
    );
    assert_eq!(versions(lister.list()), [5, 2, 1, 3, 4]);
    assert_eq!(versions(lister.list_namespace("b")), [1, 3]);
    assert_eq!(versions(lister.list_namespace("nowhere")), Vec::<u64>::new());
    assert_eq!(versions(lister.by_index("node", "node-2").unwrap()), [5, 2]);
    let unknown = lister.by_index("nodes", "x").unwrap_err();
    assert_eq!(unknown.to_string(), r#"no index "nodes": there are node"#);
    let selector: LabelSelector = "node in (node-1, node-0)".parse().unwrap();
    assert_eq!(versions(lister.matching(&selector, &NodeAsLabel)), [1, 3, 4]);
    assert_eq!(
        (lister.len(), lister.is_empty(), lister.snapshot().len()),
        (5, false, 5)
    );
    running.stop().await;
}
