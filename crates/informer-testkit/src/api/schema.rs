//! Which lists are merged by a key, and which maps are one value: of built-in kinds from a table, of custom ones from their schema.
//!
//! The table holds what `k8s.io/api` says in `patchMergeKey` and `+listMapKey` of the fields that lead to lists with keys; every list that
//! is not in it is one value.

use serde_json::{Map, Value};

use super::def::ResourceDef;

/// A place in an object: what is known of what is below.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Node<'a> {
    /// A type of the table.
    Type(&'static str),
    /// An OpenAPI schema.
    Schema(&'a Value),
    Unknown,
}

/// How server-side apply sees a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListKind<'a> {
    /// One value.
    Atomic,
    /// Each item for itself.
    Set,
    /// Items with keys.
    Keys(Keys<'a>),
}

/// The fields that are the key of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keys<'a> {
    Known(&'static [&'static str]),
    Told(&'a [Value]),
}

/// How strategic merge sees a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Merge {
    Replace,
    /// Values that are not there yet are added.
    Values,
    /// Items with the same value of this field are merged.
    By(&'static str),
}

struct Row {
    of: &'static str,
    field: &'static str,
    /// The type of the field, or of the items of the list.
    is: &'static str,
    merge: Merge,
    keys: &'static [&'static str],
}

const fn plain(of: &'static str, field: &'static str, is: &'static str) -> Row {
    list(of, field, is, Merge::Replace, &[])
}

const fn by(of: &'static str, field: &'static str, key: &'static str, keys: &'static [&'static str]) -> Row {
    list(of, field, "", Merge::By(key), keys)
}

const fn list(
    of: &'static str,
    field: &'static str,
    is: &'static str,
    merge: Merge,
    keys: &'static [&'static str],
) -> Row {
    Row {
        of,
        field,
        is,
        merge,
        keys,
    }
}

/// A map that is one value.
const ATOMIC: &str = "(atomic)";
/// Stands for the key of a set.
const EACH: &[&str] = &["="];

static ROWS: &[Row] = &[
    by("Meta", "ownerReferences", "uid", &["uid"]),
    list("Meta", "finalizers", "", Merge::Values, EACH),
    plain("Pod", "spec", "PodSpec"),
    plain("Pod", "status", "PodStatus"),
    plain("Deployment", "spec", "Workload"),
    plain("Deployment", "status", "Conditions"),
    plain("ReplicaSet", "spec", "Workload"),
    plain("ReplicaSet", "status", "Conditions"),
    plain("StatefulSet", "spec", "Workload"),
    plain("StatefulSet", "status", "Conditions"),
    plain("DaemonSet", "spec", "Workload"),
    plain("DaemonSet", "status", "Conditions"),
    plain("Job", "spec", "Workload"),
    plain("Job", "status", "JobStatus"),
    plain("ReplicationController", "spec", "OldWorkload"),
    plain("ReplicationController", "status", "Conditions"),
    plain("CronJob", "spec", "CronJobSpec"),
    plain("CronJobSpec", "jobTemplate", "JobTemplate"),
    plain("JobTemplate", "spec", "Workload"),
    plain("JobTemplate", "metadata", "Meta"),
    plain("Workload", "selector", ATOMIC),
    plain("Workload", "template", "PodTemplate"),
    plain("OldWorkload", "selector", ATOMIC),
    plain("OldWorkload", "template", "PodTemplate"),
    plain("PodTemplate", "metadata", "Meta"),
    plain("PodTemplate", "spec", "PodSpec"),
    by("Conditions", "conditions", "type", &["type"]),
    by("JobStatus", "conditions", "type", &[]),
    list("PodSpec", "containers", "Container", Merge::By("name"), &["name"]),
    list(
        "PodSpec",
        "initContainers",
        "Container",
        Merge::By("name"),
        &["name"],
    ),
    list(
        "PodSpec",
        "ephemeralContainers",
        "Container",
        Merge::By("name"),
        &["name"],
    ),
    by("PodSpec", "volumes", "name", &["name"]),
    by("PodSpec", "imagePullSecrets", "name", &["name"]),
    by("PodSpec", "hostAliases", "ip", &["ip"]),
    by(
        "PodSpec",
        "topologySpreadConstraints",
        "topologyKey",
        &["topologyKey", "whenUnsatisfiable"],
    ),
    by("PodSpec", "schedulingGates", "name", &["name"]),
    by("PodSpec", "resourceClaims", "name", &["name"]),
    plain("PodSpec", "nodeSelector", ATOMIC),
    list("Container", "env", "EnvVar", Merge::By("name"), &["name"]),
    plain("EnvVar", "valueFrom", "EnvSource"),
    plain("EnvSource", "fieldRef", ATOMIC),
    plain("EnvSource", "configMapKeyRef", ATOMIC),
    plain("EnvSource", "secretKeyRef", ATOMIC),
    by(
        "Container",
        "ports",
        "containerPort",
        &["containerPort", "protocol"],
    ),
    by("Container", "volumeMounts", "mountPath", &["mountPath"]),
    by("Container", "volumeDevices", "devicePath", &["devicePath"]),
    by("PodStatus", "conditions", "type", &["type"]),
    by("PodStatus", "podIPs", "ip", &["ip"]),
    by("PodStatus", "hostIPs", "ip", &[]),
    plain("Service", "spec", "ServiceSpec"),
    plain("Service", "status", "Conditions"),
    by("ServiceSpec", "ports", "port", &["port", "protocol"]),
    plain("ServiceSpec", "selector", ATOMIC),
    plain("Node", "spec", "NodeSpec"),
    plain("Node", "status", "NodeStatus"),
    list("NodeSpec", "podCIDRs", "", Merge::Values, EACH),
    by("NodeStatus", "conditions", "type", &["type"]),
    by("NodeStatus", "addresses", "type", &["type"]),
    plain("Namespace", "status", "Conditions"),
    by("ServiceAccount", "secrets", "name", &["name"]),
    plain("PersistentVolumeClaim", "status", "Conditions"),
    plain("PodDisruptionBudget", "spec", "DisruptionSpec"),
    plain("PodDisruptionBudget", "status", "Conditions"),
    plain("DisruptionSpec", "selector", ATOMIC),
    plain("HorizontalPodAutoscaler", "status", "Conditions"),
];

