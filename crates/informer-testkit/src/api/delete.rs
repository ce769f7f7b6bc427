//! Deleting: preconditions, finalizers, collections.

use std::time::Duration;

use informer_core::Resource;
use serde_json::Value;

use super::{
    ApiError, Cause, FakeApi, ListOptions, Query, Target, Written, crd,
    list::{ListFailure, Page},
    namespaces,
    objects::{self, meta, meta_mut, set, text},
    render,
    table::Stored,
};

/// What becomes of the objects that are owned by the deleted one. There is no garbage collector: what it would have to do first is told by
/// a finalizer, which somebody has to take off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Propagation {
    /// They are deleted later.
    Background,
    /// They are deleted first: `foregroundDeletion` holds the object.
    Foreground,
    /// They stay: `orphan` holds the object.
    Orphan,
}

/// What a deletion is asked with. Grace periods are not acted on: there is no kubelet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeleteOptions {
    /// Only the object with this uid.
    pub uid: Option<String>,
    /// Only this version.
    pub version: Option<String>,
    /// What becomes of the objects that are owned by it.
    pub propagation: Option<Propagation>,
    /// Say what would happen.
    pub dry_run: bool,
}

impl Propagation {
    /// From its name; empty is none.
    pub(crate) fn parse(name: &str) -> Result<Option<Self>, ApiError> {
        Ok(Some(match name {
            "" => return Ok(None),
            "Background" => Self::Background,
            "Foreground" => Self::Foreground,
            "Orphan" => Self::Orphan,
            other => {
                let message = format!(
                    "Unsupported value: {other:?}: supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\""
                );
                let cause = Cause::new("FieldValueNotSupported", "propagationPolicy", message);
                return Err(ApiError::invalid("meta.k8s.io", "DeleteOptions", "", vec![cause]));
            }
        }))
    }
}

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

impl DeleteOptions {
    /// From the body of a DELETE.
    ///
    /// # Errors
    /// 400 for a body of another kind, 422 for a propagation that is none.
    pub(crate) fn from_json(body: &Value) -> Result<Self, ApiError> {
        let kind = body.get("kind").and_then(Value::as_str);
        if let Some(kind) = kind.filter(|it| *it != "DeleteOptions") {
            let version = body.get("apiVersion").and_then(Value::as_str).unwrap_or("");
            return Err(ApiError::bad_request(format!(
                "no kind {kind:?} is registered for version {version:?}: this is no DeleteOptions"
            )));
        }
        let precondition = |field: &str| {
            let value = body.get("preconditions")?.get(field)?.as_str()?;
            Some(value.to_owned())
        };
        let dry_run = body.get("dryRun").and_then(Value::as_array);
        let policy = body.get("propagationPolicy").and_then(Value::as_str);
        Ok(Self {
            uid: precondition("uid"),
            version: precondition("resourceVersion"),
            propagation: Propagation::parse(policy.unwrap_or(""))?,
            dry_run: dry_run.is_some_and(|it| !it.is_empty()),
        })
    }

    /// The finalizers of an object that is deleted like this (apiserver `deletionFinalizersForGarbageCollection`).
    fn finalizers(&self, target: &Target, mut finalizers: Vec<String>) -> Vec<String> {
        // Events have no dependents.
        let Some(policy) = self
            .propagation
            .filter(|_| &*target.resource().plural != "events")
        else {
            return finalizers;
        };
        finalizers.retain(|it| it != ORPHAN && it != FOREGROUND);
        match policy {
            Propagation::Background => {}
            Propagation::Foreground => finalizers.push(FOREGROUND.to_owned()),
            Propagation::Orphan => finalizers.push(ORPHAN.to_owned()),
        }
        finalizers
    }
}

