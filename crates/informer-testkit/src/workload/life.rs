//! The life of a pod: from one stage to the next.

use std::time::Duration;

use super::{
    Act, Workload,
    apps::{App, Owner},
    pod, pods,
};
use crate::FakeApi;

/// Where a pod is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// It exists and has no node.
    Created,
    /// It has a node, and its containers are being created.
    Scheduled,
    /// Its containers run and are not ready.
    Started,
    /// Its containers run and are ready.
    Ready,
    /// Its main container has just failed.
    Failed,
    /// Its main container waits to be started again.
    BackOff,
    /// It has finished.
    Completed,
    /// It is being stopped.
    Terminating,
}

/// A pod.
#[derive(Debug)]
pub(super) struct Pod {
    pub(super) name: String,
    pub(super) app: usize,
    /// The place in a stateful set.
    pub(super) ordinal: usize,
    pub(super) node: usize,
    pub(super) stage: Stage,
    pub(super) restarts: u32,
    pub(super) ip: String,
    pub(super) digest: String,
    pub(super) scheduled: String,
    pub(super) started: String,
    pub(super) ready_since: String,
}

impl Pod {
    pub(super) fn container_id(&self, container: &str) -> String {
        format!(
            "containerd://{}{:08x}{container}",
            &self.digest[..32],
            self.restarts
        )
    }

    fn is_ready(&self) -> bool {
        self.stage == Stage::Ready
    }
}

impl Workload {
    /// Adds a pod of an app, not yet written.
    pub(super) fn new_pod(&mut self, app: usize, ordinal: usize) -> u64 {
        let template = &self.apps[app].template;
        let name = match template.owner {
            Owner::StatefulSet => format!("{}-{ordinal}", template.name),
            Owner::Deployment | Owner::Job => {
                let owner = self.apps[app].owner_name.clone();
                format!("{owner}-{}", self.letters(5))
            }
        };
        let node = self.rng.index(self.n_nodes());
        let ip = format!("10.244.{}.{}", node, self.rng.range(2..255));
        let digest = format!(
            "{:016x}{:016x}{:016x}{:016x}",
            self.rng.bits(),
            self.rng.bits(),
            self.rng.bits(),
            self.rng.bits()
        );
        self.next_pod += 1;
        self.pods.insert(
            self.next_pod,
            Pod {
                name,
                app,
                ordinal,
                node,
                stage: Stage::Created,
                restarts: 0,
                ip,
                digest,
                scheduled: String::new(),
                started: String::new(),
                ready_since: String::new(),
            },
        );
        self.next_pod
    }

    /// Adds a pod that has been running for a while.
    pub(super) fn settled_pod(&mut self, api: &mut FakeApi, app: usize, ordinal: usize) {
        let id = self.new_pod(app, ordinal);
        let age = Duration::from_secs(self.rng.range(60..6 * 3600));
        let restarts = if self.rng.chance(0.15) {
            self.rng.range(1..5)
        } else {
            0
        };
        api.backdate = age;
        let at = |seconds: u64| api.wall_at(api.elapsed(), age.saturating_sub(Duration::from_secs(seconds)));
        if let Some(pod) = self.pods.get_mut(&id) {
            pod.stage = Stage::Ready;
            pod.restarts = u32::try_from(restarts).unwrap_or(0);
            pod.scheduled = at(0);
            pod.started = at(2);
            pod.ready_since = at(5);
        }
        self.write(api, id);
        api.backdate = Duration::ZERO;
        self.apps[app].n_ready += 1;
        self.plan_next(api, id);
    }

