//! Which kinds are served, and where their objects are.

use std::{collections::BTreeMap, sync::Arc};

use informer_core::{Resource, Scope};

use super::{ApiError, def::ResourceDef, table::Table};

/// What the versions of a resource share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KindKey {
    group: Arc<str>,
    plural: Arc<str>,
}

impl KindKey {
    pub(crate) fn new(group: &str, plural: &str) -> Self {
        Self {
            group: group.into(),
            plural: plural.into(),
        }
    }

    pub(crate) fn of(resource: &Resource) -> Self {
        Self {
            group: resource.group.clone(),
            plural: resource.plural.clone(),
        }
    }
}

/// A resource in its versions, with its objects.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) defs: Vec<Arc<ResourceDef>>,
    pub(crate) table: Table,
}

impl Kind {
    /// The definition that decides what is kept of an object.
    pub(crate) fn main(&self) -> &Arc<ResourceDef> {
        &self.defs[0]
    }
}

/// What a request is about: a kind in a version, perhaps a namespace.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) key: KindKey,
    pub(crate) def: Arc<ResourceDef>,
    pub(crate) namespace: Option<String>,
}

impl Target {
    pub(crate) fn resource(&self) -> &Resource {
        &self.def.resource
    }

    pub(crate) fn is_namespaced(&self) -> bool {
        self.def.resource.scope == Scope::Namespaced
    }
}

#[derive(Debug, Default)]
pub(crate) struct Kinds {
    kinds: BTreeMap<KindKey, Kind>,
    /// In the order of registration: groups are listed so, and their first version is preferred.
    order: Vec<KindKey>,
}

impl Kinds {
    pub(crate) fn register(&mut self, def: ResourceDef, revision: u64) {
        let key = KindKey::of(&def.resource);
        let def = Arc::new(def);
        match self.kinds.get_mut(&key) {
            Some(kind) => {
                let same = |it: &Arc<ResourceDef>| it.resource.version == def.resource.version;
                match kind.defs.iter().position(same) {
                    Some(index) => kind.defs[index] = def,
                    None => kind.defs.push(def),
                }
            }
            None => {
                let floor = if def.custom { revision } else { 0 };
                let kind = Kind {
                    defs: vec![def],
                    table: Table::starting_at(floor),
                };
                self.kinds.insert(key.clone(), kind);
                self.order.push(key);
            }
        }
    }

    /// Serves a kind in these versions and no others. At least one.
    pub(crate) fn replace_versions(&mut self, key: &KindKey, defs: Vec<ResourceDef>) {
        if let Some(kind) = self.kinds.get_mut(key) {
            kind.defs = defs.into_iter().map(Arc::new).collect();
        }
    }

    pub(crate) fn remove(&mut self, key: &KindKey) -> Option<Kind> {
        self.order.retain(|it| it != key);
        self.kinds.remove(key)
    }

    pub(crate) fn get(&self, key: &KindKey) -> Option<&Kind> {
        self.kinds.get(key)
    }

    pub(crate) fn get_mut(&mut self, key: &KindKey) -> Option<&mut Kind> {
        self.kinds.get_mut(key)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Kind> {
        self.kinds.values_mut()
    }

    /// All definitions, in the order of registration.
    pub(crate) fn defs(&self) -> impl Iterator<Item = &ResourceDef> {
        let kinds = self.order.iter().filter_map(|key| self.kinds.get(key));
        kinds.flat_map(|kind| kind.defs.iter().map(|def| &**def))
    }

    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// The definition of a version of a resource.
    pub(crate) fn find(
        &self,
        group: &str,
        version: &str,
        plural: &str,
    ) -> Option<(KindKey, Arc<ResourceDef>)> {
        let key = KindKey::new(group, plural);
        let mut defs = self.kinds.get(&key)?.defs.iter();
        let def = defs.find(|def| &*def.resource.version == version)?.clone();
        Some((key, def))
    }

    pub(crate) fn target(&self, resource: &Resource, namespace: Option<&str>) -> Result<Target, ApiError> {
        match self.find(&resource.group, &resource.version, &resource.plural) {
            Some((key, def)) => Ok(Target {
                namespace: namespace
                    .filter(|_| def.resource.scope == Scope::Namespaced)
                    .map(str::to_owned),
                key,
                def,
            }),
            None => Err(ApiError::new(
                404,
                "NotFound",
                "the server could not find the requested resource",
            )),
        }
    }
}
