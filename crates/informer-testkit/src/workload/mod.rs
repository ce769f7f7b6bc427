//! A sample cluster that lives: what the demo watches.
//!
//! Nodes with heartbeats, deployments, a stateful set and a job queue whose pods start, run, restart, move to other nodes, finish and are
//! replaced; their events; a few config maps; and a custom kind, `widgets.example.com`. Pure: it writes to a [`FakeApi`] when it is
//! stepped, and everything random comes from a seed.

mod apps;
mod cluster;
mod life;
mod pod;

use std::{collections::BTreeMap, time::Duration};

use informer_core::Resource;

use self::{apps::App, life::Pod};
use crate::{FakeApi, Rng};

/// How large a [`Workload`] is and how fast it lives.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WorkloadOptions {
    /// Everything random comes from it.
    pub seed: u64,
    /// The namespace of its objects.
    pub namespace: String,
    /// How many pods it keeps, about.
    pub pods: usize,
    /// How many nodes they run on; at least two.
    pub nodes: usize,
    /// How long a pod runs on average before something happens to it.
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

impl WorkloadOptions {
    /// The default size, of this seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self {
            seed,
            ..Self::default()
        }
    }

    /// With this many pods.
    #[must_use]
    pub fn pods(mut self, pods: usize) -> Self {
        self.pods = pods;
        self
    }

    /// With something happening to a pod this often on average.
    #[must_use]
    pub fn pace(mut self, pace: Duration) -> Self {
        self.pace = pace;
        self
    }
}

/// Something to do at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    /// The next stage of a pod, by its number.
    Pod(u64),
    /// A node says that it is alive.
    Heartbeat(usize),
    /// Somebody edits a config map or a widget.
    Edit,
}

/// A sample cluster. [`step`](Self::step) writes what is due.
#[derive(Debug)]
pub struct Workload {
    options: WorkloadOptions,
    rng: Rng,
    apps: Vec<App>,
    pods: BTreeMap<u64, Pod>,
    next_pod: u64,
    agenda: BTreeMap<(Duration, u64), Act>,
    next_act: u64,
    events: std::collections::VecDeque<String>,
    is_built: bool,
}

impl Workload {
    /// A workload that has not written anything yet.
    #[must_use]
    pub fn new(options: WorkloadOptions) -> Self {
        Self {
            rng: Rng::new(options.seed),
            options,
            apps: Vec::new(),
            pods: BTreeMap::new(),
            next_pod: 0,
            agenda: BTreeMap::new(),
            next_act: 0,
            events: std::collections::VecDeque::new(),
            is_built: false,
        }
    }

    /// Writes what is due by the model's time ([`FakeApi::tick`]). Returns how long after it the next step is due. The first step builds
    /// the cluster.
    pub fn step(&mut self, api: &mut FakeApi) -> Duration {
        let now = api.elapsed();
        if !self.is_built {
            self.is_built = true;
            self.build(api);
        }
        while let Some(entry) = self.agenda.first_entry() {
            if entry.key().0 > now {
                break;
            }
            let act = entry.remove();
            self.act(api, act);
        }
        let next = self.agenda.keys().next();
        next.map_or(Duration::from_secs(1), |(at, _)| at.saturating_sub(now))
    }

    fn act(&mut self, api: &mut FakeApi, act: Act) {
        match act {
            Act::Pod(id) => self.live(api, id),
            Act::Heartbeat(node) => {
                self.heartbeat(api, node);
                self.plan(api.elapsed() + Duration::from_secs(10), Act::Heartbeat(node));
            }
            Act::Edit => {
                self.edit(api);
                let wait = Duration::from_millis(self.rng.range(1_500..6_000));
                self.plan(api.elapsed() + wait, Act::Edit);
            }
        }
    }

    fn plan(&mut self, at: Duration, act: Act) {
        self.next_act += 1;
        self.agenda.insert((at, self.next_act), act);
    }

    fn node_name(&self, node: usize) -> String {
        format!("node-{:02}", node + 1)
    }

    fn n_nodes(&self) -> usize {
        self.options.nodes.max(2)
    }
}

fn kind(group: &str, plural: &str, kind: &str) -> Resource {
    Resource::namespaced(group, "v1", plural, kind)
}

fn pods() -> Resource {
    kind("", "pods", "Pod")
}
