//! `ObjectReference`: the object that an event is about.

use informer_client::DynamicObject;
use informer_core::{Decoded, Entry, Identity, ObjectKey, Resource};
use serde::{Deserialize, Serialize};

/// Names an object, and which incarnation and state of it (core/v1 `ObjectReference`).
///
/// Made from whatever is at hand: what a store holds ([`entry`](Self::entry)), what a client returned ([`decoded`](Self::decoded)), a dynamic
/// object (`From`), or with the feature `k8s-openapi` one of its types (`typed`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ObjectReference {
    /// Group and version.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// The kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The namespace; empty for a cluster-wide kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The incarnation.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// The state. Left empty by default: an event is about the object, and events of different states of it are to become one series.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    /// A part of the object, as `spec.containers{web}`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field_path: String,
}

impl ObjectReference {
    /// To an object of this kind, by name; a cluster-wide kind has no namespace.
    #[must_use]
    pub fn new(resource: &Resource, namespace: Option<&str>, name: &str) -> Self {
        Self {
            api_version: resource.api_version(),
            kind: resource.kind.to_string(),
            namespace: namespace.unwrap_or_default().to_owned(),
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// To the object of this identity.
    #[must_use]
    pub fn identified(resource: &Resource, identity: &Identity) -> Self {
        Self::new(resource, identity.namespace.as_deref(), &identity.name).uid(&*identity.stamp.uid)
    }

    /// To what a client returned.
    #[must_use]
    pub fn decoded<K>(resource: &Resource, object: &Decoded<K>) -> Self {
        Self::identified(resource, &object.identity)
    }

    /// To what a store holds.
    #[must_use]
    pub fn entry<K>(resource: &Resource, entry: &Entry<ObjectKey, K>) -> Self {
        Self::new(resource, entry.key.namespace(), entry.key.name()).uid(&*entry.stamp.uid)
    }

    /// To an object of a k8s-openapi type.
    #[cfg(feature = "k8s-openapi")]
    #[must_use]
    pub fn typed<K>(object: &K) -> Self
    where
        K: k8s_openapi::Metadata<Ty = k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta>,
    {
        let metadata = object.metadata();
        Self {
            api_version: K::API_VERSION.to_owned(),
            kind: K::KIND.to_owned(),
            namespace: metadata.namespace.clone().unwrap_or_default(),
            name: metadata.name.clone().unwrap_or_default(),
            uid: metadata.uid.clone().unwrap_or_default(),
            ..Self::default()
        }
    }

    /// The same, of this incarnation.
    #[must_use]
    pub fn uid(mut self, uid: impl Into<String>) -> Self {
        self.uid = uid.into();
        self
    }

    /// The same, in this state.
    #[must_use]
    pub fn resource_version(mut self, version: impl Into<String>) -> Self {
        self.resource_version = version.into();
        self
    }

    /// The same, of a part of the object.
    #[must_use]
    pub fn field_path(mut self, path: impl Into<String>) -> Self {
        self.field_path = path.into();
        self
    }

    /// The field selector of the events about what this names; empty fields match any (client-go `events.GetFieldSelector`).
    ///
    /// ```
    /// use informer_events::ObjectReference;
    /// use informer_core::Resource;
    ///
    /// let pods = Resource::namespaced("", "v1", "pods", "Pod");
    /// let web = ObjectReference::new(&pods, Some("default"), "web");
    /// assert_eq!(web.event_selector(), "regarding.apiVersion=v1,regarding.kind=Pod,regarding.name=web");
    /// ```
    #[must_use]
    pub fn event_selector(&self) -> String {
        let fields = [
            ("apiVersion", &self.api_version),
            ("kind", &self.kind),
            ("name", &self.name),
            ("uid", &self.uid),
        ];
        let terms = fields.into_iter().filter(|(_, value)| !value.is_empty());
        let terms: Vec<_> = terms
            .map(|(field, value)| format!("regarding.{field}={value}"))
            .collect();
        terms.join(",")
    }
}

impl From<&Self> for ObjectReference {
    fn from(reference: &Self) -> Self {
        reference.clone()
    }
}

impl From<&DynamicObject> for ObjectReference {
    fn from(object: &DynamicObject) -> Self {
        Self {
            api_version: object.api_version().to_owned(),
            kind: object.kind().to_owned(),
            namespace: object.namespace().unwrap_or_default().to_owned(),
            name: object.name().to_owned(),
            uid: object.uid().to_owned(),
            ..Self::default()
        }
    }
}
