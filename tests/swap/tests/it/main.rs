//! One file for each part that is swapped, and the closures of the layers used from outside.

#![expect(clippy::unwrap_used, reason = "a failed test says where")]

mod clock;
mod closures;
mod delta_queue;
mod handler;
mod key;
mod limiter;
mod lister_watcher;
mod source;
mod store;
mod transport;
mod work_queue;

use informer_core::ObjectKey;
use informer_sharedinformer::SharedInformer;
use informer_swap_tests::{Cluster, Program, play};

/// The names of lamps under our keys.
fn name(key: &ObjectKey) -> &str {
    key.name()
}

#[tokio::test(start_paused = true)]
async fn nothing_is_foreign() {
    let cluster = Cluster::default();
    let informer = SharedInformer::builder(cluster.source())
        .name("lamps")
        .build()
        .unwrap();
    play(&cluster, Program::new(informer, name)).await;
}
