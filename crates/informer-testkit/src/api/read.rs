//! Reading single objects.

use std::sync::Arc;

use informer_core::Resource;
use serde_json::Value;

use super::{ApiError, FakeApi, ListOptions, Target, objects, render, table::Stored};

impl FakeApi {
    /// An object.
    ///
    /// # Errors
    /// 404 when kind or object is not there.
    pub fn get(&self, resource: &Resource, namespace: Option<&str>, name: &str) -> Result<Value, ApiError> {
        let target = self.kinds.target(resource, namespace)?;
        let stored = self.find(&target, name)?;
        Ok(render::value(&target.def, stored))
    }

    /// All objects of a kind, as they are now. Empty when the kind is not served.
    #[must_use]
    pub fn all(&self, resource: &Resource) -> Vec<Value> {
        self.list(resource, &ListOptions::default())
            .map_or_else(|_| Vec::new(), |list| list.items)
    }

    /// How many objects of a kind there are.
    #[must_use]
    pub fn count(&self, resource: &Resource) -> usize {
        self.kinds
            .target(resource, None)
            .ok()
            .and_then(|target| self.kinds.get(&target.key).map(|kind| kind.table.len()))
            .unwrap_or(0)
    }

    pub(crate) fn find(&self, target: &Target, name: &str) -> Result<&Arc<Stored>, ApiError> {
        let key = objects::key_of(target.namespace.as_deref(), name);
        self.kind_of(target)?
            .table
            .get(&key)
            .ok_or_else(|| ApiError::not_found(target.resource(), name))
    }
}
