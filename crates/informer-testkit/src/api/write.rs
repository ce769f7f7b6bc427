//! Creating (apiserver `registry/generic/registry.Store.Create`), and what all writes share.

use std::sync::Arc;

use informer_core::Resource;
use serde_json::{Value, json};

use super::{
    ApiError, FakeApi, Patch, Target, crd, namespaces,
    objects::{self, meta, meta_mut, set, text},
    render,
    table::{LogEntry, Stored},
    validate,
};

/// Which part of an object is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Everything but the status, where that is a subresource.
    Main,
    /// The status alone.
    Status,
    /// The finalizers of a namespace.
    Finalize,
}

/// How a write is made.
#[derive(Debug, Clone, Default)]
pub(crate) struct WriteOptions {
    /// Say what would happen.
    pub(crate) dry_run: bool,
    /// A client's request, which may be refused for more reasons than a write of the model's owner.
    pub(crate) strict: bool,
    /// Who writes, for the managers of fields.
    pub(crate) manager: String,
}

/// What a write left.
#[derive(Debug, Clone)]
pub(crate) enum Written {
    /// The object was created.
    Created(Arc<Stored>),
    /// The object is now this; it may be what it was.
    Is(Arc<Stored>),
    /// The object is gone; this was its last state.
    Gone(Arc<Stored>),
    /// It would be this, had the request not been a dry run.
    Would(Arc<Stored>),
    /// It would be gone; this is its state.
    WouldGo(Arc<Stored>),
}

impl Written {
    pub(crate) fn state(&self) -> &Arc<Stored> {
        match self {
            Self::Created(stored)
            | Self::Is(stored)
            | Self::Gone(stored)
            | Self::Would(stored)
            | Self::WouldGo(stored) => stored,
        }
    }
}

impl FakeApi {
    /// Creates an object. One of a namespaced kind without a namespace goes to `default`. The namespace need not exist: that is asked for
    /// of requests only.
    ///
    /// # Errors
    /// As the server refuses: 400, 404 (kind), 409 (it exists), 422.
    pub fn create(&mut self, resource: &Resource, object: Value) -> Result<Value, ApiError> {
        let target = self.target_of(resource, &object)?;
        let written = self.do_create(&target, object, &WriteOptions::default())?;
        Ok(render::value(&target.def, written.state()))
    }

    /// Replaces an object, but for its status where that is a subresource. With a resource version, only that version.
    ///
    /// # Errors
    /// As the server refuses: 400, 404, 409 (another version), 422.
    pub fn update(&mut self, resource: &Resource, object: Value) -> Result<Value, ApiError> {
        self.update_part(resource, object, Part::Main)
    }

