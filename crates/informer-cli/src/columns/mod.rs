//! The columns that a person expects for a kind, for servers that have no tables.

mod pod;
mod workload;

use std::sync::Arc;

use informer::client::TableColumn;
use informer::contracts::Resource;
use serde_json::Value;

/// The columns of one kind beside name and age: their titles, and how an object fills them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Columns {
    pub(crate) titles: &'static [&'static str],
    pub(crate) cells: fn(&Value) -> Vec<String>,
}

impl Columns {
    /// The columns for a kind; none beside name and age for a kind that is not known here.
    pub(crate) fn of(resource: &Resource) -> Self {
        match (&*resource.group, &*resource.plural) {
            ("", "pods") => Self {
                titles: pod::TITLES,
                cells: pod::cells,
            },
            ("", "nodes") => Self {
                titles: &["STATUS", "ROLES", "VERSION"],
                cells: workload::node,
            },
            ("", "services") => Self {
                titles: &["TYPE", "CLUSTER-IP", "PORTS"],
                cells: workload::service,
            },
            ("", "configmaps") => Self {
                titles: &["DATA"],
                cells: workload::config_map,
            },
            ("", "secrets") => Self {
                titles: &["TYPE", "DATA"],
                cells: workload::secret,
            },
            ("", "namespaces" | "persistentvolumes" | "persistentvolumeclaims") => Self {
                titles: &["STATUS"],
                cells: workload::phase,
            },
            ("" | "events.k8s.io", "events") => Self {
                titles: &["TYPE", "REASON", "OBJECT", "MESSAGE"],
                cells: workload::event,
            },
            ("apps", "deployments") => Self {
                titles: &["READY", "UP-TO-DATE", "AVAILABLE"],
                cells: workload::deployment,
            },
            ("apps", "replicasets") => Self {
                titles: &["DESIRED", "CURRENT", "READY"],
                cells: workload::replica_set,
            },
            ("apps", "statefulsets") => Self {
                titles: &["READY"],
                cells: workload::stateful_set,
            },
            ("apps", "daemonsets") => Self {
                titles: &["DESIRED", "CURRENT", "READY", "AVAILABLE"],
                cells: workload::daemon_set,
            },
            ("batch", "jobs") => Self {
                titles: &["STATUS", "COMPLETIONS"],
                cells: workload::job,
            },
            ("coordination.k8s.io", "leases") => Self {
                titles: &["HOLDER"],
                cells: workload::lease,
            },
            ("apiextensions.k8s.io", "customresourcedefinitions") => Self {
                titles: &["SCOPE", "VERSIONS"],
                cells: workload::custom_resource_definition,
            },
            _ => Self {
                titles: &[],
                cells: |_| Vec::new(),
            },
        }
    }

    /// All columns, as a server would name them.
    pub(crate) fn of_table(&self) -> Arc<[TableColumn]> {
        let name = TableColumn::new("Name", "string").format("name");
        let others = self.titles.iter().map(|title| TableColumn::new(*title, "string"));
        let age = TableColumn::new("Age", "date");
        [name].into_iter().chain(others).chain([age]).collect()
    }
}

/// The text at a JSON pointer, or an empty one.
fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// The number at a JSON pointer, or 0.
fn number(object: &Value, pointer: &str) -> i64 {
    object
        .pointer(pointer)
        .and_then(Value::as_i64)
        .unwrap_or_default()
}

/// The items of the array at a JSON pointer; none where it is absent.
fn items<'a>(object: &'a Value, pointer: &str) -> impl Iterator<Item = &'a Value> {
    object
        .pointer(pointer)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// Entries of the object at a JSON pointer.
fn n_entries(object: &Value, pointer: &str) -> usize {
    object
        .pointer(pointer)
        .and_then(Value::as_object)
        .map_or(0, serde_json::Map::len)
}

/// Whether the condition of this type has this status.
fn has_condition(object: &Value, kind: &str, status: &str) -> bool {
    items(object, "/status/conditions").any(|it| text(it, "/type") == kind && text(it, "/status") == status)
}
