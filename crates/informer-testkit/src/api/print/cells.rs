//! The cells of a row, by kind (kubernetes `printers/internalversion`).

use serde_json::{Value, json};

use super::{
    super::{ResourceDef, def::Printed},
    age, pod,
};

pub(super) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or("")
}

fn number(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}

fn list<'a>(object: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    object
        .pointer(pointer)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn n_fields(object: &Value, pointer: &str) -> usize {
    object
        .pointer(pointer)
        .and_then(Value::as_object)
        .map_or(0, serde_json::Map::len)
}

fn or_none(text: String) -> Value {
    if text.is_empty() {
        "<none>".into()
    } else {
        text.into()
    }
}

/// `a=b,c=d`.
fn pairs(object: &Value, pointer: &str) -> String {
    let fields = object
        .pointer(pointer)
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let pairs: Vec<String> = fields
        .filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?)))
        .collect();
    pairs.join(",")
}

/// The cells in the order of the columns.
pub(super) fn of(def: &ResourceDef, object: &Value, now: u64) -> Vec<Value> {
    let name = Value::from(text(object, "/metadata/name"));
    let age = || Value::from(age::since(object.pointer("/metadata/creationTimestamp"), now));
    if def.custom {
        return custom(def, object, name, now);
    }
    let rest = match &*def.resource.kind {
        "Event" => return event(object, now),
        "Pod" => pod::cells(object, now),
        "Node" => node(object, age()),
        "Namespace" => vec![text(object, "/status/phase").into(), age()],
        "ConfigMap" => {
            let n = n_fields(object, "/data") + n_fields(object, "/binaryData");
            vec![n.to_string().into(), age()]
        }
        "Secret" => {
            let kind = text(object, "/type");
            let kind = if kind.is_empty() { "Opaque" } else { kind };
            vec![kind.into(), n_fields(object, "/data").to_string().into(), age()]
        }
        "Lease" => vec![text(object, "/spec/holderIdentity").into(), age()],
        "Service" => service(object, age()),
        "Deployment" => {
            let wanted = object
                .pointer("/spec/replicas")
                .and_then(Value::as_i64)
                .unwrap_or(1);
            let mut cells = vec![
                format!("{}/{wanted}", number(object, "/status/readyReplicas")).into(),
                number(object, "/status/updatedReplicas").to_string().into(),
                number(object, "/status/availableReplicas").to_string().into(),
                age(),
            ];
            cells.extend(template(object, true));
            cells
        }
        "StatefulSet" => {
            let wanted = object
                .pointer("/spec/replicas")
                .and_then(Value::as_i64)
                .unwrap_or(1);
            let ready = format!("{}/{wanted}", number(object, "/status/readyReplicas"));
            let mut cells = vec![ready.into(), age()];
            cells.extend(template(object, false));
            cells
        }
        "ReplicaSet" | "ReplicationController" => {
            let wanted = object
                .pointer("/spec/replicas")
                .and_then(Value::as_i64)
                .unwrap_or(1);
            let mut cells = vec![
                wanted.into(),
                number(object, "/status/replicas").into(),
                number(object, "/status/readyReplicas").into(),
                age(),
            ];
            cells.extend(template(object, true));
            cells
        }
        "DaemonSet" => {
            let status = |field: &str| Value::from(number(object, &format!("/status/{field}")));
            let mut cells = vec![
                status("desiredNumberScheduled"),
                status("currentNumberScheduled"),
                status("numberReady"),
                status("updatedNumberScheduled"),
                status("numberAvailable"),
                or_none(pairs(object, "/spec/template/spec/nodeSelector")),
                age(),
            ];
            cells.extend(template(object, true));
            cells
        }
        _ => vec![age()],
    };
    [name].into_iter().chain(rest).collect()
}

/// The cells of a custom resource (apiextensions `tableconvertor.ConvertToTable`).
fn custom(def: &ResourceDef, object: &Value, name: Value, now: u64) -> Vec<Value> {
    let cell = |printed: &Printed| {
        let found = printed.path.first(object)?;
        match &*printed.kind {
            "string" => go(found).map(Value::from),
            "integer" => {
                let whole = found.as_i64();
                #[expect(clippy::cast_possible_truncation, reason = "as upstream does")]
                let whole = whole.or_else(|| found.as_f64().map(|it| it as i64));
                whole.map(Value::from)
            }
            "number" => found.is_number().then(|| found.clone()),
            "boolean" => found.is_boolean().then(|| found.clone()),
            "date" => match found.as_str()? {
                "" => Some("<unknown>".into()),
                text if text.parse::<jiff::Timestamp>().is_err() => Some("<invalid>".into()),
                _ => Some(age::since(Some(found), now).into()),
            },
            _ => None,
        }
    };
    let cells = def.printed.iter().map(|it| cell(it).unwrap_or(Value::Null));
    [name].into_iter().chain(cells).collect()
}

