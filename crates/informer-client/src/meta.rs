//! `Meta` strategies of the forms of object that hold their metadata.

use informer_core::{Meta, MetaFields, Owner};
use informer_transport::{DynamicObject, OwnerReference, PackedObject, PartialMetadata};
use serde_json::Value;

/// Reads the metadata of dynamic objects.
#[derive(Debug, Clone, Copy, Default)]
pub struct DynamicMeta;

impl Meta<DynamicObject> for DynamicMeta {
    fn fields(&self) -> MetaFields {
        MetaFields::all()
    }

    fn label<'a>(&self, object: &'a DynamicObject, name: &str) -> Option<&'a str> {
        object.label(name)
    }

    fn owners(&self, object: &DynamicObject, visit: &mut dyn FnMut(Owner<'_>)) {
        let owners = object.metadata("ownerReferences").and_then(Value::as_array);
        for owner in owners.into_iter().flatten() {
            let text = |member: &str| owner.get(member).and_then(Value::as_str).unwrap_or_default();
            let is_controller = owner.get("controller").and_then(Value::as_bool).unwrap_or(false);
            visit(Owner::new(
                text("apiVersion"),
                text("kind"),
                text("name"),
                text("uid"),
                is_controller,
            ));
        }
    }

    fn generation(&self, object: &DynamicObject) -> Option<i64> {
        object.metadata("generation")?.as_i64()
    }

    fn deleting(&self, object: &DynamicObject) -> bool {
        object
            .metadata("deletionTimestamp")
            .is_some_and(|mark| !mark.is_null())
    }
}

/// Reads metadata-only objects.
#[derive(Debug, Clone, Copy, Default)]
pub struct PartialMeta;

impl Meta<PartialMetadata> for PartialMeta {
    fn fields(&self) -> MetaFields {
        MetaFields::all()
    }

    fn label<'a>(&self, object: &'a PartialMetadata, name: &str) -> Option<&'a str> {
        object.metadata.labels.get(name).map(|value| &**value)
    }

    fn owners(&self, object: &PartialMetadata, visit: &mut dyn FnMut(Owner<'_>)) {
        visit_all(&object.metadata.owner_references, visit);
    }

    fn generation(&self, object: &PartialMetadata) -> Option<i64> {
        object.metadata.generation
    }

    fn deleting(&self, object: &PartialMetadata) -> bool {
        object.metadata.deletion_timestamp.is_some()
    }
}

/// Reads packed objects.
#[derive(Debug, Clone, Copy, Default)]
pub struct PackedMeta;

impl Meta<PackedObject> for PackedMeta {
    fn fields(&self) -> MetaFields {
        MetaFields::all()
    }

    fn label<'a>(&self, object: &'a PackedObject, name: &str) -> Option<&'a str> {
        object.label(name)
    }

    fn owners(&self, object: &PackedObject, visit: &mut dyn FnMut(Owner<'_>)) {
        visit_all(object.owners(), visit);
    }

    fn generation(&self, object: &PackedObject) -> Option<i64> {
        object.generation()
    }

    fn deleting(&self, object: &PackedObject) -> bool {
        object.is_deleting()
    }
}

fn visit_all(owners: &[OwnerReference], visit: &mut dyn FnMut(Owner<'_>)) {
    for owner in owners {
        visit(Owner::new(
            &owner.api_version,
            &owner.kind,
            &owner.name,
            &owner.uid,
            owner.controller.unwrap_or(false),
        ));
    }
}
