//! What surrounds the pods of the sample cluster: nodes, owners, events, config maps, a custom kind.

use std::time::Duration;

use informer_core::Resource;
use serde_json::{Value, json};

use super::{
    Act, Workload,
    apps::{App, Owner, TEMPLATES},
    kind,
};
use crate::{FakeApi, Patch};

/// Events beyond so many are forgotten, the oldest first: the real server forgets them after an hour.
const MAX_EVENTS: usize = 200;
const N_WIDGETS: usize = 12;

fn nodes() -> Resource {
    Resource::cluster("", "v1", "nodes", "Node")
}

fn widgets() -> Resource {
    kind("example.com", "widgets", "Widget")
}

impl Workload {
    /// The cluster as it stands before anything happens.
    pub(super) fn build(&mut self, api: &mut FakeApi) {
        api.backdate = Duration::from_secs(30 * 24 * 3600);
        for node in 0..self.n_nodes() {
            self.build_node(api, node);
            let first = Duration::from_millis(self.rng.range(0..10_000));
            self.plan(api.elapsed() + first, Act::Heartbeat(node));
        }
        self.build_config(api);
        self.build_widgets(api);
        for template in TEMPLATES {
            let replicas = (self.options.pods * template.share / 100).max(1);
            let hash = self.hash();
            let owner_name = match template.owner {
                Owner::Deployment => format!("{}-{hash}", template.name),
                Owner::StatefulSet => template.name.to_owned(),
                Owner::Job => format!("{}-{}", template.name, 29_000_000 + self.rng.range(0..1_000_000)),
            };
            self.apps.push(App {
                template,
                replicas,
                owner_name,
                owner_uid: String::new(),
                hash,
                n_ready: 0,
            });
            let app = self.apps.len() - 1;
            api.backdate = Duration::from_secs(self.rng.range(6..20) * 24 * 3600);
            self.build_owner(api, app);
        }
        for app in 0..self.apps.len() {
            for ordinal in 0..self.apps[app].replicas {
                self.settled_pod(api, app, ordinal);
            }
            self.write_owner_status(api, app);
        }
        api.backdate = Duration::ZERO;
        self.plan(api.elapsed() + Duration::from_secs(2), Act::Edit);
    }

    fn hash(&mut self) -> String {
        format!("{:010x}", self.rng.bits() >> 24)
    }

    fn put(api: &mut FakeApi, resource: &Resource, object: Value) -> Option<Value> {
        // The kinds are served; a script that removed one gets a cluster without it.
        api.put(resource, object).ok()
    }

    fn build_node(&self, api: &mut FakeApi, node: usize) {
        let name = self.node_name(node);
        let zone = format!("zone-{}", ["a", "b", "c"][node % 3]);
        let now = api.wall();
        let condition = |kind: &str, status: &str, reason: &str| {
            json!({
                "type": kind, "status": status, "reason": reason, "lastHeartbeatTime": now, "lastTransitionTime": now,
            })
        };
        let object = json!({
            "metadata": {"name": name, "labels": {
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "topology.kubernetes.io/zone": zone,
            }},
            "spec": {"podCIDR": format!("10.244.{node}.0/24"), "providerID": format!("sample://{zone}/{name}")},
            "status": {
                "capacity": {"cpu": "16", "memory": "65536Mi", "pods": "110"},
                "allocatable": {"cpu": "15800m", "memory": "63488Mi", "pods": "110"},
                "conditions": [
                    condition("MemoryPressure", "False", "KubeletHasSufficientMemory"),
                    condition("DiskPressure", "False", "KubeletHasNoDiskPressure"),
                    condition("Ready", "True", "KubeletReady"),
                ],
                "addresses": [
                    {"type": "InternalIP", "address": format!("192.168.1.{}", node + 10)},
                    {"type": "Hostname", "address": name},
                ],
                "nodeInfo": {"kubeletVersion": "v1.37.2", "osImage": "Sample Linux 12", "containerRuntimeVersion": "containerd://2.2.0"},
            },
        });
        Self::put(api, &nodes(), object);
    }

