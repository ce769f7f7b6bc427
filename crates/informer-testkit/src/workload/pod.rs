//! A pod as the API server shows it, at any stage of its life.

use serde_json::{Value, json};

use super::{
    apps::{App, Container, Owner},
    life::{Pod, Stage},
};

/// The object. `now` is the wall time, for conditions that change now.
pub(super) fn object(pod: &Pod, app: &App, namespace: &str, node: Option<&str>, now: &str) -> Value {
    json!({
        "metadata": metadata(pod, app, namespace),
        "spec": spec(pod, app, node),
        "status": status(pod, app, now),
    })
}

fn metadata(pod: &Pod, app: &App, namespace: &str) -> Value {
    let template = &app.template;
    let (api_version, kind) = match template.owner {
        Owner::Deployment => ("apps/v1", "ReplicaSet"),
        Owner::StatefulSet => ("apps/v1", "StatefulSet"),
        Owner::Job => ("batch/v1", "Job"),
    };
    let mut labels = json!({
        "app": template.name,
        "app.kubernetes.io/name": template.name,
        "app.kubernetes.io/part-of": "shop",
        "tier": template.tier,
    });
    match template.owner {
        Owner::Deployment => labels["pod-template-hash"] = app.hash.as_str().into(),
        Owner::StatefulSet => labels["statefulset.kubernetes.io/pod-name"] = pod.name.as_str().into(),
        Owner::Job => labels["batch.kubernetes.io/job-name"] = app.owner_name.as_str().into(),
    }
    json!({
        "name": pod.name,
        "namespace": namespace,
        "labels": labels,
        "annotations": {"prometheus.io/scrape": "true", "prometheus.io/port": template.containers[0].port.to_string()},
        "ownerReferences": [{
            "apiVersion": api_version,
            "kind": kind,
            "name": app.owner_name,
            "uid": app.owner_uid,
            "controller": true,
            "blockOwnerDeletion": true,
        }],
    })
}

fn spec(pod: &Pod, app: &App, node: Option<&str>) -> Value {
    let containers: Vec<Value> = app.template.containers.iter().map(container).collect();
    let mut spec = json!({
        "containers": containers,
        "volumes": [{
            "name": "kube-api-access",
            "projected": {"defaultMode": 420, "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            ]},
        }],
        "restartPolicy": if app.template.owner == Owner::Job { "OnFailure" } else { "Always" },
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": app.template.name,
        "serviceAccount": app.template.name,
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "tolerations": [
            {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
            {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
        ],
        "priority": 0,
        "enableServiceLinks": true,
        "preemptionPolicy": "PreemptLowerPriority",
    });
    if let Some(node) = node {
        spec["nodeName"] = node.into();
    }
    if app.template.owner == Owner::StatefulSet {
        spec["hostname"] = pod.name.as_str().into();
        spec["subdomain"] = app.template.name.into();
    }
    spec
}

fn container(container: &Container) -> Value {
    let (cpu, memory) = (
        format!("{}m", container.milli_cpu),
        format!("{}Mi", container.mebibytes),
    );
    let probe = |delay: u32| {
        json!({
            "httpGet": {"path": "/healthz", "port": container.port, "scheme": "HTTP"},
            "initialDelaySeconds": delay, "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3,
        })
    };
    json!({
        "name": container.name,
        "image": container.image,
        "imagePullPolicy": "IfNotPresent",
        "ports": [{"name": "main", "containerPort": container.port, "protocol": "TCP"}],
        "env": [
            {"name": "POD_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}},
            {"name": "LOG_LEVEL", "value": "info"},
        ],
        "resources": {"requests": {"cpu": cpu, "memory": memory}, "limits": {"memory": memory}},
        "livenessProbe": probe(15),
        "readinessProbe": probe(3),
        "volumeMounts": [{
            "name": "kube-api-access", "readOnly": true, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
        }],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    })
}

fn status(pod: &Pod, app: &App, now: &str) -> Value {
    let phase = match pod.stage {
        Stage::Created | Stage::Scheduled => "Pending",
        Stage::Completed => "Succeeded",
        _ => "Running",
    };
    let mut status = json!({
        "phase": phase,
        "qosClass": "Burstable",
        "conditions": conditions(pod, now),
    });
    if pod.stage == Stage::Created {
        return status;
    }
    status["hostIP"] = format!("192.168.1.{}", pod.node + 10).into();
    status["hostIPs"] = json!([{"ip": status["hostIP"]}]);
    status["startTime"] = pod.scheduled.as_str().into();
    if pod.stage != Stage::Scheduled {
        status["podIP"] = pod.ip.as_str().into();
        status["podIPs"] = json!([{"ip": pod.ip}]);
    }
    let statuses: Vec<Value> = app
        .template
        .containers
        .iter()
        .enumerate()
        .map(|(index, container)| container_status(pod, container, index == 0, now))
        .collect();
    status["containerStatuses"] = statuses.into();
    status
}

fn conditions(pod: &Pod, now: &str) -> Value {
    let ready = matches!(pod.stage, Stage::Ready);
    let condition = |kind: &str, holds: bool, since: &str, reason: Option<&str>| {
        let mut condition = json!({
            "type": kind,
            "status": if holds { "True" } else { "False" },
            "lastProbeTime": null,
            "lastTransitionTime": since,
        });
        if let Some(reason) = reason {
            condition["reason"] = reason.into();
        }
        condition
    };
    if pod.stage == Stage::Created {
        return json!([]);
    }
    let since = if ready { pod.ready_since.as_str() } else { now };
    let why = match pod.stage {
        Stage::Ready => None,
        Stage::Completed => Some("PodCompleted"),
        _ => Some("ContainersNotReady"),
    };
    let started = pod.stage != Stage::Scheduled;
    json!([
        condition("PodReadyToStartContainers", started, &pod.scheduled, None),
        condition("Initialized", true, &pod.scheduled, None),
        condition("Ready", ready, since, why),
        condition("ContainersReady", ready, since, why),
        condition("PodScheduled", true, &pod.scheduled, None),
    ])
}

fn container_status(pod: &Pod, container: &Container, is_main: bool, now: &str) -> Value {
    let started = |at: &str| json!({"running": {"startedAt": at}});
    let ended = |code: u32, reason: &str| {
        json!({"terminated": {
            "exitCode": code, "reason": reason, "startedAt": pod.started, "finishedAt": now, "containerID": pod.container_id(container.name),
        }})
    };
    let state = match pod.stage {
        Stage::Created | Stage::Scheduled => json!({"waiting": {"reason": "ContainerCreating"}}),
        Stage::Completed => ended(0, "Completed"),
        Stage::Failed if is_main => ended(1, "Error"),
        Stage::BackOff if is_main => json!({"waiting": {
            "reason": "CrashLoopBackOff",
            "message": format!("back-off restarting failed container={}", container.name),
        }}),
        _ => started(&pod.started),
    };
    let running = state.get("running").is_some();
    let last = if is_main && pod.restarts > 0 && pod.stage != Stage::Failed {
        ended(1, "Error")
    } else {
        json!({})
    };
    let mut status = json!({
        "name": container.name,
        "image": container.image,
        "imageID": "",
        "state": state,
        "lastState": last,
        "ready": running && (pod.stage == Stage::Ready || !is_main),
        "started": running,
        "restartCount": if is_main { pod.restarts } else { 0 },
    });
    if !matches!(pod.stage, Stage::Created | Stage::Scheduled) {
        status["imageID"] = format!("{}@sha256:{}", container.image, pod.digest).into();
        status["containerID"] = pod.container_id(container.name).into();
    }
    status
}
