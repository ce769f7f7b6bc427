//! A foreign key function and key: name first, read from the object itself.

use informer_core::{Identity, KeyError, KeyFunc};
use informer_sharedinformer::{QueueKind, SharedInformer};
use informer_swap_tests::{Cluster, Lamp, Program, play};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Label {
    name: String,
    floor: usize,
}

struct ByLabel;

impl KeyFunc<Lamp> for ByLabel {
    type Key = Label;

    fn key(&self, identity: &Identity, lamp: &Lamp) -> Result<Label, KeyError> {
        let floor = identity.namespace.as_deref().map_or(0, str::len);
        Ok(Label {
            name: lamp.metadata.name.clone(),
            floor,
        })
    }
}

#[tokio::test(start_paused = true)]
async fn a_struct_of_ones_own_is_the_key() {
    for queue in [|| QueueKind::InOrder, || QueueKind::Coalescing] {
        let cluster = Cluster::default();
        let informer = SharedInformer::builder(cluster.source())
            .key(ByLabel)
            .queue(queue())
            .build()
            .unwrap();
        play(&cluster, Program::new(informer, |key| &key.name)).await;
    }
}

#[test]
fn a_key_function_that_comes_too_late_is_refused() {
    let cluster = Cluster::default();
    let late = SharedInformer::builder(cluster.source())
        .queue(QueueKind::InOrder)
        .key(ByLabel)
        .build();
    assert!(late.unwrap_err().to_string().contains("before the queue"));
}