    /// Brings a pod to its next stage.
    pub(super) fn live(&mut self, api: &mut FakeApi, id: u64) {
        let now = api.wall();
        let Some(pod) = self.pods.get_mut(&id) else { return };
        let (app, was_ready) = (pod.app, pod.is_ready());
        match pod.stage {
            Stage::Created => {
                pod.stage = Stage::Scheduled;
                pod.scheduled = now;
                self.tell(
                    api,
                    id,
                    "Normal",
                    "Scheduled",
                    "Successfully assigned the pod to its node",
                );
            }
            Stage::Scheduled => {
                pod.stage = Stage::Started;
                pod.started = now;
                self.tell(api, id, "Normal", "Started", "Started container");
            }
            Stage::Started => {
                pod.stage = Stage::Ready;
                pod.ready_since = now;
            }
            Stage::Ready => self.happen(api, id),
            Stage::Failed => {
                pod.stage = Stage::BackOff;
                self.tell(
                    api,
                    id,
                    "Warning",
                    "BackOff",
                    "Back-off restarting failed container",
                );
            }
            Stage::BackOff => {
                pod.stage = Stage::Started;
                pod.restarts += 1;
                pod.started = now;
            }
            Stage::Completed | Stage::Terminating => {
                self.replace(api, id);
                return;
            }
        }
        self.write(api, id);
        let is_ready = self.pods.get(&id).is_some_and(Pod::is_ready);
        self.count_ready(api, app, was_ready, is_ready);
        self.plan_next(api, id);
    }

    /// Something happens to a pod that was well.
    fn happen(&mut self, api: &mut FakeApi, id: u64) {
        let dice = self.rng.range(0..100);
        let Some(pod) = self.pods.get_mut(&id) else { return };
        let template = &self.apps[pod.app].template;
        if dice < template.crashes {
            pod.stage = Stage::Failed;
        } else if template.owner == Owner::Job {
            pod.stage = Stage::Completed;
        } else if dice < template.crashes + 15 {
            // A readiness probe failed: it will be well again.
            pod.stage = Stage::Started;
            self.tell(
                api,
                id,
                "Warning",
                "Unhealthy",
                "Readiness probe failed: HTTP probe failed with statuscode: 503",
            );
        } else {
            pod.stage = Stage::Terminating;
            let name = pod.name.clone();
            self.tell(api, id, "Normal", "Killing", "Stopping container");
            // It is there: nobody else deletes it, or then nothing is lost.
            let _marked = api.begin_deletion(&pods(), Some(&self.options.namespace), &name, 30);
        }
    }

    /// Removes a pod; another takes its place, under the same name in a stateful set.
    fn replace(&mut self, api: &mut FakeApi, id: u64) {
        let Some(pod) = self.pods.remove(&id) else { return };
        let _gone = api.delete(&pods(), Some(&self.options.namespace), &pod.name);
        let new = self.new_pod(pod.app, pod.ordinal);
        if let Some(new) = self.pods.get_mut(&new)
            && new.node == pod.node
        {
            new.node = (new.node + 1) % self.options.nodes.max(2);
        }
        self.write(api, new);
        self.plan_next(api, new);
    }

    fn write(&self, api: &mut FakeApi, id: u64) {
        let Some(pod) = self.pods.get(&id) else { return };
        let app: &App = &self.apps[pod.app];
        let node = (pod.stage != Stage::Created).then(|| self.node_name(pod.node));
        let object = pod::object(pod, app, &self.options.namespace, node.as_deref(), &api.wall());
        // Names are valid and the kind is served: what could fail is somebody's script that removed the kind, and then there is nothing
        // to write.
        let _written = api.put(&pods(), object);
    }

    fn plan_next(&mut self, api: &FakeApi, id: u64) {
        let Some(pod) = self.pods.get(&id) else { return };
        let millis = match pod.stage {
            Stage::Created => self.rng.range(50..600),
            Stage::Scheduled => self.rng.range(400..4_000),
            Stage::Started => self.rng.range(500..3_000),
            Stage::Failed => self.rng.range(300..1_500),
            Stage::BackOff => self.rng.range(4_000..15_000) * u64::from(pod.restarts.min(3) + 1),
            Stage::Completed => self.rng.range(3_000..12_000),
            Stage::Terminating => self.rng.range(800..5_000),
            Stage::Ready => {
                // Exponential, so that as much happens in every second.
                let lifetime = -(1.0 - self.rng.fraction()).ln() * self.options.pace.as_secs_f64();
                (lifetime * 1000.0) as u64 + 500
            }
        };
        self.plan(api.elapsed() + Duration::from_millis(millis), Act::Pod(id));
    }

    fn letters(&mut self, n_letters: usize) -> String {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        (0..n_letters)
            .map(|_| char::from(LETTERS[self.rng.index(LETTERS.len())]))
            .collect()
    }
}
