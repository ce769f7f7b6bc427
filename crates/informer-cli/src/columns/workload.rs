//! The columns of the other kinds.

use serde_json::Value;

use super::{has_condition, items, n_entries, number, text};

pub(super) fn node(node: &Value) -> Vec<String> {
    let mut status = if has_condition(node, "Ready", "True") {
        "Ready"
    } else {
        "NotReady"
    }
    .to_owned();
    if node.pointer("/spec/unschedulable").and_then(Value::as_bool) == Some(true) {
        status.push_str(",SchedulingDisabled");
    }
    let roles: Vec<&str> = node
        .pointer("/metadata/labels")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(label, _)| label.strip_prefix("node-role.kubernetes.io/"))
        .collect();
    let roles = if roles.is_empty() {
        "<none>".to_owned()
    } else {
        roles.join(",")
    };
    vec![
        status,
        roles,
        text(node, "/status/nodeInfo/kubeletVersion").to_owned(),
    ]
}

pub(super) fn service(service: &Value) -> Vec<String> {
    let ports: Vec<String> = items(service, "/spec/ports")
        .map(|it| match text(it, "/protocol") {
            "" => format!("{}/TCP", number(it, "/port")),
            protocol => format!("{}/{protocol}", number(it, "/port")),
        })
        .collect();
    vec![
        text(service, "/spec/type").to_owned(),
        text(service, "/spec/clusterIP").to_owned(),
        if ports.is_empty() {
            "<none>".to_owned()
        } else {
            ports.join(",")
        },
    ]
}

pub(super) fn config_map(it: &Value) -> Vec<String> {
    vec![(n_entries(it, "/data") + n_entries(it, "/binaryData")).to_string()]
}

pub(super) fn secret(it: &Value) -> Vec<String> {
    vec![text(it, "/type").to_owned(), n_entries(it, "/data").to_string()]
}

pub(super) fn phase(it: &Value) -> Vec<String> {
    vec![text(it, "/status/phase").to_owned()]
}

/// Events of the core group and of `events.k8s.io` name the same things differently.
pub(super) fn event(event: &Value) -> Vec<String> {
    let subject = if event.get("regarding").is_some() {
        "/regarding"
    } else {
        "/involvedObject"
    };
    let kind = text(event, &format!("{subject}/kind")).to_lowercase();
    let message = match text(event, "/message") {
        "" => text(event, "/note"),
        message => message,
    };
    vec![
        text(event, "/type").to_owned(),
        text(event, "/reason").to_owned(),
        format!("{kind}/{}", text(event, &format!("{subject}/name"))),
        message.lines().next().unwrap_or_default().to_owned(),
    ]
}

pub(super) fn deployment(it: &Value) -> Vec<String> {
    vec![
        format!(
            "{}/{}",
            number(it, "/status/readyReplicas"),
            number(it, "/spec/replicas")
        ),
        number(it, "/status/updatedReplicas").to_string(),
        number(it, "/status/availableReplicas").to_string(),
    ]
}

pub(super) fn replica_set(it: &Value) -> Vec<String> {
    ["/spec/replicas", "/status/replicas", "/status/readyReplicas"]
        .map(|at| number(it, at).to_string())
        .into()
}

pub(super) fn stateful_set(it: &Value) -> Vec<String> {
    vec![format!(
        "{}/{}",
        number(it, "/status/readyReplicas"),
        number(it, "/spec/replicas")
    )]
}

pub(super) fn daemon_set(it: &Value) -> Vec<String> {
    [
        "/status/desiredNumberScheduled",
        "/status/currentNumberScheduled",
        "/status/numberReady",
        "/status/numberAvailable",
    ]
    .map(|at| number(it, at).to_string())
    .into()
}

pub(super) fn job(job: &Value) -> Vec<String> {
    let status = if has_condition(job, "Complete", "True") {
        "Complete"
    } else if has_condition(job, "Failed", "True") {
        "Failed"
    } else if has_condition(job, "Suspended", "True") {
        "Suspended"
    } else {
        "Running"
    };
    let wanted = job
        .pointer("/spec/completions")
        .and_then(Value::as_i64)
        .unwrap_or(1);
    vec![
        status.to_owned(),
        format!("{}/{wanted}", number(job, "/status/succeeded")),
    ]
}

pub(super) fn lease(it: &Value) -> Vec<String> {
    vec![text(it, "/spec/holderIdentity").to_owned()]
}

pub(super) fn custom_resource_definition(it: &Value) -> Vec<String> {
    let versions: Vec<&str> = items(it, "/spec/versions")
        .map(|version| text(version, "/name"))
        .collect();
    vec![text(it, "/spec/scope").to_owned(), versions.join(",")]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn node_names_its_roles_and_whether_it_takes_pods() {
        let it = json!({"metadata": {"labels": {"node-role.kubernetes.io/control-plane": ""}},
            "spec": {"unschedulable": true},
            "status": {"conditions": [{"type": "Ready", "status": "True"}], "nodeInfo": {"kubeletVersion": "v1.37.2"}}});
        assert_eq!(
            node(&it),
            ["Ready,SchedulingDisabled", "control-plane", "v1.37.2"]
        );
    }

    #[test]
    fn event_reads_either_group() {
        let core = json!({"type": "Normal", "reason": "Pulled", "message": "a\nb", "involvedObject": {"kind": "Pod", "name": "p"}});
        let new = json!({"type": "Normal", "reason": "Pulled", "note": "a", "regarding": {"kind": "Pod", "name": "p"}});
        assert_eq!(event(&core), ["Normal", "Pulled", "pod/p", "a"]);
        assert_eq!(event(&core), event(&new));
    }

    #[test]
    fn absent_numbers_are_zero() {
        assert_eq!(deployment(&json!({"spec": {"replicas": 3}})), ["0/3", "0", "0"]);
        assert_eq!(job(&json!({})), ["Running", "0/1"]);
    }
}
