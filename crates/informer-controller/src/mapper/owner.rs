//! By the object's owners.

use informer_core::{Change, Entry, Meta, ObjectKey, Resource, Scope};

use crate::{BoxError, Mapper, MissingMeta};

/// The requests are the owners of the object that are of one kind (controller-runtime `EnqueueRequestForOwner`): by group and kind,
/// whatever the version. By default only the managing controller; of an update, owners old and new.
#[derive(Debug, Clone)]
pub struct ForOwner<M> {
    group: Box<str>,
    kind: Box<str>,
    namespaced: bool,
    every: bool,
    meta: M,
}

impl<M> ForOwner<M> {
    /// Owners of the kind of `owner`, as `meta` reads them of objects `K`.
    ///
    /// # Errors
    /// When that form of object holds no owners.
    pub fn new<K: ?Sized>(owner: &Resource, meta: M) -> Result<Self, MissingMeta>
    where
        M: Meta<K>,
    {
        if !meta.fields().owners {
            return Err(MissingMeta {
                who: "mapping to owners",
                what: "owner references",
            });
        }
        Ok(Self {
            group: (*owner.group).into(),
            kind: (*owner.kind).into(),
            namespaced: owner.scope == Scope::Namespaced,
            every: false,
            meta,
        })
    }

    /// Not only the managing controller.
    #[must_use]
    pub fn every_owner(mut self) -> Self {
        self.every = true;
        self
    }

    fn visit<K>(&self, entry: &Entry<ObjectKey, K>, emit: &mut dyn FnMut(ObjectKey))
    where
        M: Meta<K>,
    {
        self.meta.owners(&entry.object, &mut |owner| {
            let group = owner.api_version.split_once('/').map_or("", |(group, _)| group);
            if group == &*self.group && owner.kind == &*self.kind && (self.every || owner.controller) {
                let namespace = entry.key.namespace().filter(|_| self.namespaced);
                emit(ObjectKey::new(namespace, owner.name));
            }
        });
    }
}

impl<K, M: Meta<K>> Mapper<ObjectKey, K, ObjectKey> for ForOwner<M> {
    fn map(
        &mut self,
        change: &Change<ObjectKey, K>,
        emit: &mut dyn FnMut(ObjectKey),
    ) -> Result<(), BoxError> {
        if let Change::Updated { old, .. } = change {
            self.visit(old, emit);
        }
        self.visit(change.entry(), emit);
        Ok(())
    }
}