/// A value as Go prints it; nothing for none.
fn go(value: &Value) -> Option<String> {
    let inner = |value: &Value| go(value).unwrap_or_else(|| "<nil>".to_owned());
    Some(match value {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(inner).collect();
            format!("[{}]", items.join(" "))
        }
        Value::Object(fields) => {
            let mut fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{name}:{}", inner(value)))
                .collect();
            fields.sort();
            format!("map[{}]", fields.join(" "))
        }
        other => other.to_string(),
    })
}

/// Containers, images and the selector.
fn template(object: &Value, selector: bool) -> Vec<Value> {
    let of = |field: &str| {
        let containers = list(object, "/spec/template/spec/containers");
        let values: Vec<&str> = containers.map(|it| it[field].as_str().unwrap_or("")).collect();
        Value::from(values.join(","))
    };
    let mut cells = vec![of("name"), of("image")];
    if selector {
        let by_labels = pairs(object, "/spec/selector/matchLabels");
        let plain = pairs(object, "/spec/selector");
        cells.push(or_none(if by_labels.is_empty() { plain } else { by_labels }));
    }
    cells
}

fn node(object: &Value, age: Value) -> Vec<Value> {
    let ready = list(object, "/status/conditions").find(|it| it["type"] == "Ready");
    let mut status = match ready.map(|it| it["status"] == "True") {
        Some(true) => "Ready".to_owned(),
        Some(false) => "NotReady".to_owned(),
        None => "Unknown".to_owned(),
    };
    if object.pointer("/spec/unschedulable") == Some(&json!(true)) {
        status.push_str(",SchedulingDisabled");
    }
    let labels = object.pointer("/metadata/labels").and_then(Value::as_object);
    let roles: Vec<&str> = labels
        .into_iter()
        .flatten()
        .filter_map(|(name, _)| name.strip_prefix("node-role.kubernetes.io/"))
        .collect();
    let address = |kind: &str| {
        let found = list(object, "/status/addresses").find(|it| it["type"] == kind);
        or_none(
            found
                .and_then(|it| it["address"].as_str())
                .unwrap_or("")
                .to_owned(),
        )
    };
    let info = |field: &str| match text(object, &format!("/status/nodeInfo/{field}")) {
        "" => Value::from("<unknown>"),
        found => found.into(),
    };
    vec![
        status.into(),
        or_none(roles.join(",")),
        age,
        text(object, "/status/nodeInfo/kubeletVersion").into(),
        address("InternalIP"),
        address("ExternalIP"),
        info("osImage"),
        info("kernelVersion"),
        info("containerRuntimeVersion"),
    ]
}

fn service(object: &Value, age: Value) -> Vec<Value> {
    let kind = text(object, "/spec/type");
    let ports: Vec<String> = list(object, "/spec/ports")
        .map(|port| {
            let protocol = port["protocol"].as_str().unwrap_or("TCP");
            match port["nodePort"].as_i64() {
                Some(node) if node > 0 => format!("{}:{node}/{protocol}", port["port"]),
                _ => format!("{}/{protocol}", port["port"]),
            }
        })
        .collect();
    vec![
        if kind.is_empty() { "ClusterIP" } else { kind }.into(),
        or_none(text(object, "/spec/clusterIP").to_owned()),
        "<none>".into(),
        or_none(ports.join(",")),
        age,
        or_none(pairs(object, "/spec/selector")),
    ]
}

fn event(object: &Value, now: u64) -> Vec<Value> {
    let time = |fields: [&str; 2]| {
        let mut found = fields
            .iter()
            .filter_map(|field| object.pointer(field).filter(|it| it.is_string()));
        age::since(found.next(), now)
    };
    let about = |field: &str| text(object, &format!("/involvedObject/{field}"));
    let target = format!("{}/{}", about("kind").to_lowercase(), about("name"));
    let component = match text(object, "/source/component") {
        "" => text(object, "/reportingComponent"),
        found => found,
    };
    let source = match text(object, "/source/host") {
        "" => component.to_owned(),
        host => format!("{component}, {host}"),
    };
    let count = number(object, "/count").max(1);
    vec![
        time(["/lastTimestamp", "/eventTime"]).into(),
        text(object, "/type").into(),
        text(object, "/reason").into(),
        target.into(),
        about("fieldPath").into(),
        source.into(),
        text(object, "/message").trim().into(),
        time(["/firstTimestamp", "/eventTime"]).into(),
        count.to_string().into(),
        text(object, "/metadata/name").into(),
    ]
}
