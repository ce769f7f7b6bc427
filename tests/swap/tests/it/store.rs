//! A foreign store: ordered maps, copied whole for each commit.

use std::sync::Arc;

use conformance_tests::shelf;
use informer_core::Store;
use informer_sharedinformer::{QueueKind, SharedInformer};
use informer_swap_tests::{Cluster, Program, play};

#[tokio::test(start_paused = true)]
async fn a_map_behind_a_lock_is_the_store() {
    for queue in [|| QueueKind::InOrder, || QueueKind::Coalescing] {
        let cluster = Cluster::default();
        let (writer, shelf) = shelf(Vec::new());
        let informer = SharedInformer::builder(cluster.source())
            .store(writer, Arc::new(shelf.clone()))
            .queue(queue())
            .build()
            .unwrap();
        play(&cluster, Program::new(informer, crate::name)).await;
        assert!(!shelf.is_empty());
    }
}

#[test]
fn a_store_of_ones_own_brings_its_own_indices() {
    let cluster = Cluster::default();
    let (writer, shelf) = shelf(Vec::new());
    let refused = SharedInformer::builder(cluster.source())
        .store(writer, Arc::new(shelf))
        .index(
            "state",
            |_: &informer_swap_tests::Lamp, _: &mut dyn FnMut(&str)| {},
        )
        .build();
    assert!(refused.unwrap_err().to_string().contains("its own indices"));
}
