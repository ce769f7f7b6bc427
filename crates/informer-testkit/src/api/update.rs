//! Updating and removing (apiserver `registry/generic/registry.Store.Update`).

use std::sync::Arc;

use serde_json::Value;

use super::{
    ApiError, Cause, FakeApi, Part, Patch, Target, Written,
    objects::{self, keep, meta, meta_mut, set, text},
    render,
    table::{LogEntry, Stored},
    validate,
    write::{check_namespace, set_status},
};

const LOCKED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

impl FakeApi {
    pub(crate) fn do_update(
        &mut self,
        target: &Target,
        name: &str,
        mut object: Value,
        part: Part,
        dry_run: bool,
    ) -> Result<Written, ApiError> {
        validate::kind(target, &object)?;
        check_namespace(target, &mut object)?;
        let body_name = text(meta(&object), "name");
        if body_name.is_empty() || name.is_empty() {
            return Err(ApiError::bad_request("the name of the object must be provided"));
        }
        if body_name != name {
            return Err(ApiError::bad_request(format!(
                "the name of the object ({body_name}) does not match the name on the URL ({name})"
            )));
        }
        let current = match self.find(target, name) {
            Ok(current) => current.clone(),
            Err(_) if target.def.create_on_update && part == Part::Main => {
                meta_mut(&mut object).remove("resourceVersion");
                return self.do_create(target, object, dry_run);
            }
            Err(error) => return Err(error),
        };
        if text(meta(&object), "resourceVersion").is_empty() && !target.def.unconditional_update {
            let cause = Cause::invalid("metadata.resourceVersion", 0, "must be specified for an update");
            let resource = target.resource();
            return Err(ApiError::invalid(
                &resource.group,
                &resource.plural,
                name,
                vec![cause],
            ));
        }
        self.update_from(target, &current, object, part, dry_run)
    }

    pub(crate) fn do_patch(
        &mut self,
        target: &Target,
        name: &str,
        patch: &Patch,
        part: Part,
        dry_run: bool,
    ) -> Result<Written, ApiError> {
        let current = self.find(target, name)?.clone();
        let before = render::value(&target.def, &current);
        let mut object = patch.apply(target, name, before)?;
        validate::kind(target, &object)?;
        check_namespace(target, &mut object)?;
        if text(meta(&object), "name") != name {
            let cause = Cause::invalid(
                "metadata.name",
                format!("{:?}", text(meta(&object), "name")),
                "field is immutable",
            );
            let resource = target.resource();
            return Err(ApiError::invalid(
                &resource.group,
                &resource.kind,
                name,
                vec![cause],
            ));
        }
        self.update_from(target, &current, object, part, dry_run)
    }

    /// The part of an update that a PUT and a patch share.
    fn update_from(
        &mut self,
        target: &Target,
        current: &Arc<Stored>,
        mut object: Value,
        part: Part,
        dry_run: bool,
    ) -> Result<Written, ApiError> {
        let name = current.name().to_owned();
        let mut old = objects::parse(current);
        let version = text(meta(&object), "resourceVersion");
        if !version.is_empty() && version != current.revision.to_string() {
            return Err(ApiError::conflict(target.resource(), &name, LOCKED));
        }
        let (uid, old_uid) = (text(meta(&object), "uid"), text(meta(&old), "uid"));
        if !uid.is_empty() && uid != old_uid {
            let why = format!(
                "StorageError: invalid object, Code: 4, Key: /registry/{}/{}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: \
                 UID in precondition: {uid}, UID in object meta: {old_uid}",
                target.resource().plural,
                current.key
            );
            return Err(ApiError::conflict(target.resource(), &name, &why));
        }
        let status = match part {
            Part::Main if target.def.status => old.get("status").cloned(),
            Part::Main => object.get("status").cloned(),
            Part::Status => {
                let status = object.get("status").cloned();
                object = std::mem::take(&mut old);
                status
            }
        };
        self.replace(target, current, object, status, dry_run)
    }

