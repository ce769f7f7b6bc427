//! Running pods of deployments, about as large as those of real clusters: 7.4 KB of compact JSON or 5.1 KB of protobuf, of which the
//! managed fields of two managers are a good part.

use informer_core::Resource;
use serde_json::{Value, json};

/// The kind.
#[must_use]
pub fn resource() -> Resource {
    Resource::namespaced("", "v1", "pods", "Pod")
}

/// So many pods each have one deployment.
const N_REPLICAS: usize = 40;

fn hash(i: usize, salt: u64) -> u64 {
    (i as u64 ^ salt.rotate_left(17))
        .wrapping_add(0x9e37_79b9_7f4a_7c15)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9)
        .rotate_right(23)
        .wrapping_mul(0x94d0_49bb_1331_11eb)
}

fn deployment(i: usize) -> (String, String) {
    let at = i / N_REPLICAS;
    let template = hash(at, 1) % 0xff_ffff_ffff;
    (format!("service-{at:03}"), format!("{template:010x}"))
}

pub(crate) fn name(i: usize) -> String {
    let (name, template) = deployment(i);
    // The index in its own letters, so that no two are the same.
    format!("{name}-{template}-{i:05}")
}

fn digest(i: usize, salt: u64) -> String {
    let part = |at| hash(i, salt + at);
    format!("{:016x}{:016x}{:016x}{:016x}", part(0), part(1), part(2), part(3))
}

fn uid(i: usize, salt: u64) -> String {
    let (high, low) = (hash(i, salt), hash(i, salt + 1));
    format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        high >> 32,
        high & 0xffff,
        high >> 16 & 0xfff,
        low >> 48 & 0xfff,
        low & 0xffff_ffff_ffff
    )
}

fn image(i: usize) -> String {
    let at = i / N_REPLICAS;
    format!(
        "registry.example.com/team-{:02}/service-{at:03}:v1.{}.{}",
        at % 20,
        at % 40,
        at % 7
    )
}

/// What a replica set would create.
pub(crate) fn pod(i: usize) -> Value {
    let (of, template) = deployment(i);
    let at = i / N_REPLICAS;
    let mut pod = json!({
        "metadata": {
            "name": name(i),
            "generateName": format!("{of}-{template}-"),
            "labels": {
                "app.kubernetes.io/name": of,
                "app.kubernetes.io/part-of": format!("product-{:02}", at % 20),
                "pod-template-hash": template,
            },
            "annotations": {
                "checksum/config": digest(at, 10),
                "prometheus.io/port": "8080",
                "prometheus.io/scrape": "true",
            },
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": format!("{of}-{template}"),
                "uid": uid(at, 20), "controller": true, "blockOwnerDeletion": true,
            }],
        },
        "spec": spec(i),
    });
    pod["spec"]["containers"] = json!([container(i)]);
    pod
}

fn spec(i: usize) -> Value {
    let (of, _) = deployment(i);
    let tolerate = |what: &str| json!({"key": what, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
    json!({
        "nodeName": format!("node-{:04}.example.com", hash(i, 30) % 400),
        "serviceAccountName": of,
        "securityContext": {"runAsNonRoot": true, "runAsUser": 65532, "fsGroup": 65532},
        "tolerations": [tolerate("node.kubernetes.io/not-ready"), tolerate("node.kubernetes.io/unreachable")],
        "volumes": [
            {"name": "config", "configMap": {"name": format!("{of}-config")}},
            {"name": "kube-api-access", "projected": {"sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            ]}},
        ],
    })
}

fn container(i: usize) -> Value {
    let (of, _) = deployment(i);
    let probe = |path: &str| json!({"httpGet": {"path": path, "port": "http"}, "periodSeconds": 10});
    json!({
        "name": "app",
        "image": image(i),
        "args": ["--config=/etc/app/config.yaml", "--log-level=info"],
        "env": [
            {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            {"name": "DATABASE_HOST", "value": format!("{of}-db.example.com")},
            {"name": "DATABASE_PASSWORD", "valueFrom": {"secretKeyRef": {"name": format!("{of}-db"), "key": "password"}}},
        ],
        "ports": [{"containerPort": 8080, "name": "http"}],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
        "livenessProbe": probe("/healthz"),
        "readinessProbe": probe("/readyz"),
        "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [
            {"name": "config", "mountPath": "/etc/app", "readOnly": true},
            {"name": "kube-api-access", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true},
        ],
    })
}

/// What its kubelet would say of it.
pub(crate) fn status(i: usize) -> Value {
    let since = format!(
        "2026-03-{:02}T{:02}:{:02}:{:02}Z",
        i % 28 + 1,
        i % 24,
        i % 60,
        i * 7 % 60
    );
    let condition = |name: &str| json!({"type": name, "status": "True", "lastTransitionTime": since});
    let address = format!("10.{}.{}.{}", i >> 14 & 0x3f, i >> 7 & 0x7f, i & 0x7f);
    let host = format!(
        "172.16.{}.{}",
        hash(i, 30) % 400 / 250,
        hash(i, 30) % 400 % 250 + 1
    );
    json!({"status": {
        "phase": "Running",
        "conditions": [
            condition("PodReadyToStartContainers"), condition("Initialized"), condition("Ready"), condition("ContainersReady"),
            condition("PodScheduled"),
        ],
        "hostIP": host, "hostIPs": [{"ip": host}],
        "podIP": address, "podIPs": [{"ip": address}],
        "startTime": since,
        "containerStatuses": [{
            "name": "app",
            "image": image(i),
            "imageID": format!("{}@sha256:{}", image(i).split(':').next().unwrap_or_default(), digest(i / N_REPLICAS, 40)),
            "containerID": format!("containerd://{}", digest(i, 50)),
            "ready": true, "started": true, "restartCount": 0,
            "state": {"running": {"startedAt": since}},
        }],
    }})
}
