//! What differs between two states of an object, as a merge patch.

use informer_transport::Patch;
use serde_json::{Map, Value, json};

use crate::{
    Error, Form,
    access::{metadata, to_value},
};

/// The merge patch that makes `after` of `before` (controller-runtime `MergeFrom`); `None`: they are the same. Lists are replaced whole.
///
/// There is no such function for a strategic merge patch (`StrategicMergeFrom`): by which members a list merges stands in the struct tags of
/// Go's types, which types here do not have, and custom resources have none at all. Who knows them writes [`Patch::Strategic`] by hand; what it is
/// mostly wanted for, changing one item of a list beside other writers, server-side apply does for every kind.
///
/// # Errors
/// When one of them cannot be written as JSON.
pub fn merge_patch<K: Form>(before: &K, after: &K) -> Result<Option<Patch>, Error> {
    let difference = difference(&to_value(before)?, &to_value(after)?);
    Ok(difference.map(Patch::Merge))
}

/// As [`merge_patch`], refused by the server as a conflict if anybody wrote the object since `before` (`MergeFromWithOptimisticLock`).
///
/// # Errors
/// When `before` has no resource version, or one of them cannot be written as JSON.
pub fn merge_patch_locked<K: Form>(before: &K, after: &K) -> Result<Option<Patch>, Error> {
    let before = to_value(before)?;
    let version = metadata(&before, "resourceVersion")
        .ok_or_else(|| Error::refused("the state before has no resource version to lock"))?;
    let Some(mut difference) = difference(&before, &to_value(after)?) else {
        return Ok(None);
    };
    let members = difference
        .as_object_mut()
        .ok_or_else(|| Error::refused("the object is no JSON object"))?;
    match members.get_mut("metadata").and_then(Value::as_object_mut) {
        Some(metadata) => {
            metadata.insert("resourceVersion".to_owned(), version.into());
        }
        None => {
            members.insert("metadata".to_owned(), json!({"resourceVersion": version}));
        }
    }
    Ok(Some(Patch::Merge(difference)))
}

/// RFC 7386: members that are gone are `null`.
pub(super) fn difference(before: &Value, after: &Value) -> Option<Value> {
    if before == after {
        return None;
    }
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return Some(after.clone());
    };
    let mut patch = Map::new();
    for (name, value) in after {
        match before.get(name) {
            None => patch.insert(name.clone(), value.clone()),
            Some(old) => match difference(old, value) {
                Some(inner) => patch.insert(name.clone(), inner),
                None => None,
            },
        };
    }
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    Some(Value::Object(patch))
}