    /// Replaces the status of an object.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    pub fn update_status(&mut self, resource: &Resource, object: Value) -> Result<Value, ApiError> {
        self.update_part(resource, object, Part::Status)
    }

    /// Patches an object, but for its status where that is a subresource.
    ///
    /// # Errors
    /// As [`update`](Self::update), and 422 when the patch does not apply.
    pub fn patch(
        &mut self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
        patch: &Patch,
    ) -> Result<Value, ApiError> {
        self.patch_part(resource, namespace, name, patch, Part::Main)
    }

    /// Patches the status of an object.
    ///
    /// # Errors
    /// As [`patch`](Self::patch).
    pub fn patch_status(
        &mut self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
        patch: &Patch,
    ) -> Result<Value, ApiError> {
        self.patch_part(resource, namespace, name, patch, Part::Status)
    }

    /// Makes the object be this, status included, whether it existed or not: what tests and workloads write with.
    ///
    /// # Errors
    /// 404 (kind) and 422.
    pub fn put(&mut self, resource: &Resource, mut object: Value) -> Result<Value, ApiError> {
        let target = self.target_of(resource, &object)?;
        target.def.keep_names(&mut object);
        let status = object.get("status").cloned();
        meta_mut(&mut object).remove("resourceVersion");
        let name = text(meta(&object), "name").to_owned();
        let current = self.find(&target, &name).ok().cloned();
        let options = WriteOptions::default();
        let written = match current {
            Some(current) => self.replace(&target, &current, object, status, &options)?,
            None => self.insert(&target, object, status, &options)?,
        };
        Ok(render::value(&target.def, written.state()))
    }

    fn update_part(&mut self, resource: &Resource, object: Value, part: Part) -> Result<Value, ApiError> {
        let target = self.target_of(resource, &object)?;
        let name = text(meta(&object), "name").to_owned();
        let written = self.do_update(&target, &name, object, part, &WriteOptions::default())?;
        Ok(render::value(&target.def, written.state()))
    }

    fn patch_part(
        &mut self,
        resource: &Resource,
        namespace: Option<&str>,
        name: &str,
        patch: &Patch,
        part: Part,
    ) -> Result<Value, ApiError> {
        let target = self.kinds.target(resource, namespace)?;
        let written = self.do_patch(&target, name, patch, part, &WriteOptions::default())?;
        Ok(render::value(&target.def, written.state()))
    }

    fn target_of(&self, resource: &Resource, object: &Value) -> Result<Target, ApiError> {
        let namespace = Some(text(meta(object), "namespace")).filter(|it| !it.is_empty());
        self.kinds.target(resource, Some(namespace.unwrap_or("default")))
    }

    pub(crate) fn do_create(
        &mut self,
        target: &Target,
        mut object: Value,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        validate::kind(target, &object, options.strict)?;
        check_namespace(target, &mut object)?;
        if options.strict {
            self.check_lifecycle(target, text(meta(&object), "name"))?;
        }
        if !text(meta(&object), "resourceVersion").is_empty() {
            return Err(ApiError::new(
                500,
                "",
                "resourceVersion should not be set on objects to be created",
            ));
        }
        target.def.keep_names(&mut object);
        let status = if target.def.status && !target.def.created_with_status {
            None
        } else {
            object.get("status").cloned()
        };
        self.insert(target, object, status, options)
    }

    pub(super) fn insert(
        &mut self,
        target: &Target,
        mut object: Value,
        status: Option<Value>,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        self.name_it(&mut object);
        crd::complete(target, &mut object);
        if namespaces::is_namespace(target) {
            namespaces::complete(&mut object);
        }
        validate::create(target, &object)?;
        let name = text(meta(&object), "name").to_owned();
        let key: Arc<str> = objects::key_of(target.namespace.as_deref(), &name).into();
        if self.kind_of(target)?.table.get(&key).is_some() {
            return Err(ApiError::already_exists(target.resource(), &name));
        }
        let uid = self.new_uid();
        let created = self.wall_at(self.elapsed(), self.backdate);
        let fields = meta_mut(&mut object);
        for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"] {
            fields.remove(field);
        }
        set(fields, "uid", uid);
        set(fields, "creationTimestamp", created);
        if let Some(namespace) = &target.namespace {
            set(fields, "namespace", namespace.as_str());
        }
        if target.def.generation {
            set(fields, "generation", 1);
        }
        set_status(
            &mut object,
            status.or_else(|| target.def.phase.map(|phase| json!({"phase": phase}))),
        );
        if options.dry_run {
            return Ok(Written::Would(self.stored(target, &key, &mut object, None)));
        }
        let revision = self.next_revision();
        let stored = self.stored(target, &key, &mut object, Some(revision));
        self.commit(
            &target.key,
            LogEntry {
                revision: stored.revision,
                key,
                before: None,
                after: Some(stored.clone()),
                gone: None,
            },
        );
        self.after_write(target, &name);
        Ok(Written::Created(stored))
    }

    /// The object as it is kept, of this version, or of none.
    pub(super) fn stored(
        &self,
        target: &Target,
        key: &Arc<str>,
        object: &mut Value,
        revision: Option<u64>,
    ) -> Arc<Stored> {
        let selectable = self
            .kinds
            .get(&target.key)
            .map_or(&[][..], |kind| &kind.selectable);
        objects::store(key, revision, object, selectable)
    }

    /// Generates the name where only a prefix is given (apiserver `names.SimpleNameGenerator`: five letters without vowels).
    fn name_it(&mut self, object: &mut Value) {
        const LETTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";
        let fields = meta_mut(object);
        let prefix = text(fields, "generateName");
        if !text(fields, "name").is_empty() || prefix.is_empty() {
            return;
        }
        let mut name = prefix.to_owned();
        for _ in 0..5 {
            name.push(char::from(LETTERS[self.rng.index(LETTERS.len())]));
        }
        set(fields, "name", name);
    }

    fn new_uid(&mut self) -> String {
        let (high, low) = (self.rng.bits(), self.rng.bits());
        format!(
            "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
            high >> 32,
            (high >> 16) & 0xffff,
            high & 0xfff,
            0x8000 | ((low >> 48) & 0x3fff),
            low & 0xffff_ffff_ffff
        )
    }
}

pub(super) fn set_status(object: &mut Value, status: Option<Value>) {
    match status {
        Some(status) => object["status"] = status,
        None => drop(object.as_object_mut().map(|fields| fields.remove("status"))),
    }
}

/// The namespace of an object is that of the request (apiserver `rest.EnsureObjectNamespaceMatchesRequestNamespace`).
pub(super) fn check_namespace(target: &Target, object: &mut Value) -> Result<(), ApiError> {
    let namespace = text(meta(object), "namespace");
    match &target.namespace {
        None => drop(meta_mut(object).remove("namespace")),
        Some(wanted) if namespace.is_empty() || namespace == wanted => {}
        Some(_) => {
            return Err(ApiError::bad_request(
                "the namespace of the provided object does not match the namespace sent on the request",
            ));
        }
    }
    Ok(())
}
