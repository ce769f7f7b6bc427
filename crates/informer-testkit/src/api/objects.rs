//! Reading and writing the metadata of an object that is plain JSON.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value, json};

use super::{def::SelectableField, table::Stored};

pub(crate) type Meta = Map<String, Value>;

static NO_META: std::sync::LazyLock<Meta> = std::sync::LazyLock::new(Meta::new);

pub(crate) fn meta(object: &Value) -> &Meta {
    object
        .get("metadata")
        .and_then(Value::as_object)
        .unwrap_or(&NO_META)
}

/// The metadata, made where it is missing or no object.
pub(crate) fn meta_mut(object: &mut Value) -> &mut Meta {
    if !object.is_object() {
        *object = json!({});
    }
    let metadata = &mut object["metadata"];
    if !metadata.is_object() {
        *metadata = json!({});
    }
    metadata.as_object_mut().expect("it was made an object above")
}

pub(crate) fn text<'a>(meta: &'a Meta, field: &str) -> &'a str {
    meta.get(field).and_then(Value::as_str).unwrap_or("")
}

pub(crate) fn texts(meta: &Meta, field: &str) -> Vec<String> {
    let items = meta.get(field).and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

pub(crate) fn set(meta: &mut Meta, field: &str, value: impl Into<Value>) {
    meta.insert(field.to_owned(), value.into());
}

/// Carries a field over from another state of the object, absence included.
pub(crate) fn keep(meta: &mut Meta, old: &Meta, field: &str) {
    match old.get(field) {
        Some(value) => set(meta, field, value.clone()),
        None => drop(meta.remove(field)),
    }
}

pub(crate) fn key_of(namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    }
}

/// Takes away what typed objects do not keep: empty collections and nulls in the metadata; and what is left to who serves it.
pub(crate) fn tidy(object: &mut Value) {
    let fields = meta_mut(object);
    fields.retain(|_, value| match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => true,
    });
    if let Some(fields) = object.as_object_mut() {
        fields.remove("kind");
        fields.remove("apiVersion");
    }
}

/// The object as it is kept. Its metadata carries the revision, if it has one; `kind` and `apiVersion` are left to who serves it.
pub(crate) fn store(
    key: &Arc<str>,
    revision: Option<u64>,
    object: &mut Value,
    selectable: &[SelectableField],
) -> Arc<Stored> {
    tidy(object);
    match revision {
        Some(revision) => set(meta_mut(object), "resourceVersion", revision.to_string()),
        None => drop(meta_mut(object).remove("resourceVersion")),
    }
    let labels: BTreeMap<String, String> = meta(object)
        .get("labels")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect();
    let fields = selectable.iter().map(|field| field.value(object)).collect();
    Arc::new(Stored {
        key: key.clone(),
        revision: revision.unwrap_or(0),
        body: serde_json::to_vec(object).unwrap_or_default().into(),
        labels,
        fields,
    })
}

/// Parses a kept object. Without `kind` and `apiVersion`.
pub(crate) fn parse(stored: &Stored) -> Value {
    serde_json::from_slice(&stored.body).unwrap_or_else(|_| json!({}))
}
