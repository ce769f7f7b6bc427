//! `DynamicObject`: an object of a kind that is known only at run time.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// An object as JSON, whole. What it was decoded from and what it is written as are the same, but for the managed fields, which the codec
/// cuts unless told otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DynamicObject(Map<String, Value>);

impl DynamicObject {
    /// An object of this kind and name, to go on with [`set`](Self::set).
    #[must_use]
    pub fn new(api_version: &str, kind: &str, name: &str) -> Self {
        let mut object = Self::default();
        object.set("/apiVersion", api_version);
        object.set("/kind", kind);
        object.set("/metadata/name", name);
        object
    }

    /// An object of its JSON; `None` if that is no JSON object.
    #[must_use]
    pub fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Object(map) => Some(Self(map)),
            _ => None,
        }
    }

    /// The JSON.
    #[must_use]
    pub fn into_value(self) -> Value {
        Value::Object(self.0)
    }

    /// The members.
    #[must_use]
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The members, to change.
    pub fn as_map_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.0
    }

    /// The value at a JSON pointer: `/spec/nodeName`, `/status/containerStatuses/0/ready`.
    #[must_use]
    pub fn get(&self, pointer: &str) -> Option<&Value> {
        let rest = pointer.strip_prefix('/')?;
        let (member, rest) = match rest.find('/') {
            Some(at) => rest.split_at(at),
            None => (rest, ""),
        };
        self.0.get(&unescape(member))?.pointer(rest)
    }

    /// The text at a JSON pointer.
    #[must_use]
    pub fn text(&self, pointer: &str) -> Option<&str> {
        self.get(pointer)?.as_str()
    }

    /// Sets the value at a JSON pointer, making the objects on the way to it. Whatever else was on the way is replaced.
    pub fn set(&mut self, pointer: &str, value: impl Into<Value>) {
        let Some((path, last)) = pointer.rsplit_once('/') else {
            return;
        };
        let mut members = &mut self.0;
        for member in path.split('/').skip(1) {
            let inner = members
                .entry(unescape(member))
                .or_insert_with(|| Value::Object(Map::new()));
            if !inner.is_object() {
                *inner = Value::Object(Map::new());
            }
            let Value::Object(inner) = inner else { return };
            members = inner;
        }
        members.insert(unescape(last), value.into());
    }

    /// Group and version.
    #[must_use]
    pub fn api_version(&self) -> &str {
        self.text("/apiVersion").unwrap_or_default()
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> &str {
        self.text("/kind").unwrap_or_default()
    }

    /// A member of the metadata.
    #[must_use]
    pub fn metadata(&self, member: &str) -> Option<&Value> {
        self.0.get("metadata")?.get(member)
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.metadata_text("name").unwrap_or_default()
    }

    /// The namespace.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.metadata_text("namespace")
    }

    /// The uid.
    #[must_use]
    pub fn uid(&self) -> &str {
        self.metadata_text("uid").unwrap_or_default()
    }

    /// The resource version.
    #[must_use]
    pub fn resource_version(&self) -> &str {
        self.metadata_text("resourceVersion").unwrap_or_default()
    }

    /// The value of a label.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        self.metadata("labels")?.get(name)?.as_str()
    }

    /// The value of an annotation.
    #[must_use]
    pub fn annotation(&self, name: &str) -> Option<&str> {
        self.metadata("annotations")?.get(name)?.as_str()
    }

    fn metadata_text(&self, member: &str) -> Option<&str> {
        self.metadata(member)?.as_str()
    }
}

/// RFC 6901.
fn unescape(member: &str) -> String {
    member.replace("~1", "/").replace("~0", "~")
}
