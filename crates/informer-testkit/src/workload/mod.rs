//! A sample cluster: nodes, deployments, pods that live, and a custom kind.

use std::time::Duration;

use crate::{FakeApi, Rng};

/// How large a [`Workload`] is and how fast it lives.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WorkloadOptions {
    /// Everything random comes from it.
    pub seed: u64,
    /// The namespace of its objects.
    pub namespace: String,
    /// How many pods it keeps running.
    pub pods: usize,
    /// How many nodes they run on.
    pub nodes: usize,
    /// How long a pod lives on average before something happens to it.
    pub pace: Duration,
}

impl Default for WorkloadOptions {
    fn default() -> Self {
        Self {
            seed: 0,
            namespace: "default".into(),
            pods: 300,
            nodes: 12,
            pace: Duration::from_secs(90),
        }
    }
}

/// A sample cluster that lives: pods start, run, move to other nodes, restart, finish, and are replaced.
#[derive(Debug)]
pub struct Workload {
    #[expect(dead_code, reason = "read by the steps, which follow")]
    options: WorkloadOptions,
    #[expect(dead_code, reason = "read by the steps, which follow")]
    rng: Rng,
}

impl Workload {
    /// A workload that has not written anything yet.
    #[must_use]
    pub fn new(options: WorkloadOptions) -> Self {
        Self {
            rng: Rng::new(options.seed),
            options,
        }
    }

    /// Writes what is due. Returns how long after that the next step is due. The first step builds the cluster.
    pub fn step(&mut self, _api: &mut FakeApi) -> Duration {
        Duration::from_millis(200)
    }
}
