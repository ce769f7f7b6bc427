//! A foreign handler, and behind it no controller of ours: keys go through a channel to a loop.

use informer_core::{Change, EventHandler, ObjectKey};
use informer_sharedinformer::{HandlerOptions, SharedInformer};
use informer_swap_tests::{Cluster, Lamp, Made, Program, play, reconcile};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

struct Postman(UnboundedSender<ObjectKey>);

impl EventHandler<ObjectKey, Lamp> for Postman {
    fn on_change(&mut self, change: &Change<ObjectKey, Lamp>) {
        // The loop ends later than this.
        let _ = self.0.send(change.key().clone());
    }
}

#[tokio::test(start_paused = true)]
async fn a_struct_of_ones_own_is_the_handler() {
    let cluster = Cluster::default();
    let informer = SharedInformer::builder(cluster.source()).build().unwrap();
    let (sender, mut keys) = unbounded_channel();
    informer
        .add_handler(Postman(sender), HandlerOptions::named("postman"))
        .unwrap();
    let (lister, made) = (informer.lister(), Made::default());
    let program = Program::without_controller(informer, made.clone());
    let works = async {
        while let Some(key) = keys.recv().await {
            let mut attempt = 1;
            while reconcile(&lister, &made, &key, key.name(), attempt).is_err() {
                attempt += 1;
            }
        }
    };
    // The loop ends with the handler, and the handler with the informer.
    tokio::join!(play(&cluster, program), works);
}