    /// A node renews its lease, and now and then its status.
    pub(super) fn heartbeat(&mut self, api: &mut FakeApi, node: usize) {
        let name = self.node_name(node);
        let now = api.wall();
        let lease = json!({
            "metadata": {"name": name, "namespace": "kube-node-lease"},
            "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": now.replace('Z', ".000000Z")},
        });
        Self::put(api, &kind("coordination.k8s.io", "leases", "Lease"), lease);
        if self.rng.chance(0.2) {
            let operations: Vec<Value> = (0..3)
                .map(|index| {
                    json!({"op": "replace", "path": format!("/status/conditions/{index}/lastHeartbeatTime"), "value": now})
                })
                .collect();
            // Somebody may have deleted the node or its conditions: then it has none to renew.
            let _renewed = api.patch_status(&nodes(), None, &name, &Patch::Json(operations.into()));
        }
    }

    fn build_owner(&mut self, api: &mut FakeApi, app: usize) {
        let namespace = self.options.namespace.clone();
        let App {
            template,
            replicas,
            owner_name,
            hash,
            ..
        } = &self.apps[app];
        let selector = json!({"matchLabels": {"app": template.name}});
        let meta = |name: &str| json!({"name": name, "namespace": namespace, "labels": {"app": template.name, "tier": template.tier}});
        let containers: Vec<Value> = template
            .containers
            .iter()
            .map(|it| json!({"name": it.name, "image": it.image}))
            .collect();
        let pod_template =
            json!({"metadata": {"labels": {"app": template.name}}, "spec": {"containers": containers}});
        let spec = json!({"replicas": replicas, "selector": selector, "template": pod_template});
        let owner = match template.owner {
            Owner::Deployment => {
                let deployment = json!({"metadata": meta(template.name), "spec": spec});
                let deployment = Self::put(api, &kind("apps", "deployments", "Deployment"), deployment);
                let uid = deployment.map_or(Value::Null, |it| it["metadata"]["uid"].clone());
                let mut metadata = meta(owner_name);
                metadata["labels"]["pod-template-hash"] = hash.as_str().into();
                metadata["ownerReferences"] = json!([{
                    "apiVersion": "apps/v1", "kind": "Deployment", "name": template.name, "uid": uid, "controller": true,
                }]);
                let set = json!({"metadata": metadata, "spec": spec});
                Self::put(api, &kind("apps", "replicasets", "ReplicaSet"), set)
            }
            Owner::StatefulSet => {
                let set = json!({"metadata": meta(template.name), "spec": spec});
                Self::put(api, &kind("apps", "statefulsets", "StatefulSet"), set)
            }
            Owner::Job => {
                let spec = json!({"parallelism": replicas, "selector": selector, "template": pod_template});
                let job = json!({"metadata": meta(owner_name), "spec": spec});
                Self::put(api, &kind("batch", "jobs", "Job"), job)
            }
        };
        let uid = owner.and_then(|it| it["metadata"]["uid"].as_str().map(str::to_owned));
        self.apps[app].owner_uid = uid.unwrap_or_default();
    }

    /// Keeps the owner's count of ready pods.
    pub(super) fn count_ready(&mut self, api: &mut FakeApi, app: usize, was: bool, is: bool) {
        let n_ready = &mut self.apps[app].n_ready;
        match (was, is) {
            (false, true) => *n_ready += 1,
            (true, false) => *n_ready = n_ready.saturating_sub(1),
            _ => return,
        }
        self.write_owner_status(api, app);
    }

    fn write_owner_status(&self, api: &mut FakeApi, app: usize) {
        let App {
            template,
            replicas,
            owner_name,
            n_ready,
            ..
        } = &self.apps[app];
        let namespace = Some(self.options.namespace.as_str());
        let counts = json!({"status": {
            "replicas": replicas, "readyReplicas": n_ready, "availableReplicas": n_ready, "updatedReplicas": replicas,
        }});
        let owners = match template.owner {
            Owner::Deployment => vec![
                (
                    kind("apps", "replicasets", "ReplicaSet"),
                    owner_name.as_str(),
                    &counts,
                ),
                (kind("apps", "deployments", "Deployment"), template.name, &counts),
            ],
            Owner::StatefulSet => vec![(
                kind("apps", "statefulsets", "StatefulSet"),
                template.name,
                &counts,
            )],
            Owner::Job => {
                let active = json!({"status": {"active": replicas, "ready": n_ready}});
                let job = kind("batch", "jobs", "Job");
                let _counted = api.patch_status(&job, namespace, owner_name, &Patch::Merge(active));
                return;
            }
        };
        for (owner, name, counts) in owners {
            // Somebody may have deleted it.
            let _counted = api.patch_status(&owner, namespace, name, &Patch::Merge(counts.clone()));
        }
    }

    /// Writes an event about a pod.
    pub(super) fn tell(&mut self, api: &mut FakeApi, pod: u64, severity: &str, reason: &str, message: &str) {
        let Some(pod) = self.pods.get(&pod) else { return };
        let events = kind("", "events", "Event");
        let name = format!("{}.{:016x}", pod.name, self.rng.bits());
        let now = api.wall();
        let event = json!({
            "metadata": {"name": name, "namespace": self.options.namespace},
            "involvedObject": {"kind": "Pod", "apiVersion": "v1", "namespace": self.options.namespace, "name": pod.name},
            "reason": reason,
            "message": message,
            "type": severity,
            "count": 1,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "source": {"component": if reason == "Scheduled" { "default-scheduler" } else { "kubelet" }},
        });
        Self::put(api, &events, event);
        self.events.push_back(name);
        if self.events.len() > MAX_EVENTS
            && let Some(oldest) = self.events.pop_front()
        {
            let _gone = api.delete(&events, Some(&self.options.namespace), &oldest);
        }
    }

    fn build_config(&self, api: &mut FakeApi) {
        let namespace = &self.options.namespace;
        for (name, data) in [
            (
                "kube-root-ca.crt",
                json!({"ca.crt": "-----BEGIN CERTIFICATE-----\nc2FtcGxl\n-----END CERTIFICATE-----\n"}),
            ),
            (
                "feature-flags",
                json!({"new-checkout": "false", "dark-mode": "true", "rollout": "0"}),
            ),
            (
                "frontend-config",
                json!({"nginx.conf": "worker_processes auto;\n", "theme": "plain"}),
            ),
        ] {
            let object = json!({"metadata": {"name": name, "namespace": namespace}, "data": data});
            Self::put(api, &kind("", "configmaps", "ConfigMap"), object);
        }
    }

    fn build_widgets(&mut self, api: &mut FakeApi) {
        let definition = json!({
            "metadata": {"name": "widgets.example.com"},
            "spec": {
                "group": "example.com",
                "scope": "Namespaced",
                "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList", "shortNames": ["wd"]},
                "versions": [{
                    "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                    "selectableFields": [{"jsonPath": ".spec.color"}],
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
                }],
            },
        });
        let definitions = Resource::cluster(
            "apiextensions.k8s.io",
            "v1",
            "customresourcedefinitions",
            "CustomResourceDefinition",
        );
        Self::put(api, &definitions, definition);
        for index in 0..N_WIDGETS {
            let color = ["red", "green", "blue"][index % 3];
            let widget = json!({
                "metadata": {
                    "name": format!("widget-{index:02}"), "namespace": self.options.namespace, "labels": {"color": color},
                },
                "spec": {"color": color, "size": self.rng.range(1..10)},
                "status": {"phase": "Ready"},
            });
            Self::put(api, &widgets(), widget);
        }
    }

    /// Somebody edits something.
    pub(super) fn edit(&mut self, api: &mut FakeApi) {
        let namespace = Some(self.options.namespace.as_str());
        // What is edited may have been deleted by somebody else: then nothing is.
        let _edited = if self.rng.chance(0.4) {
            let rollout = self.rng.range(0..101).to_string();
            let patch = Patch::Merge(json!({"data": {"rollout": rollout}}));
            api.patch(
                &kind("", "configmaps", "ConfigMap"),
                namespace,
                "feature-flags",
                &patch,
            )
        } else {
            let name = format!("widget-{:02}", self.rng.index(N_WIDGETS));
            let patch = Patch::Merge(json!({"spec": {"size": self.rng.range(1..10)}}));
            api.patch(&widgets(), namespace, &name, &patch)
        };
    }
}
