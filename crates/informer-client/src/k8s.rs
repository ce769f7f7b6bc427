//! k8s-openapi types: their kind as a value, and their metadata.

use informer_core::{Meta, MetaFields, Owner, Resource, Scope};
use k8s_openapi::{
    ClusterResourceScope, Metadata, NamespaceResourceScope, apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

/// A scope that objects can have, as opposed to that of subresources.
pub trait KnownScope {
    /// The scope.
    const SCOPE: Scope;
}

impl KnownScope for ClusterResourceScope {
    const SCOPE: Scope = Scope::Cluster;
}

impl KnownScope for NamespaceResourceScope {
    const SCOPE: Scope = Scope::Namespaced;
}

/// The kind of a type, as a value.
#[must_use]
pub fn resource_of<K>() -> Resource
where
    K: k8s_openapi::Resource,
    K::Scope: KnownScope,
{
    Resource {
        group: K::GROUP.into(),
        version: K::VERSION.into(),
        plural: K::URL_PATH_SEGMENT.into(),
        kind: K::KIND.into(),
        scope: K::Scope::SCOPE,
    }
}

/// Reads the metadata of k8s-openapi types.
#[derive(Debug, Clone, Copy, Default)]
pub struct K8s;

impl<K: Metadata<Ty = ObjectMeta>> Meta<K> for K8s {
    fn fields(&self) -> MetaFields {
        MetaFields::all()
    }

    fn label<'a>(&self, object: &'a K, name: &str) -> Option<&'a str> {
        let labels = object.metadata().labels.as_ref()?;
        labels.get(name).map(|value| &**value)
    }

    fn owners(&self, object: &K, visit: &mut dyn FnMut(Owner<'_>)) {
        for owner in object.metadata().owner_references.iter().flatten() {
            visit(Owner::new(
                &owner.api_version,
                &owner.kind,
                &owner.name,
                &owner.uid,
                owner.controller.unwrap_or(false),
            ));
        }
    }

    fn generation(&self, object: &K) -> Option<i64> {
        object.metadata().generation
    }

    fn deleting(&self, object: &K) -> bool {
        object.metadata().deletion_timestamp.is_some()
    }
}
