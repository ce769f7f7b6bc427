//! The row of a pod (kubernetes `printers/internalversion.printPod`).

use serde_json::{Value, json};

use super::{age, cells::text};

/// The cells after the name.
pub(super) fn cells(object: &Value, now: u64) -> Vec<Value> {
    let list = |pointer: &str| {
        object
            .pointer(pointer)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let statuses = list("/status/containerStatuses");
    let n_ready = statuses.iter().filter(|it| is_running(it)).count();
    let n_restarts: i64 = statuses.iter().filter_map(|it| it["restartCount"].as_i64()).sum();
    let last = statuses
        .iter()
        .filter_map(|it| it.pointer("/lastState/terminated/finishedAt")?.as_str())
        .max();
    let restarts = match last {
        Some(last) if n_restarts > 0 => format!("{n_restarts} ({} ago)", age::since(Some(&last.into()), now)),
        _ => n_restarts.to_string(),
    };
    let or_none = |pointer: &str| match text(object, pointer) {
        "" => "<none>".to_owned(),
        found => found.to_owned(),
    };
    vec![
        format!("{n_ready}/{}", list("/spec/containers").len()).into(),
        status(object, &statuses).into(),
        restarts.into(),
        age::since(object.pointer("/metadata/creationTimestamp"), now).into(),
        or_none("/status/podIPs/0/ip").into(),
        or_none("/spec/nodeName").into(),
        or_none("/status/nominatedNodeName").into(),
        gates(&list("/spec/readinessGates"), &list("/status/conditions")).into(),
    ]
}

fn is_running(status: &Value) -> bool {
    status["ready"] == true && status.pointer("/state/running").is_some()
}

/// The phase, or what says more.
fn status(object: &Value, statuses: &[Value]) -> String {
    let phase = text(object, "/status/phase");
    let mut reason = match text(object, "/status/reason") {
        "" => phase.to_owned(),
        reason => reason.to_owned(),
    };
    let mut failed = None;
    for status in statuses.iter().rev() {
        let waiting = text(status, "/state/waiting/reason");
        if !waiting.is_empty() {
            waiting.clone_into(&mut reason);
        } else if let Some(ended) = status.pointer("/state/terminated") {
            let code = ended["exitCode"].as_i64().unwrap_or(0);
            reason = match text(ended, "/reason") {
                "" => format!("ExitCode:{code}"),
                found => found.to_owned(),
            };
            if code != 0 {
                failed = Some(reason.clone());
            }
        }
    }
    let some_run = statuses.iter().any(is_running);
    if reason == "Completed" {
        let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
        let is_ready = conditions
            .into_iter()
            .flatten()
            .any(|it| it["type"] == "Ready" && it["status"] == "True");
        reason = match failed {
            _ if some_run && is_ready => "Running".to_owned(),
            Some(failed) => failed,
            None if some_run => "NotReady".to_owned(),
            None => reason,
        };
    }
    let is_over = matches!(phase, "Succeeded" | "Failed");
    if object.pointer("/metadata/deletionTimestamp").is_some() && !is_over {
        return "Terminating".to_owned();
    }
    reason
}

fn gates(gates: &[Value], conditions: &[Value]) -> String {
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let holds = |gate: &&Value| {
        let mut conditions = conditions.iter();
        conditions.any(|it| it["type"] == gate["conditionType"] && it["status"] == json!("True"))
    };
    format!("{}/{}", gates.iter().filter(holds).count(), gates.len())
}
