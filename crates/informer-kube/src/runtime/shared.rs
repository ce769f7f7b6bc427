//! `Shared`: an object of an informer's store as an object of kube.

use std::{borrow::Cow, fmt, ops::Deref, sync::Arc};

use kube::core::ObjectMeta;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An object that an informer's store and any number of kube's stores hold together.
///
/// kube clones an object into each store and each event. A clone of this is a pointer, so a kube store that follows an informer costs its map
/// and no object. It reads as the object, and it is a resource of the same kind. Writing to it ([`meta_mut`](kube::Resource::meta_mut)) copies
/// the object first, if somebody else holds it.
pub struct Shared<K>(Arc<K>);

impl<K> Shared<K> {
    /// The object.
    #[must_use]
    pub fn into_inner(self) -> Arc<K> {
        self.0
    }

    /// The object.
    #[must_use]
    pub fn as_arc(&self) -> &Arc<K> {
        &self.0
    }
}

impl<K> From<Arc<K>> for Shared<K> {
    fn from(object: Arc<K>) -> Self {
        Self(object)
    }
}

impl<K> Clone for Shared<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> Deref for Shared<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.0
    }
}

impl<K> AsRef<K> for Shared<K> {
    fn as_ref(&self) -> &K {
        &self.0
    }
}

impl<K: fmt::Debug> fmt::Debug for Shared<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<K: PartialEq> PartialEq for Shared<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K: Serialize> Serialize for Shared<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, K: Deserialize<'de>> Deserialize<'de> for Shared<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        K::deserialize(deserializer).map(|object| Self(Arc::new(object)))
    }
}

impl<K: kube::Resource + Clone> kube::Resource for Shared<K> {
    type DynamicType = K::DynamicType;
    type Scope = K::Scope;

    fn kind(dynamic: &K::DynamicType) -> Cow<'_, str> {
        K::kind(dynamic)
    }

    fn group(dynamic: &K::DynamicType) -> Cow<'_, str> {
        K::group(dynamic)
    }

    fn version(dynamic: &K::DynamicType) -> Cow<'_, str> {
        K::version(dynamic)
    }

    fn api_version(dynamic: &K::DynamicType) -> Cow<'_, str> {
        K::api_version(dynamic)
    }

    fn plural(dynamic: &K::DynamicType) -> Cow<'_, str> {
        K::plural(dynamic)
    }

    fn metadata_api() -> bool {
        K::metadata_api()
    }

    fn meta(&self) -> &ObjectMeta {
        self.0.meta()
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        Arc::make_mut(&mut self.0).meta_mut()
    }
}
