//! A foreign clock: an hour fast, and it counts who looks at it.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use informer_core::{Clock, TokioClock};
use informer_sharedinformer::SharedInformer;
use informer_swap_tests::{Cluster, Program, play};

const FAST: Duration = Duration::from_secs(3600);

#[derive(Clone, Default)]
struct Wrong {
    n_sleeps: Arc<AtomicUsize>,
}

impl Clock for Wrong {
    fn now(&self) -> Instant {
        TokioClock.now() + FAST
    }

    fn sleep_until(&self, at: Instant) -> impl Future<Output = ()> + Send {
        self.n_sleeps.fetch_add(1, Ordering::Relaxed);
        // What is meant by the wrong clock.
        TokioClock.sleep_until(at.checked_sub(FAST).unwrap_or(at))
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_an_hour_fast_is_the_clock() {
    let clock = Wrong::default();
    let cluster = Cluster::new(clock.clone());
    let informer = SharedInformer::builder(cluster.source())
        .clock(clock.clone())
        .build()
        .unwrap();
    let program = Program::with(informer, crate::name, |builder| builder.clock(clock.clone()));
    play(&cluster, program).await;
    assert!(clock.n_sleeps.load(Ordering::Relaxed) > 3);
}
