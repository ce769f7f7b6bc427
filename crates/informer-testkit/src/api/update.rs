//! Updating and removing (apiserver `registry/generic/registry.Store.Update`).

use std::sync::Arc;

use serde_json::Value;

use super::{
    ApiError, Cause, FakeApi, Part, Patch, Target, WriteOptions, Written, managed, namespaces,
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
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        validate::kind(target, &object, options.strict)?;
        check_namespace(target, &mut object)?;
        let body_name = text(meta(&object), "name");
        if body_name.is_empty() || name.is_empty() {
            return Err(ApiError::bad_request(format!(
                "the name of the object ({name} based on URL) was undeterminable: name must be provided"
            )));
        }
        check_name(body_name, name)?;
        let current = match self.find(target, name) {
            Ok(current) => current.clone(),
            Err(_) if target.def.create_on_update && part == Part::Main => {
                // What was made from a state that is gone does not bring it back: preconditions are checked before metadata are wiped.
                let uid = text(meta(&object), "uid");
                if !uid.is_empty() {
                    let key = match &target.namespace {
                        Some(namespace) => format!("{namespace}/{name}"),
                        None => name.to_owned(),
                    };
                    return Err(uid_conflict(target, name, &key, uid, ""));
                }
                meta_mut(&mut object).remove("resourceVersion");
                return self.do_create(target, object, options);
            }
            Err(error) => return Err(error),
        };
        target.def.keep_names(&mut object);
        let uid = text(meta(&object), "uid");
        let old = objects::parse(&current);
        let old_uid = text(meta(&old), "uid");
        if !uid.is_empty() && uid != old_uid {
            return Err(uid_conflict(target, name, &current.key, uid, old_uid));
        }
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
        self.update_from(target, &current, object, part, options)
    }

    pub(crate) fn do_patch(
        &mut self,
        target: &Target,
        name: &str,
        patch: &Patch,
        part: Part,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        if let Patch::Apply { object, force } = patch {
            return self.do_apply(target, name, object, *force, part, options);
        }
        let current = self.find(target, name)?.clone();
        let before = render::value(&target.def, &current);
        let mut object = patch.apply(target, before)?;
        validate::kind(target, &object, options.strict)?;
        check_namespace(target, &mut object)?;
        check_name(text(meta(&object), "name"), name)?;
        target.def.keep_names(&mut object);
        self.update_from(target, &current, object, part, options)
    }

    /// The part of an update that a PUT and a patch share.
    fn update_from(
        &mut self,
        target: &Target,
        current: &Arc<Stored>,
        mut object: Value,
        part: Part,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        let old = objects::parse(current);
        self.check_version(target, current, &object)?;
        check_uid(target, &object, &old)?;
        let status = take_part(target, &mut object, &old, part);
        let now = self.wall();
        let by = (part, options.manager.as_str(), now.as_str());
        managed::update(target, &mut object, status.as_ref(), &old, by);
        self.replace(target, current, object, status, options)
    }

    /// An update that names a version must name the present one.
    pub(super) fn check_version(
        &self,
        target: &Target,
        current: &Stored,
        object: &Value,
    ) -> Result<(), ApiError> {
        let version = text(meta(object), "resourceVersion");
        match version.parse::<u64>() {
            Err(_) if version.is_empty() => Ok(()),
            Err(_) => Err(ApiError::new(
                500,
                "",
                format!("strconv.ParseUint: parsing {version:?}: invalid syntax"),
            )),
            Ok(version) if version == current.revision || version == 0 => Ok(()),
            Ok(_) => Err(ApiError::conflict(target.resource(), current.name(), LOCKED)),
        }
    }

    /// Writes an object over its current state, or removes it when its last finalizer is gone.
    pub(super) fn replace(
        &mut self,
        target: &Target,
        current: &Arc<Stored>,
        mut object: Value,
        status: Option<Value>,
        options: &WriteOptions,
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
        if namespaces::is_namespace(target) {
            namespaces::name_in_labels(&mut object);
        }
        validate::update(target, &object, &old)?;
        objects::tidy(&mut object);
        set(
            meta_mut(&mut object),
            "resourceVersion",
            current.revision.to_string(),
        );
        if object == old {
            // Nothing changes: no event, no new version (apiserver `etcd3.GuaranteedUpdate`).
            return Ok(Written::Is(current.clone()));
        }
        let counts = target.def.generation && !target.def.generation_stays;
        if counts && spec_changed(target, &object, &old) {
            let generation = meta(&old).get("generation").and_then(Value::as_i64).unwrap_or(0);
            set(meta_mut(&mut object), "generation", generation + 1);
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
        if is_deleted_without_grace(&old) && is_free(target, &object) {
            // What is told is the version before the removal (apiserver `Store.deleteWithoutFinalizers`).
            let answer = self.stored(target, &current.key, &mut object.clone(), Some(current.revision));
            self.remove(target, current, options.dry_run);
            return Ok(Written::Gone(answer));
        }
        let stored = self.overwrite(target, current, object);
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
        let revision = self.next_revision();
        let stored = self.stored(target, &current.key, &mut object, Some(revision));
        self.commit(
            &target.key,
            LogEntry {
                revision,
                key: current.key.clone(),
                before: Some(current.clone()),
                after: Some(stored.clone()),
                gone: None,
            },
        );
        stored
    }

    /// Removes an object. What is told of it is its last state, with the version of the removal.
    pub(super) fn remove(&mut self, target: &Target, current: &Arc<Stored>, dry_run: bool) -> Written {
        if dry_run {
            return Written::WouldGo(current.clone());
        }
        let mut last = objects::parse(current);
        self.before_remove(target, &last);
        let revision = self.next_revision();
        let gone = self.stored(target, &current.key, &mut last, Some(revision));
        self.commit(
            &target.key,
            LogEntry {
                revision,
                key: current.key.clone(),
                before: Some(current.clone()),
                after: None,
                gone: Some(gone.clone()),
            },
        );
        if let Some(namespace) = current.namespace().filter(|_| target.is_namespaced()) {
            self.end_namespace(namespace);
        }
        Written::Gone(gone)
    }
}

