//! `WriteClient`: writes as values, which wrappers change or refuse on their way.

use std::{future::ready, sync::Arc};

use informer_core::{BoxFuture, Decoded, ObjectKey, Resource};
use informer_transport::{DeleteOptions, DynamicObject, Patch, WriteOptions};
use serde_json::Value;

use super::form::metadata;
use crate::{Error, Kinds, Selectors};

/// Writes objects. One method, so that a wrapper is one method too; dyn-compatible.
///
/// Comfort is in [`WriteClientExt`](crate::WriteClientExt).
pub trait WriteClient: Send + Sync {
    /// The kinds that it knows by type.
    fn kinds(&self) -> &Kinds;

    /// The kind that an object or owner reference says it is of: `apps/v1` and `Deployment`. From [`kinds`](Self::kinds); clients that can ask
    /// the server for one that is not there, as [`LiveClient`](crate::LiveClient) does, do so. A wrapper passes it on.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the request.
    fn resolve<'a>(&'a self, api_version: &'a str, kind: &'a str) -> BoxFuture<'a, Result<Resource, Error>> {
        let known = self.kinds().by_api_version(api_version, kind);
        Box::pin(ready(known.map_err(Error::from)))
    }

    /// Does a write.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the request. The server may have seen it.
    fn write(&self, write: Write) -> BoxFuture<'_, Result<Written, Error>>;
}

impl<C: WriteClient + ?Sized> WriteClient for Arc<C> {
    fn kinds(&self) -> &Kinds {
        (**self).kinds()
    }

    fn resolve<'a>(&'a self, api_version: &'a str, kind: &'a str) -> BoxFuture<'a, Result<Resource, Error>> {
        (**self).resolve(api_version, kind)
    }

    fn write(&self, write: Write) -> BoxFuture<'_, Result<Written, Error>> {
        (**self).write(write)
    }
}

/// A write: what is written, where, and how.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Write {
    /// The kind.
    pub resource: Resource,
    /// The namespace; none for a cluster-wide kind.
    pub namespace: Option<String>,
    /// The name; empty where the server makes it, and for a collection.
    pub name: String,
    /// The subresource, where it is one that is written.
    pub subresource: Option<String>,
    /// What is done.
    pub verb: WriteVerb,
    /// Who writes, and how. Of these a delete knows the dry run only.
    pub options: WriteOptions,
}

/// What a write does.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum WriteVerb {
    /// Makes an object.
    Create(Value),
    /// Replaces an object.
    Update(Value),
    /// Patches or applies.
    Patch(Patch),
    /// Deletes an object.
    Delete(DeleteOptions),
    /// Deletes all objects of the namespace that the selectors match.
    DeleteAll(Selectors, DeleteOptions),
}

impl Write {
    /// A write to the object of a key.
    #[must_use]
    pub fn to(resource: Resource, key: &ObjectKey, verb: WriteVerb, options: WriteOptions) -> Self {
        Self {
            resource,
            namespace: key.namespace().map(str::to_owned),
            name: key.name().to_owned(),
            subresource: None,
            verb,
            options,
        }
    }

    /// A write of an object that says itself where it belongs.
    pub(crate) fn of(
        resource: Resource,
        object: Value,
        verb: impl FnOnce(Value) -> WriteVerb,
        options: WriteOptions,
    ) -> Self {
        Self {
            namespace: metadata(&object, "namespace").map(str::to_owned),
            name: metadata(&object, "name").unwrap_or_default().to_owned(),
            subresource: None,
            verb: verb(object),
            resource,
            options,
        }
    }

    /// The same, to a subresource.
    #[must_use]
    pub fn at(mut self, subresource: impl Into<String>) -> Self {
        self.subresource = Some(subresource.into());
        self
    }

    /// The key of the object; the name is empty where the server makes it, and for a collection.
    #[must_use]
    pub fn key(&self) -> ObjectKey {
        ObjectKey::new(self.namespace.as_deref(), &self.name)
    }

    /// Whether nothing is to be stored.
    #[must_use]
    pub fn is_dry_run(&self) -> bool {
        match &self.verb {
            WriteVerb::Delete(options) | WriteVerb::DeleteAll(_, options) => {
                self.options.dry_run || !options.dry_run.is_empty()
            }
            _ => self.options.dry_run,
        }
    }

    /// The object or patch that is sent.
    pub fn body(&self) -> Option<&Value> {
        match &self.verb {
            WriteVerb::Create(body) | WriteVerb::Update(body) => Some(body),
            WriteVerb::Patch(patch) => Some(patch.body()),
            WriteVerb::Delete(_) | WriteVerb::DeleteAll(..) => None,
        }
    }

    /// A word for logs: `create`, `patch`.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match &self.verb {
            WriteVerb::Create(_) => "create",
            WriteVerb::Update(_) => "update",
            WriteVerb::Patch(Patch::Apply(_)) => "apply",
            WriteVerb::Patch(_) => "patch",
            WriteVerb::Delete(_) => "delete",
            WriteVerb::DeleteAll(..) => "delete all",
        }
    }
}

/// What came of a write.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Written {
    /// The object as it is now; of a delete, as it is while it waits for its end, or as it was last.
    Object(Decoded<DynamicObject>),
    /// It is done, and there is no object to show: of a delete, it is gone.
    Done {
        /// The uid of the object, where the server told it.
        uid: Option<Arc<str>>,
    },
    /// The objects as they were when all of them were deleted.
    All(Vec<Decoded<DynamicObject>>),
}

impl Written {
    /// The object, as a form of yours.
    ///
    /// # Errors
    /// When there is none, or it is none of that form.
    pub fn into_object<K: super::Form>(self) -> Result<K, Error> {
        match self {
            Self::Object(decoded) => from_value(decoded.object.into_value()),
            Self::Done { .. } | Self::All(_) => Err(Error::answer("the answer holds no object")),
        }
    }
}

pub(crate) fn from_value<K: super::Form>(value: Value) -> Result<K, Error> {
    serde_json::from_value(value).map_err(|error| {
        Error::answer(format!(
            "the answer is not of the form that was asked for: {error}"
        ))
    })
}
