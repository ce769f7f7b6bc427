//! Helpers for those who write objects: owners, finalizers, differences, create or update.

mod create_or;
mod difference;
mod finalizer;
mod finalizers;
mod owner;

use serde_json::{Map, Value};

use crate::{Error, Form, access::to_value};

pub use self::{
    create_or::{Outcome, create_or_patch, create_or_update},
    difference::{merge_patch, merge_patch_locked},
    finalizer::{
        add_finalizer, contains_finalizer, finalizer_patch, insert_finalizer, remove_finalizer,
        take_finalizer,
    },
    finalizers::{FinalizeError, Finalized, Finalizer, FinalizerFailure, Finalizers},
    owner::{OwnerError, OwnerObject, controller_of, owners_of},
};

/// Changes the metadata of an object, whatever its form: through its JSON, which costs a round trip through serde. `None` from `change` leaves
/// it as it is.
fn with_metadata<K: Form, R>(
    object: &mut K,
    change: impl FnOnce(&mut Map<String, Value>) -> Option<R>,
) -> Result<Option<R>, Error> {
    let mut value = to_value(object)?;
    let members = value
        .as_object_mut()
        .ok_or_else(|| Error::refused("the object is no JSON object"))?;
    let metadata = members
        .entry("metadata")
        .or_insert_with(|| Value::Object(Map::new()))
        .as_object_mut()
        .ok_or_else(|| Error::refused("the metadata of the object is no JSON object"))?;
    let Some(result) = change(metadata) else {
        return Ok(None);
    };
    *object = serde_json::from_value(value).map_err(|error| {
        Error::refused(format!(
            "the form of object cannot hold the metadata that was set: {error}"
        ))
    })?;
    Ok(Some(result))
}