impl FakeApi {
    /// Deletes an object, or marks it for deletion while it has finalizers. Returns its last state.
    ///
    /// # Errors
    /// 404, and 409 when a precondition does not hold.
    pub fn delete(
        &mut self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Value, ApiError> {
        self.delete_with(resource, namespace, name, &DeleteOptions::default())
    }

    /// The same with options.
    ///
    /// # Errors
    /// As [`delete`](Self::delete).
    pub fn delete_with(
        &mut self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
        options: &DeleteOptions,
    ) -> Result<Value, ApiError> {
        let target = self.kinds.target(resource, namespace)?;
        let written = self.do_delete(&target, name, options)?;
        Ok(render::value(&target.def, written.state()))
    }

    /// Deletes what a list would bring. Returns how many that were.
    ///
    /// # Errors
    /// As a list.
    pub fn delete_collection(
        &mut self,
        resource: &Resource,
        options: &ListOptions,
    ) -> Result<usize, ApiError> {
        let target = self.kinds.target(resource, options.namespace.as_deref())?;
        let deleted = self.do_delete_collection(&target, options, &DeleteOptions::default())?;
        Ok(deleted.items.len())
    }

    /// Marks an object for deletion after a grace period, as a pod is that its node has yet to stop. Who marks it deletes it later.
    pub(crate) fn begin_deletion(
        &mut self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
        grace_seconds: u64,
    ) -> Result<(), ApiError> {
        let target = self.kinds.target(resource, namespace)?;
        let current = self.find(&target, name)?.clone();
        let mut object = objects::parse(&current);
        let at = self.wall_at(
            self.elapsed() + Duration::from_secs(grace_seconds),
            Duration::ZERO,
        );
        let fields = meta_mut(&mut object);
        set(fields, "deletionTimestamp", at);
        set(fields, "deletionGracePeriodSeconds", grace_seconds);
        self.overwrite(&target, &current, object);
        Ok(())
    }

    pub(crate) fn do_delete(
        &mut self,
        target: &Target,
        name: &str,
        options: &DeleteOptions,
    ) -> Result<Written, ApiError> {
        let current = self.find(target, name)?.clone();
        let mut object = objects::parse(&current);
        check_preconditions(target, &current, &object, options)?;
        if namespaces::is_namespace(target) {
            return self.delete_namespace(target, &current, options);
        }
        let before = objects::texts(meta(&object), "finalizers");
        let finalizers = options.finalizers(target, before.clone());
        if finalizers.is_empty() {
            return Ok(self.remove(target, &current, options.dry_run));
        }
        if meta(&object).contains_key("deletionTimestamp") && finalizers == before {
            return Ok(Written::Is(current));
        }
        let fields = meta_mut(&mut object);
        set(fields, "finalizers", finalizers);
        if !fields.contains_key("deletionTimestamp") {
            set(fields, "deletionTimestamp", self.wall());
            set(fields, "deletionGracePeriodSeconds", 0);
            if let Some(generation) = fields.get("generation").and_then(Value::as_i64) {
                set(fields, "generation", generation + 1);
            }
        }
        if options.dry_run {
            let revision = Some(current.revision);
            return Ok(Written::Would(self.stored(
                target,
                &current.key,
                &mut object,
                revision,
            )));
        }
        let stored = self.overwrite(target, &current, object);
        if crd::is_definition(target) {
            self.end_definition(target, name);
        }
        Ok(Written::Is(stored))
    }

    pub(crate) fn do_delete_collection(
        &mut self,
        target: &Target,
        list: &ListOptions,
        options: &DeleteOptions,
    ) -> Result<Page, ApiError> {
        let kind = self.kind_of(target)?;
        let query = Query::read(target, kind, list)?;
        let found = query
            .run(kind, self.revision, self.revision)
            .map_err(ListFailure::into_error)?;
        for stored in &found.items {
            let one = Target {
                namespace: stored.namespace().map(str::to_owned),
                ..target.clone()
            };
            self.do_delete(&one, stored.name(), options)?;
        }
        Ok(found)
    }
}

/// apiserver `rest.BeforeDelete`.
fn check_preconditions(
    target: &Target,
    current: &Stored,
    object: &Value,
    options: &DeleteOptions,
) -> Result<(), ApiError> {
    let conflict = |why: String| {
        let mut resource = target.resource().clone();
        // The server names the kind here, not the plural.
        resource.plural = resource.kind.clone();
        Err(ApiError::conflict(&resource, current.name(), &why))
    };
    let uid = text(meta(object), "uid");
    if let Some(wanted) = &options.uid
        && wanted != uid
    {
        return conflict(format!(
            "the UID in the precondition ({wanted}) does not match the UID in record ({uid}). The object might have been deleted and then \
             recreated"
        ));
    }
    let version = current.revision.to_string();
    match &options.version {
        Some(wanted) if *wanted != version => conflict(format!(
            "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record ({version}). The object might \
             have been modified"
        )),
        _ => Ok(()),
    }
}
