//! What the answer to a write says of the object: from requests and answers to facts.

use std::sync::Arc;

use informer_client::{DynamicObject, Write, WriteVerb, Written};
use informer_core::{Decoded, ObjectKey, Scope, Stamp};
use serde_json::Value;

use super::ledger::{About, Fact};
use crate::{
    scope::{Covered, Selected},
    slot::Look,
};

/// What is kept of a write while it is under way.
pub(super) struct Plan {
    pub(super) about: About,
    key: ObjectKey,
    is_delete: bool,
    /// The answer is the object itself, labels and all.
    whole: bool,
    /// The uid that a delete is about, where it says so.
    uid: Option<String>,
}

impl Plan {
    pub(super) fn of(write: &Write) -> Self {
        let key = match write.resource.scope {
            Scope::Cluster => ObjectKey::cluster(&write.name),
            Scope::Namespaced => write.key(),
        };
        let about = match (&write.verb, &write.namespace, write.resource.scope) {
            (WriteVerb::DeleteAll(..), Some(namespace), Scope::Namespaced) => {
                About::Namespace(namespace.clone())
            }
            (WriteVerb::DeleteAll(..), ..) => About::All,
            // The server makes the name.
            (WriteVerb::Create(_), Some(namespace), Scope::Namespaced) if write.name.is_empty() => {
                About::Namespace(namespace.clone())
            }
            (WriteVerb::Create(_), ..) if write.name.is_empty() => About::All,
            _ => About::Key(key.clone()),
        };
        let uid = match &write.verb {
            WriteVerb::Delete(options) => options.preconditions.as_ref().and_then(|it| it.uid.clone()),
            _ => None,
        };
        Self {
            about,
            key,
            is_delete: matches!(write.verb, WriteVerb::Delete(_)),
            whole: write.subresource.as_deref().is_none_or(|sub| sub == "status"),
            uid,
        }
    }

    /// What the cache shows of the object that is to be deleted.
    pub(super) fn known(&self, look: &dyn Look) -> Option<Stamp> {
        self.is_delete.then(|| look.stamp(&self.key).cloned()).flatten()
    }

    pub(super) fn facts(
        &self,
        written: &Written,
        known: Option<&Stamp>,
        covered: Option<&Covered>,
    ) -> Vec<Fact> {
        match written {
            Written::Object(decoded) => self.of_object(decoded, known, covered).into_iter().collect(),
            Written::Done { uid } if self.is_delete => {
                let known_uid = known.map(|stamp| stamp.uid.clone());
                let uid = uid
                    .clone()
                    .or_else(|| self.uid.as_deref().map(Arc::from))
                    .or(known_uid)
                    .filter(|uid| !uid.is_empty());
                let fact = uid.map(|uid| gone(self.key.clone(), uid, known));
                fact.into_iter().collect()
            }
            Written::All(objects) => objects.iter().filter_map(of_many).collect(),
            _ => Vec::new(),
        }
    }

    fn of_object(
        &self,
        decoded: &Decoded<DynamicObject>,
        known: Option<&Stamp>,
        covered: Option<&Covered>,
    ) -> Option<Fact> {
        let stamp = decoded.identity.stamp.clone();
        let key = if self.key.name().is_empty() {
            ObjectKey::new(self.key.namespace(), &decoded.identity.name)
        } else {
            self.key.clone()
        };
        let object = &decoded.object;
        if self.whole && is_last(object, self.is_delete) && !stamp.uid.is_empty() {
            return Some(gone(key, stamp.uid, known));
        }
        if stamp.version.is_none() {
            // Nothing was stored.
            return None;
        }
        let selected = match covered {
            _ if !self.whole => Selected::Unknown,
            None => Selected::Yes,
            Some(covered) => covered.selects(key.namespace(), &Value::Object(object.as_map().clone())),
        };
        Some(Fact::Reached { key, stamp, selected })
    }
}

fn gone(key: ObjectKey, uid: Arc<str>, known: Option<&Stamp>) -> Fact {
    let alive = known
        .filter(|stamp| stamp.uid == uid)
        .map(|stamp| stamp.version.clone());
    Fact::Gone { key, uid, alive }
}

/// An object that a delete of many is about: removed, or marked, which makes another version of it. One that was marked stays as it is.
fn of_many(decoded: &Decoded<DynamicObject>) -> Option<Fact> {
    let identity = &decoded.identity;
    let is_marked = decoded
        .object
        .metadata("deletionTimestamp")
        .is_some_and(|mark| !mark.is_null());
    let key = ObjectKey::new(identity.namespace.as_deref(), &identity.name);
    let stamp = identity.stamp.clone();
    let known = !stamp.uid.is_empty() && !stamp.version.is_none();
    (known && !is_marked).then_some(Fact::Past { key, stamp })
}

/// Whether an answer is the last state of an object that is gone: that of a kind whose deletion answers with the object, or of a write that
/// took off the last finalizer. One that waits, for finalizers, for a grace period or as a namespace does, is not.
fn is_last(object: &DynamicObject, is_delete: bool) -> bool {
    let any = |pointer: &str| {
        let list = object.get(pointer).and_then(Value::as_array);
        list.is_some_and(|list| !list.is_empty())
    };
    let is_marked = object
        .metadata("deletionTimestamp")
        .is_some_and(|mark| !mark.is_null());
    let grace = object
        .metadata("deletionGracePeriodSeconds")
        .and_then(Value::as_i64);
    let is_held = any("/metadata/finalizers") || any("/spec/finalizers") || (is_marked && grace != Some(0));
    (is_delete || is_marked) && !is_held
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(metadata: Value) -> DynamicObject {
        DynamicObject::from_value(json!({"metadata": metadata})).unwrap()
    }

    #[test]
    fn the_last_state_of_an_object_is_told_from_one_that_waits() {
        let mark = "2026-01-01T00:00:00Z";
        assert!(is_last(&object(json!({})), true));
        assert!(!is_last(&object(json!({})), false));
        assert!(!is_last(
            &object(json!({"finalizers": ["a"], "deletionTimestamp": mark})),
            true
        ));
        assert!(!is_last(
            &object(json!({"deletionTimestamp": mark, "deletionGracePeriodSeconds": 30})),
            true
        ));
        assert!(is_last(
            &object(json!({"deletionTimestamp": mark, "deletionGracePeriodSeconds": 0})),
            false
        ));
        // A namespace.
        assert!(!is_last(&object(json!({"deletionTimestamp": mark})), true));
    }
}
