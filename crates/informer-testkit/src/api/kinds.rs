//! Which kinds are served, and where their objects are.

use std::{collections::BTreeMap, sync::Arc};

use informer_core::{Resource, Scope};

use super::{
    ApiError,
    def::{ResourceDef, SelectableField},
    table::Table,
};

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

    /// Where the objects of a definition are.
    fn of_def(def: &ResourceDef) -> Self {
        match def.shares {
            Some((group, plural)) => Self::new(group, plural),
            None => Self::of(&def.resource),
        }
    }
}

/// A resource in its versions, with its objects.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) defs: Vec<Arc<ResourceDef>>,
    /// The fields that some version can be selected by.
    pub(crate) selectable: Vec<SelectableField>,
    pub(crate) table: Table,
}

impl Kind {
    /// The definition that decides what is kept of an object.
    pub(crate) fn main(&self) -> &Arc<ResourceDef> {
        &self.defs[0]
    }

    fn set_defs(&mut self, defs: Vec<Arc<ResourceDef>>) {
        self.defs = defs;
        self.selectable.clear();
        for field in self.defs.iter().flat_map(|def| &def.selectable) {
            if !self.selectable.contains(field) {
                self.selectable.push(field.clone());
            }
        }
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
    /// Resources whose objects are another's.
    shared: BTreeMap<KindKey, KindKey>,
}

impl Kinds {
    pub(crate) fn register(&mut self, def: ResourceDef, revision: u64) {
        let key = KindKey::of_def(&def);
        if def.shares.is_some() {
            self.shared.insert(KindKey::of(&def.resource), key.clone());
        }
        let def = Arc::new(def);
        match self.kinds.get_mut(&key) {
            Some(kind) => {
                let same = |it: &Arc<ResourceDef>| {
                    (&it.resource.group, &it.resource.version) == (&def.resource.group, &def.resource.version)
                };
                let mut defs = kind.defs.clone();
                match defs.iter().position(same) {
                    Some(index) => defs[index] = def,
                    None => defs.push(def),
                }
                kind.set_defs(defs);
            }
            None => {
                let floor = if def.custom { revision } else { 0 };
                let mut kind = Kind {
                    defs: Vec::new(),
                    selectable: Vec::new(),
                    table: Table::starting_at(floor),
                };
                kind.set_defs(vec![def]);
                self.kinds.insert(key.clone(), kind);
                self.order.push(key);
            }
        }
    }

    /// Serves a kind in these versions and no others. At least one, but perhaps one that is not served.
    pub(crate) fn replace_versions(&mut self, key: &KindKey, defs: Vec<ResourceDef>) {
        if let Some(kind) = self.kinds.get_mut(key) {
            kind.set_defs(defs.into_iter().map(Arc::new).collect());
        }
    }

    pub(crate) fn remove(&mut self, key: &KindKey) -> Option<Kind> {
        self.order.retain(|it| it != key);
        self.shared.retain(|_, it| it != key);
        self.kinds.remove(key)
    }

    pub(crate) fn get(&self, key: &KindKey) -> Option<&Kind> {
        self.kinds.get(key)
    }

    pub(crate) fn get_mut(&mut self, key: &KindKey) -> Option<&mut Kind> {
        self.kinds.get_mut(key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&KindKey, &Kind)> {
        self.kinds.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Kind> {
        self.kinds.values_mut()
    }

    /// All definitions that are served, in the order of registration.
    pub(crate) fn defs(&self) -> impl Iterator<Item = &ResourceDef> {
        let kinds = self.order.iter().filter_map(|key| self.kinds.get(key));
        let defs = kinds.flat_map(|kind| kind.defs.iter().map(|def| &**def));
        defs.filter(|def| def.served)
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
        let key = self.shared.get(&key).cloned().unwrap_or(key);
        let mut defs = self.kinds.get(&key)?.defs.iter();
        let def = defs
            .find(|def| {
                let it = &def.resource;
                def.served && &*it.version == version && &*it.group == group
            })?
            .clone();
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