    /// Writes an object over its current state, or removes it when its last finalizer is gone.
    pub(super) fn replace(
        &mut self,
        target: &Target,
        current: &Arc<Stored>,
        mut object: Value,
        status: Option<Value>,
        dry_run: bool,
    ) -> Result<Written, ApiError> {
        let old = objects::parse(current);
        let fields = meta_mut(&mut object);
        for field in [
            "uid",
            "creationTimestamp",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
            "generation",
        ] {
            keep(fields, meta(&old), field);
        }
        if let Some(namespace) = &target.namespace {
            set(fields, "namespace", namespace.as_str());
        }
        set_status(&mut object, status);
        validate::update(target, &object, &old)?;
        set(
            meta_mut(&mut object),
            "resourceVersion",
            current.revision.to_string(),
        );
        if let Some(fields) = object.as_object_mut() {
            fields.remove("kind");
            fields.remove("apiVersion");
        }
        if object == old {
            // Nothing changes: no event, no new version (apiserver `etcd3.GuaranteedUpdate`).
            return Ok(Written::Is(current.clone()));
        }
        if target.def.generation && spec_changed(&object, &old) {
            let generation = meta(&old).get("generation").and_then(Value::as_i64).unwrap_or(0);
            set(meta_mut(&mut object), "generation", generation + 1);
        }
        if is_deleted_without_grace(meta(&old)) && objects::texts(meta(&object), "finalizers").is_empty() {
            return Ok(self.remove(target, current, object, dry_run));
        }
        let stored = self.stored(target, &current.key, &mut object, dry_run);
        if dry_run {
            return Ok(Written::Would(stored));
        }
        self.commit(
            &target.key,
            LogEntry {
                revision: stored.revision,
                key: current.key.clone(),
                before: Some(current.clone()),
                after: Some(stored.clone()),
                gone: None,
            },
        );
        self.after_write(target, current.name());
        Ok(Written::Is(stored))
    }

    /// Writes an object over its current state as it is.
    pub(super) fn overwrite(
        &mut self,
        target: &Target,
        current: &Arc<Stored>,
        mut object: Value,
    ) -> Arc<Stored> {
        let stored = self.stored(target, &current.key, &mut object, false);
        self.commit(
            &target.key,
            LogEntry {
                revision: stored.revision,
                key: current.key.clone(),
                before: Some(current.clone()),
                after: Some(stored.clone()),
                gone: None,
            },
        );
        stored
    }

    /// Removes an object whose last state is `last`.
    pub(super) fn remove(
        &mut self,
        target: &Target,
        current: &Arc<Stored>,
        mut last: Value,
        dry_run: bool,
    ) -> Written {
        if !dry_run {
            self.before_remove(target, &last);
        }
        let gone = self.stored(target, &current.key, &mut last, dry_run);
        if dry_run {
            return Written::Would(gone);
        }
        self.commit(
            &target.key,
            LogEntry {
                revision: gone.revision,
                key: current.key.clone(),
                before: Some(current.clone()),
                after: None,
                gone: Some(gone.clone()),
            },
        );
        Written::Gone(gone)
    }
}

/// Marked for deletion, with nobody left to wait for but finalizers (apiserver `registry.ShouldDeleteDuringUpdate`).
fn is_deleted_without_grace(meta: &objects::Meta) -> bool {
    let grace = meta
        .get("deletionGracePeriodSeconds")
        .and_then(Value::as_i64)
        .unwrap_or(0);
    meta.contains_key("deletionTimestamp") && grace == 0
}

/// Whether anything outside of metadata and status differs.
fn spec_changed(new: &Value, old: &Value) -> bool {
    let spec = |object: &Value| {
        let mut fields = object.as_object().cloned().unwrap_or_default();
        fields.remove("metadata");
        fields.remove("status");
        fields
    };
    spec(new) != spec(old)
}
