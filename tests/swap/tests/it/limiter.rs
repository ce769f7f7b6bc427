//! A foreign rate limiter: always the same delay.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use informer_core::ObjectKey;
use informer_sharedinformer::SharedInformer;
use informer_swap_tests::{Cluster, Program, play};
use informer_workqueue::RateLimiter;

#[derive(Clone, Default)]
struct Steady {
    failures: BTreeMap<ObjectKey, u32>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl RateLimiter<ObjectKey> for Steady {
    fn delay(&mut self, _: Instant, item: &ObjectKey) -> Duration {
        *self.failures.entry(item.clone()).or_default() += 1;
        self.asked.lock().unwrap().push(item.name().to_owned());
        Duration::from_millis(70)
    }

    fn forget(&mut self, item: &ObjectKey) {
        self.failures.remove(item);
    }

    fn failures(&self, item: &ObjectKey) -> u32 {
        self.failures.get(item).copied().unwrap_or(0)
    }
}

#[tokio::test(start_paused = true)]
async fn a_constant_is_the_limiter() {
    let cluster = Cluster::default();
    let limiter = Steady::default();
    let asked = limiter.asked.clone();
    let informer = SharedInformer::builder(cluster.source()).build().unwrap();
    let program = Program::with(informer, crate::name, |builder| builder.limiter(limiter));
    play(&cluster, program).await;
    let asked = asked.lock().unwrap();
    assert!(asked.iter().any(|name| name == "flaky-one"));
    assert!(asked.iter().all(|name| name.starts_with("flaky")), "{asked:?}");
}
