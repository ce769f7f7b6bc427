//! Our keys and kube's references to objects.

use informer_core::ObjectKey;
use kube::runtime::reflector::{Lookup, ObjectRef};

/// The key under which an informer has the object of a reference.
#[must_use]
pub fn key_of<K: Lookup>(reference: &ObjectRef<K>) -> ObjectKey {
    ObjectKey::new(reference.namespace.as_deref(), &reference.name)
}

/// A reference to the object of a key.
#[must_use]
pub fn object_ref<K: Lookup>(key: &ObjectKey, dynamic: K::DynamicType) -> ObjectRef<K> {
    let reference = ObjectRef::new_with(key.name(), dynamic);
    match key.namespace() {
        Some(namespace) => reference.within(namespace),
        None => reference,
    }
}
