//! Tables: what `kubectl get` shows (`meta.k8s.io/v1` `Table`), with the columns of the kinds that are looked at most; all others have a
//! name and an age. Columns have no descriptions.

mod age;
mod cells;
mod path;
mod pod;

use serde_json::{Value, json};

use super::{ResourceDef, objects, table::Stored};

pub(crate) use path::JsonPath;

/// What comes with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Include {
    None,
    #[default]
    Metadata,
    Object,
}

/// How a table is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) include: Include,
    /// Seconds since the Unix epoch: ages are until then.
    pub(crate) now: u64,
    /// Whether columns are named: of a watch, only by the first event.
    pub(crate) heads: bool,
}

/// A column.
#[derive(Debug, Clone)]
struct Column {
    name: String,
    kind: String,
    format: String,
    /// Above zero it is not shown unless it is asked for.
    priority: i64,
}

impl Column {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            kind: "string".to_owned(),
            format: String::from(if name == "Name" { "name" } else { "" }),
            priority: 0,
        }
    }

    fn integer(name: &str) -> Self {
        Self {
            kind: "integer".to_owned(),
            ..Self::new(name)
        }
    }

    fn wide(name: &str) -> Self {
        Self {
            priority: 1,
            ..Self::new(name)
        }
    }

    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "type": self.kind,
            "format": self.format,
            "description": "",
            "priority": self.priority,
        })
    }
}

/// A table of objects, with the metadata of the list or of the object.
pub(crate) fn table<'a>(
    def: &ResourceDef,
    style: Style,
    objects: impl Iterator<Item = &'a Stored>,
    metadata: Value,
) -> Value {
    let rows: Vec<Value> = objects.map(|stored| row(def, style, stored)).collect();
    let columns = style
        .heads
        .then(|| columns(def).iter().map(Column::to_json).collect::<Vec<_>>());
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": columns,
        "rows": rows,
    })
}

fn row(def: &ResourceDef, style: Style, stored: &Stored) -> Value {
    let object = objects::parse(stored);
    let cells = cells::of(def, &object, style.now);
    let mut row = json!({"cells": cells, "object": null});
    match style.include {
        Include::None => {}
        Include::Metadata => {
            row["object"] = json!({
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": object.get("metadata"),
            });
        }
        Include::Object => row["object"] = super::render::value(def, stored),
    }
    row
}

fn columns(def: &ResourceDef) -> Vec<Column> {
    let named = |names: &[&str]| names.iter().copied().map(Column::new).collect::<Vec<_>>();
    let wide = |names: &[&str]| names.iter().copied().map(Column::wide).collect::<Vec<_>>();
    let numbers = |names: &[&str]| names.iter().copied().map(Column::integer).collect::<Vec<_>>();
    let templates = ["Containers", "Images", "Selector"];
    if def.custom {
        let mut columns = named(&["Name"]);
        columns.extend(def.printed.iter().map(|printed| Column {
            name: printed.name.clone(),
            kind: printed.kind.clone(),
            format: printed.format.clone(),
            priority: printed.priority,
        }));
        return columns;
    }
    match &*def.resource.kind {
        "Pod" => [
            named(&["Name", "Ready", "Status", "Restarts", "Age"]),
            wide(&["IP", "Node", "Nominated Node", "Readiness Gates"]),
        ]
        .concat(),
        "Node" => [
            named(&["Name", "Status", "Roles", "Age", "Version"]),
            wide(&[
                "Internal-IP",
                "External-IP",
                "OS-Image",
                "Kernel-Version",
                "Container-Runtime",
            ]),
        ]
        .concat(),
        "Namespace" => named(&["Name", "Status", "Age"]),
        "ConfigMap" => named(&["Name", "Data", "Age"]),
        "Secret" => named(&["Name", "Type", "Data", "Age"]),
        "Lease" => named(&["Name", "Holder", "Age"]),
        "Service" => [
            named(&["Name", "Type", "Cluster-IP", "External-IP", "Port(s)", "Age"]),
            wide(&["Selector"]),
        ]
        .concat(),
        "Deployment" => [
            named(&["Name", "Ready", "Up-to-date", "Available", "Age"]),
            wide(&templates),
        ]
        .concat(),
        "StatefulSet" => [named(&["Name", "Ready", "Age"]), wide(&templates[..2])].concat(),
        "ReplicaSet" | "ReplicationController" => [
            named(&["Name"]),
            numbers(&["Desired", "Current", "Ready"]),
            named(&["Age"]),
            wide(&templates),
        ]
        .concat(),
        "DaemonSet" => [
            named(&["Name"]),
            numbers(&["Desired", "Current", "Ready", "Up-to-date", "Available"]),
            named(&["Node Selector", "Age"]),
            wide(&templates),
        ]
        .concat(),
        "Event" => [
            named(&["Last Seen", "Type", "Reason", "Object"]),
            wide(&["Subobject", "Source"]),
            named(&["Message"]),
            wide(&["First Seen", "Count", "Name"]),
        ]
        .concat(),
        _ => named(&["Name", "Age"]),
    }
}
