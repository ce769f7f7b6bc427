//! The columns of pods. What the status says is worked out as `kubectl get pods` does (kubernetes `printPod`).

use serde_json::Value;

use super::{has_condition, items, number, text};

pub(super) const TITLES: &[&str] = &["READY", "STATUS", "RESTARTS", "NODE"];

pub(super) fn cells(pod: &Value) -> Vec<String> {
    let n_containers = items(pod, "/spec/containers").count();
    let is_ready = |it: &&Value| it.pointer("/ready").and_then(Value::as_bool) == Some(true);
    let n_ready = items(pod, "/status/containerStatuses")
        .filter(is_ready)
        .filter(|it| it.pointer("/state/running").is_some())
        .count();
    let node = text(pod, "/spec/nodeName");
    vec![
        format!("{n_ready}/{n_containers}"),
        status(pod),
        restarts(pod).to_string(),
        if node.is_empty() {
            "<none>".to_owned()
        } else {
            node.to_owned()
        },
    ]
}

fn restarts(pod: &Value) -> i64 {
    let of = |list| {
        items(pod, list)
            .map(|it| number(it, "/restartCount"))
            .sum::<i64>()
    };
    match initializing(pod) {
        Some(_) => of("/status/initContainerStatuses"),
        None => of("/status/containerStatuses"),
    }
}

fn status(pod: &Value) -> String {
    if pod
        .pointer("/metadata/deletionTimestamp")
        .is_some_and(|it| !it.is_null())
    {
        return if text(pod, "/status/reason") == "NodeLost" {
            "Unknown"
        } else {
            "Terminating"
        }
        .to_owned();
    }
    if let Some(reason) = initializing(pod) {
        return reason;
    }
    let reason = match text(pod, "/status/reason") {
        "" => text(pod, "/status/phase"),
        reason => reason,
    };
    match of_containers(pod) {
        // All that is left of a pod with a finished container, one of whose others still runs.
        Some(reason) if reason == "Completed" && runs(pod) => if has_condition(pod, "Ready", "True") {
            "Running"
        } else {
            "NotReady"
        }
        .to_owned(),
        Some(reason) => reason,
        None if reason.is_empty() => "Unknown".to_owned(),
        None => reason.to_owned(),
    }
}

fn runs(pod: &Value) -> bool {
    items(pod, "/status/containerStatuses").any(|it| it.pointer("/state/running").is_some())
}

/// The reason of the first container that waits or ended.
fn of_containers(pod: &Value) -> Option<String> {
    items(pod, "/status/containerStatuses").find_map(|it| {
        let waiting = text(it, "/state/waiting/reason");
        if !waiting.is_empty() {
            return Some(waiting.to_owned());
        }
        it.pointer("/state/terminated").map(ended)
    })
}

/// What an init container that is not done says: `Init:1/3`, `Init:Error`.
fn initializing(pod: &Value) -> Option<String> {
    let n_all = items(pod, "/spec/initContainers").count();
    for (at, container) in items(pod, "/status/initContainerStatuses").enumerate() {
        if let Some(terminated) = container.pointer("/state/terminated") {
            if number(terminated, "/exitCode") == 0 {
                continue;
            }
            return Some(format!("Init:{}", ended(terminated)));
        }
        let started = container.pointer("/started").and_then(Value::as_bool) == Some(true);
        if started && restarts_always(pod, text(container, "/name")) {
            continue;
        }
        let waiting = text(container, "/state/waiting/reason");
        return Some(if waiting.is_empty() || waiting == "PodInitializing" {
            format!("Init:{at}/{n_all}")
        } else {
            format!("Init:{waiting}")
        });
    }
    None
}

/// Whether an init container is a sidecar, which runs on.
fn restarts_always(pod: &Value, name: &str) -> bool {
    items(pod, "/spec/initContainers")
        .any(|it| text(it, "/name") == name && text(it, "/restartPolicy") == "Always")
}

fn ended(terminated: &Value) -> String {
    match text(terminated, "/reason") {
        "" => match number(terminated, "/signal") {
            0 => format!("ExitCode:{}", number(terminated, "/exitCode")),
            signal => format!("Signal:{signal}"),
        },
        reason => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(status: &Value) -> Value {
        json!({"spec": {"containers": [{"name": "a"}, {"name": "b"}], "nodeName": "n1"}, "status": status})
    }

    #[test]
    fn running_pod_counts_ready_containers_and_restarts() {
        let status = json!({"phase": "Running", "containerStatuses": [
            {"ready": true, "restartCount": 2, "state": {"running": {}}},
            {"ready": false, "restartCount": 1, "state": {"running": {}}},
        ]});
        assert_eq!(cells(&pod(&status)), ["1/2", "Running", "3", "n1"]);
    }

    #[test]
    fn status_is_the_reason_of_a_container_before_the_phase() {
        let check = |status: Value, expected: &str| assert_eq!(cells(&pod(&status))[1], expected, "{status}");
        check(json!({"phase": "Pending"}), "Pending");
        check(json!({"phase": "Failed", "reason": "Evicted"}), "Evicted");
        check(
            json!({"phase": "Pending", "containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff"}}}]}),
            "ImagePullBackOff",
        );
        check(
            json!({"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}]}),
            "ExitCode:3",
        );
        check(
            json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}], "containerStatuses": [
                {"state": {"terminated": {"reason": "Completed"}}}, {"state": {"running": {}}}]}),
            "NotReady",
        );
    }

    #[test]
    fn init_containers_come_first_unless_they_are_started_sidecars() {
        let mut it = pod(&json!({"phase": "Pending", "initContainerStatuses": [
            {"name": "s", "started": true, "state": {"running": {}}},
            {"name": "i", "state": {"waiting": {"reason": "PodInitializing"}}, "restartCount": 4},
        ]}));
        it["spec"]["initContainers"] = json!([{"name": "s", "restartPolicy": "Always"}, {"name": "i"}]);
        assert_eq!(cells(&it)[1..3], ["Init:1/2", "4"]);
    }

    #[test]
    fn marked_pod_is_terminating() {
        let mut it = pod(&json!({"phase": "Running"}));
        it["metadata"] = json!({"deletionTimestamp": "2026-01-01T00:00:00Z"});
        assert_eq!(cells(&it)[1], "Terminating");
    }
}