/// An object with another uid is another object.
pub(super) fn check_uid(target: &Target, object: &Value, old: &Value) -> Result<(), ApiError> {
    let uid = text(meta(object), "uid");
    if uid.is_empty() || uid == text(meta(old), "uid") {
        return Ok(());
    }
    let cause = Cause::invalid("metadata.uid", format!("{uid:?}"), "field is immutable");
    let resource = target.resource();
    let name = text(meta(old), "name");
    Err(ApiError::invalid(
        &resource.group,
        &resource.kind,
        name,
        vec![cause],
    ))
}

fn check_name(of_object: &str, of_url: &str) -> Result<(), ApiError> {
    if of_object == of_url {
        return Ok(());
    }
    Err(ApiError::bad_request(format!(
        "the name of the object ({of_object}) does not match the name on the URL ({of_url})"
    )))
}

/// Leaves of an update what its part may write, and returns the status that the object shall have (the strategies' `PrepareForUpdate`).
pub(super) fn take_part(target: &Target, object: &mut Value, old: &Value, part: Part) -> Option<Value> {
    let def = &target.def;
    match part {
        Part::Main | Part::Finalize if !def.status => object.get("status").cloned(),
        Part::Main | Part::Finalize => {
            if part == Part::Main && namespaces::is_namespace(target) {
                object["spec"] = old.get("spec").cloned().unwrap_or_else(|| serde_json::json!({}));
            }
            old.get("status").cloned()
        }
        Part::Status => {
            let status = object.get("status").cloned();
            let mut written = old.clone();
            if !def.custom {
                // Custom resources change nothing else; built-in ones take the metadata, too.
                let mut fields = meta(object).clone();
                if def.status_keeps_labels {
                    keep(&mut fields, meta(old), "labels");
                }
                written["metadata"] = Value::Object(fields);
            }
            *object = written;
            status
        }
    }
}

/// Marked for deletion, with nobody left to wait for but finalizers (apiserver `registry.ShouldDeleteDuringUpdate`).
fn is_deleted_without_grace(old: &Value) -> bool {
    let meta = meta(old);
    let grace = meta
        .get("deletionGracePeriodSeconds")
        .and_then(Value::as_i64)
        .unwrap_or(0);
    meta.contains_key("deletionTimestamp") && grace == 0
}

/// Without finalizers.
fn is_free(target: &Target, object: &Value) -> bool {
    let is_held = namespaces::is_namespace(target) && !namespaces::spec_finalizers(object).is_empty();
    objects::texts(meta(object), "finalizers").is_empty() && !is_held
}

/// Whether anything outside of metadata and status differs; custom resources without a status subresource have nothing but a spec.
fn spec_changed(target: &Target, new: &Value, old: &Value) -> bool {
    let spec = |object: &Value| {
        let mut fields = object.as_object().cloned().unwrap_or_default();
        fields.remove("metadata");
        if target.def.status || !target.def.custom {
            fields.remove("status");
        }
        fields
    };
    spec(new) != spec(old)
}

/// The precondition that an update states by carrying a uid does not hold.
fn uid_conflict(target: &Target, name: &str, key: &str, uid: &str, found: &str) -> ApiError {
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{}/{key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: \
         UID in precondition: {uid}, UID in object meta: {found}",
        target.resource().plural,
    );
    ApiError::conflict(target.resource(), name, &why)
}
