//! A foreign delta queue: one delta at a time, first in, first out.

use conformance_tests::Line;
use informer_sharedinformer::{QueueKind, SharedInformer};
use informer_swap_tests::{Cluster, Program, play};

#[tokio::test(start_paused = true)]
async fn a_plain_line_is_the_delta_queue() {
    let cluster = Cluster::default();
    let informer = SharedInformer::builder(cluster.source())
        .queue(QueueKind::custom(Line::new(3)))
        .build()
        .unwrap();
    play(&cluster, Program::new(informer, crate::name)).await;
}
