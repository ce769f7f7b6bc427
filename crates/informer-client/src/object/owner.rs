//! Owner references (controller-runtime `controllerutil`).

use std::{error::Error as StdError, fmt};

use informer_core::{Resource, Scope};
use informer_transport::OwnerReference;
use serde_json::{Map, Value};

use super::with_metadata;
use crate::{
    Error, Form,
    access::{metadata, to_value},
};

/// An object that owns others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerObject {
    resource: Resource,
    namespace: Option<String>,
    name: String,
    uid: String,
    block: bool,
}

impl OwnerObject {
    /// An object of this kind as an owner.
    ///
    /// # Errors
    /// When it has no name or uid: it must be in the cluster.
    pub fn of<K: Form>(resource: Resource, object: &K) -> Result<Self, OwnerError> {
        let value = to_value(object).map_err(OwnerError::of)?;
        let text = |member| {
            let text = metadata(&value, member).map(str::to_owned);
            text.ok_or_else(|| OwnerError::new(format!("an owner of {resource} has no {member}")))
        };
        Ok(Self {
            name: text("name")?,
            uid: text("uid")?,
            namespace: metadata(&value, "namespace").map(str::to_owned),
            resource,
            block: true,
        })
    }

    /// The same, that need not wait for what it owns when it is deleted in the foreground.
    #[must_use]
    pub fn without_block(mut self) -> Self {
        self.block = false;
        self
    }

    /// Makes it the managing controller of an object. A reference of the same owner is replaced, whatever its uid.
    ///
    /// # Errors
    /// When another controller manages the object, or the owner lives in another namespace than the object.
    pub fn control<K: Form>(&self, object: &mut K) -> Result<(), OwnerError> {
        self.put(object, true)
    }

    /// Makes it an owner of an object. A reference of the same owner is replaced, whatever its uid.
    ///
    /// # Errors
    /// When the owner lives in another namespace than the object.
    pub fn own<K: Form>(&self, object: &mut K) -> Result<(), OwnerError> {
        self.put(object, false)
    }

    /// Takes its reference off an object; `false`: there was none.
    ///
    /// # Errors
    /// When the object cannot be written as JSON.
    pub fn disown<K: Form>(&self, object: &mut K) -> Result<bool, OwnerError> {
        let removed = with_metadata(object, |metadata| {
            let mut owners = read(metadata);
            let before = owners.len();
            owners.retain(|owner| !self.is(owner));
            (owners.len() < before).then(|| write(metadata, &owners))
        });
        Ok(removed.map_err(OwnerError::of)?.is_some())
    }

    /// Whether it owns an object.
    ///
    /// # Errors
    /// When the object cannot be written as JSON.
    pub fn owns<K: Form>(&self, object: &K) -> Result<bool, OwnerError> {
        Ok(owners_of(object)?.iter().any(|owner| self.is(owner)))
    }

    /// Whether it is the managing controller of an object.
    ///
    /// # Errors
    /// When the object cannot be written as JSON.
    pub fn controls<K: Form>(&self, object: &K) -> Result<bool, OwnerError> {
        let owners = owners_of(object)?;
        Ok(owners
            .iter()
            .any(|owner| owner.controller == Some(true) && self.is(owner)))
    }

    /// The reference to it.
    #[must_use]
    pub fn reference(&self, controller: bool) -> OwnerReference {
        let mut reference = OwnerReference::default();
        reference.api_version = self.resource.api_version();
        reference.kind = (*self.resource.kind).to_owned();
        reference.name.clone_from(&self.name);
        reference.uid.clone_from(&self.uid);
        reference.controller = controller.then_some(true);
        reference.block_owner_deletion = (controller && self.block).then_some(true);
        reference
    }

    fn put<K: Form>(&self, object: &mut K, controller: bool) -> Result<(), OwnerError> {
        let value = to_value(object).map_err(OwnerError::of)?;
        self.check_namespace(metadata(&value, "namespace"))?;
        let name = metadata(&value, "name").unwrap_or_default();
        let owners = owners_of(object)?;
        let other = owners
            .iter()
            .find(|owner| controller && owner.controller == Some(true) && !self.is(owner));
        if let Some(other) = other {
            return Err(OwnerError {
                message: format!(
                    "{name:?} is already controlled by {} {:?}",
                    other.kind, other.name
                )
                .into(),
                owner: Some(Box::new(other.clone())),
            });
        }
        let changed = with_metadata(object, |metadata| {
            let mut owners = read(metadata);
            let reference = self.reference(controller);
            match owners.iter_mut().find(|owner| self.is(owner)) {
                Some(before) => *before = reference,
                None => owners.push(reference),
            }
            write(metadata, &owners);
            Some(())
        });
        changed.map(|_| ()).map_err(OwnerError::of)
    }

    fn check_namespace(&self, of_object: Option<&str>) -> Result<(), OwnerError> {
        if self.resource.scope == Scope::Cluster {
            return Ok(());
        }
        let owner = self.namespace.as_deref().unwrap_or_default();
        match of_object {
            None => Err(OwnerError::new(format!(
                "an object without a namespace cannot be owned by {} in namespace {owner:?}",
                self.resource
            ))),
            Some(namespace) if namespace != owner => Err(OwnerError::new(format!(
                "an object in namespace {namespace:?} cannot be owned by {} in namespace {owner:?}",
                self.resource
            ))),
            Some(_) => Ok(()),
        }
    }

    /// By group, kind and name: the version may differ, and the uid is that of an owner that may have been made anew.
    fn is(&self, owner: &OwnerReference) -> bool {
        let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
        *group == *self.resource.group && *owner.kind == *self.resource.kind && owner.name == self.name
    }
}

/// The owners of an object.
///
/// # Errors
/// When the object cannot be written as JSON.
pub fn owners_of<K: Form>(object: &K) -> Result<Vec<OwnerReference>, OwnerError> {
    let value = to_value(object).map_err(OwnerError::of)?;
    let metadata = value.get("metadata").and_then(Value::as_object);
    Ok(metadata.map(read).unwrap_or_default())
}

/// The managing controller of an object.
///
/// # Errors
/// When the object cannot be written as JSON.
pub fn controller_of<K: Form>(object: &K) -> Result<Option<OwnerReference>, OwnerError> {
    let mut owners = owners_of(object)?.into_iter();
    Ok(owners.find(|owner| owner.controller == Some(true)))
}

fn read(metadata: &Map<String, Value>) -> Vec<OwnerReference> {
    let owners = metadata.get("ownerReferences").cloned().unwrap_or_default();
    serde_json::from_value(owners).unwrap_or_default()
}

fn write(metadata: &mut Map<String, Value>, owners: &[OwnerReference]) {
    if owners.is_empty() {
        metadata.remove("ownerReferences");
        return;
    }
    let owners = serde_json::to_value(owners).expect("texts and flags can be written as JSON");
    metadata.insert("ownerReferences".to_owned(), owners);
}

/// An owner reference that cannot be set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerError {
    message: Box<str>,
    owner: Option<Box<OwnerReference>>,
}

impl OwnerError {
    fn new(message: String) -> Self {
        Self {
            message: message.into(),
            owner: None,
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` hands over")]
    fn of(error: Error) -> Self {
        Self::new(error.to_string())
    }

    /// The controller that manages the object already, if that is what is wrong.
    #[must_use]
    pub fn already_controlled_by(&self) -> Option<&OwnerReference> {
        self.owner.as_deref()
    }
}

impl fmt::Display for OwnerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for OwnerError {}
