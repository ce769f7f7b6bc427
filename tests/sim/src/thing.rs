//! What lives in the simulated cluster: three kinds of small objects, and who sees which of them.

use informer_core::{ObjectKey, Resource};
use informer_testkit::FakeApi;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How many kinds there are at most. The last is a custom one, which can cease to be served.
pub(crate) const KINDS: usize = 3;

/// The kind that comes from a definition.
pub(crate) const CUSTOM: usize = 2;

/// A label value, and what one index is by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Color {
    Red,
    Green,
    Blue,
}

impl Color {
    pub(crate) const ALL: [Self; 3] = [Self::Red, Self::Green, Self::Blue];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Red => "red",
            Self::Green => "green",
            Self::Blue => "blue",
        }
    }
}

/// An object as the informers hold it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Thing {
    metadata: Metadata,
    spec: Spec,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Metadata {
    namespace: String,
    labels: Labels,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Labels {
    color: Color,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Spec {
    n: u64,
}

impl Thing {
    /// Differs between any two writes of the world.
    pub(crate) fn n(&self) -> u64 {
        self.spec.n
    }

    pub(crate) fn color(&self) -> Color {
        self.metadata.labels.color
    }

    pub(crate) fn namespace(&self) -> &str {
        &self.metadata.namespace
    }
}

/// The objects that an informer asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Which {
    All,
    Red,
    NamespaceA,
}

impl Which {
    pub(crate) fn sees(self, key: &ObjectKey, color: Color) -> bool {
        match self {
            Self::All => true,
            Self::Red => color == Color::Red,
            Self::NamespaceA => key.namespace() == Some("a"),
        }
    }
}

pub(crate) fn resource(kind: usize) -> Resource {
    match kind {
        0 => Resource::namespaced("", "v1", "configmaps", "ConfigMap"),
        1 => Resource::namespaced("", "v1", "pods", "Pod"),
        _ => Resource::namespaced("example.com", "v1", "widgets", "Widget"),
    }
}

/// The object in a place: places alternate between two namespaces.
pub(crate) fn key(slot: u8) -> ObjectKey {
    ObjectKey::namespaced(namespace(slot), &format!("o{slot}"))
}

fn namespace(slot: u8) -> &'static str {
    if slot.is_multiple_of(2) { "a" } else { "b" }
}

/// What is written; an object without a number cannot be decoded.
pub(crate) fn document(slot: u8, color: Color, n: Option<u64>, guarded: bool) -> Value {
    let finalizers: &[&str] = if guarded { &["example.com/guard"] } else { &[] };
    json!({
        "metadata": {
            "namespace": namespace(slot),
            "name": format!("o{slot}"),
            "labels": {"color": color.as_str()},
            "finalizers": finalizers,
        },
        "spec": {"n": n.map_or_else(|| json!("not a number"), |n| json!(n))},
    })
}

fn definitions() -> Resource {
    let (group, plural) = ("apiextensions.k8s.io", "customresourcedefinitions");
    Resource::cluster(group, "v1", plural, "CustomResourceDefinition")
}

/// Begins to serve the custom kind. Nothing where it is served.
pub(crate) fn serve_custom(api: &mut FakeApi) {
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true}],
        },
    });
    let _exists_at_worst = api.create(&definitions(), definition);
}

/// Ceases to serve the custom kind: its objects go with it.
pub(crate) fn unserve_custom(api: &mut FakeApi) {
    let _absent_at_worst = api.delete(&definitions(), None, "widgets.example.com");
}
