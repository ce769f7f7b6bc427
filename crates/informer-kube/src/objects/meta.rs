//! `KubeMeta`: the metadata of whatever is a `kube::Resource`.

use informer_core::{Meta, MetaFields, Owner};

/// Reads the metadata of kube's types: those of k8s-openapi, derived custom resources, dynamic objects and metadata only.
#[derive(Debug, Clone, Copy, Default)]
pub struct KubeMeta;

impl<K: kube::Resource> Meta<K> for KubeMeta {
    fn fields(&self) -> MetaFields {
        MetaFields::all()
    }

    fn label<'a>(&self, object: &'a K, name: &str) -> Option<&'a str> {
        let labels = object.meta().labels.as_ref()?;
        labels.get(name).map(|value| &**value)
    }

    fn owners(&self, object: &K, visit: &mut dyn FnMut(Owner<'_>)) {
        for owner in object.meta().owner_references.iter().flatten() {
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
        object.meta().generation
    }

    fn deleting(&self, object: &K) -> bool {
        object.meta().deletion_timestamp.is_some()
    }
}
