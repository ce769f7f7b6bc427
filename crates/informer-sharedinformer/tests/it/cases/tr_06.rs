//! TR-06: start, error, start again: how many loops?

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use informer_core::{ObjectKey, Store};
use informer_sharedinformer::{SharedInformer, Sources, Trouble};

use crate::{
    support::{Informer, Pod, idle, pass},
    world::{Cut, World, pods},
};

#[tokio::test(start_paused = true)]
async fn tr_06_a_second_start_is_refused_however_it_comes() {
    let world = World::with(&["ns/a"]);
    let informer: Informer = SharedInformer::builder(world.source(&pods())).build().unwrap();
    let (first, second) = (informer.clone(), informer.clone());
    let both = async { tokio::join!(first.run(), second.run()) };
    let stop = async {
        idle().await;
        assert_eq!(world.open_watches(), 1);
        informer.stop();
    };
    let ((one, other), ()) = tokio::join!(both, stop);
    assert!(one.is_ok());
    assert!(other.unwrap_err().is_second_run());
    idle().await;
    assert_eq!((world.open_watches(), world.most_open_watches()), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn tr_06_fifty_outages_and_a_hook_that_starts_again_leave_one_watch() {
    let world = World::with(&["ns/a"]);
    let own: Arc<OnceLock<SharedInformer<ObjectKey, Pod>>> = Arc::default();
    let (restarts, refused) = (own.clone(), Arc::new(AtomicUsize::new(0)));
    let counts = refused.clone();
    let informer: Informer = SharedInformer::builder(world.source(&pods()))
        .on_error(move |_: &Trouble| {
            let informer = restarts.get().unwrap();
            assert!(informer.spawn().is_err_and(|error| error.is_second_run()));
            counts.fetch_add(1, Ordering::Relaxed);
        })
        .build()
        .unwrap();
    own.set(informer.clone()).unwrap();
    let running = informer.spawn().unwrap();
    informer.synced().await.unwrap();
    for outage in 0..50 {
        world.cut([Cut::Broken, Cut::Expired, Cut::Quiet][outage % 3]);
        world.put("ns/a");
        pass(Duration::from_secs(130)).await;
        assert_eq!(world.open_watches(), 1, "outage {outage}");
        assert_eq!(informer.store().snapshot().applied(), &world.version());
    }
    assert!(
        refused.load(Ordering::Relaxed) >= 16,
        "the hook did start it again"
    );
    assert_eq!(world.most_open_watches(), 1);
    // A list each time that a version had expired, and no more.
    assert_eq!(world.n_lists(), 1 + 17);
    running.stop().await;
    assert_eq!(world.open_watches(), 0);
}

#[tokio::test(start_paused = true)]
async fn tr_06_after_a_stop_a_start_fails_loudly() {
    let world = World::with(&["ns/a"]);
    let informer: Informer = SharedInformer::builder(world.source(&pods())).build().unwrap();
    let running = informer.spawn().unwrap();
    informer.synced().await.unwrap();
    running.stop().await;
    let error = informer.spawn().map(drop).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"informer "informer" was run already: an informer runs once"#
    );
    assert!(informer.run().await.is_err());
    // Another one of the same source works.
    let next: Informer = SharedInformer::builder(world.source(&pods())).build().unwrap();
    let running = next.spawn().unwrap();
    next.synced().await.unwrap();
    assert_eq!(next.store().len(), 1);
    running.stop().await;
}