impl<'a> Node<'a> {
    /// The object itself.
    pub(crate) fn root(def: &'a ResourceDef) -> Self {
        match &def.schema {
            Some(schema) => Node::Schema(schema),
            None if def.custom => Node::Unknown,
            None => {
                let kind = &*def.resource.kind;
                let row = ROWS.iter().find(|row| row.of == kind);
                row.map_or(Node::Unknown, |row| Node::Type(row.of))
            }
        }
    }

    /// A field at the top of an object: metadata is the same everywhere.
    pub(crate) fn top(self, field: &str) -> Place<'a> {
        match field {
            "metadata" => Place {
                node: Node::Type("Meta"),
                list: ListKind::Atomic,
                merge: Merge::Replace,
            },
            _ => self.field(field),
        }
    }

    /// A field.
    pub(crate) fn field(self, field: &str) -> Place<'a> {
        match self {
            Node::Unknown => Place::UNKNOWN,
            Node::Type(of) => {
                let mut rows = ROWS.iter();
                let row = rows.find(|row| row.of == of && row.field == field);
                row.map_or(Place::UNKNOWN, |row| Place {
                    node: if row.is.is_empty() {
                        Node::Unknown
                    } else {
                        Node::Type(row.is)
                    },
                    list: match row.keys {
                        [] => ListKind::Atomic,
                        ["="] => ListKind::Set,
                        keys => ListKind::Keys(Keys::Known(keys)),
                    },
                    merge: row.merge,
                })
            }
            Node::Schema(schema) => {
                let property = schema.get("properties").and_then(|it| it.get(field));
                let property =
                    property.or_else(|| schema.get("additionalProperties").filter(|it| it.is_object()));
                property.map_or(Place::UNKNOWN, Place::of_schema)
            }
        }
    }

    /// Whether a map is one value.
    pub(crate) fn is_atomic(self) -> bool {
        match self {
            Node::Type(of) => of == ATOMIC,
            Node::Schema(schema) => schema
                .get("x-kubernetes-map-type")
                .is_some_and(|it| it == "atomic"),
            Node::Unknown => false,
        }
    }

    /// What a key of an item is where the item does not say.
    fn default_of(self, key: &str) -> Option<Value> {
        match self {
            Node::Schema(schema) => schema.get("properties")?.get(key)?.get("default").cloned(),
            _ => (key == "protocol").then(|| "TCP".into()),
        }
    }
}

/// What is known of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// Its value, or the items of its list.
    pub(crate) node: Node<'a>,
    pub(crate) list: ListKind<'a>,
    pub(crate) merge: Merge,
}

impl<'a> Place<'a> {
    const UNKNOWN: Self = Self {
        node: Node::Unknown,
        list: ListKind::Atomic,
        merge: Merge::Replace,
    };

    fn of_schema(schema: &'a Value) -> Self {
        let list = match schema.get("x-kubernetes-list-type").and_then(Value::as_str) {
            Some("set") => ListKind::Set,
            Some("map") => {
                let keys = schema.get("x-kubernetes-list-map-keys").and_then(Value::as_array);
                keys.map_or(ListKind::Atomic, |keys| ListKind::Keys(Keys::Told(keys)))
            }
            _ => ListKind::Atomic,
        };
        Self {
            node: Node::Schema(schema.get("items").unwrap_or(schema)),
            list,
            merge: Merge::Replace,
        }
    }
}

impl Keys<'_> {
    /// The key of an item, as a map with the fields in order.
    pub(crate) fn of(self, item: &Value, node: Node<'_>) -> Map<String, Value> {
        let names: Vec<&str> = match self {
            Keys::Known(names) => names.to_vec(),
            Keys::Told(names) => names.iter().filter_map(Value::as_str).collect(),
        };
        names
            .into_iter()
            .filter_map(|name| {
                let value = item.get(name).cloned().or_else(|| node.default_of(name))?;
                Some((name.to_owned(), value))
            })
            .collect()
    }
}
