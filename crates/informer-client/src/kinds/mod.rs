//! `Kinds`: which Rust type stands for which kind of the API.

mod error;
#[cfg(feature = "k8s-openapi")]
mod kubernetes;

use std::{
    any::{Any, TypeId, type_name},
    fmt,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use informer_core::{Meta, Resource};
use informer_transport::Codec;

pub use self::error::{KindConflict, UnknownKind};

/// A registry of kinds, both ways: from a Rust type to group, version, kind, plural and scope, and from what objects and paths say to that
/// (apimachinery `runtime.Scheme`, together with the static part of a REST mapper).
///
/// A kind may have several Rust types, a whole one and one of the few fields that a controller reads; a type has one kind. A kind may have no
/// type at all: it is read as dynamic objects, or as metadata. Clones are the same registry; kinds can be added at any time.
///
/// ```
/// use informer_client::Kinds;
/// use informer_core::Resource;
///
/// struct Gadget;
///
/// let kinds = Kinds::new();
/// kinds.register::<Gadget>(Resource::namespaced("example.org", "v1", "gadgets", "Gadget"))?;
/// assert_eq!(kinds.of::<Gadget>()?.plural.as_ref(), "gadgets");
/// assert_eq!(kinds.by_api_version("example.org/v1", "Gadget")?, kinds.of::<Gadget>()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Kinds(Arc<RwLock<Table>>);

#[derive(Default)]
struct Table {
    /// In the order of registration.
    kinds: Vec<Known>,
}

struct Known {
    resource: Resource,
    forms: Vec<Form>,
}

struct Form {
    id: TypeId,
    name: &'static str,
    /// An `Arc<dyn Meta<K>>` where `K` has the type id.
    meta: Option<Box<dyn Any + Send + Sync>>,
    /// An `Arc<dyn Codec<K>>` of the same `K`.
    codec: Option<Box<dyn Any + Send + Sync>>,
    /// It holds all of an object.
    whole: bool,
}

impl Kinds {
    /// A registry with no kinds.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a Rust type of a kind. Adding the same again changes nothing.
    ///
    /// # Errors
    /// When the type stands for another kind, or the kind is known with another plural or scope.
    pub fn register<K: 'static>(&self, resource: Resource) -> Result<&Self, KindConflict> {
        self.insert(resource, Form::of::<K>(None))
    }

    /// As [`register`](Self::register), with a strategy that reads the type's metadata: what label selectors and owner mapping go by.
    ///
    /// # Errors
    /// As [`register`](Self::register).
    pub fn register_with<K: 'static>(
        &self,
        resource: Resource,
        meta: impl Meta<K> + 'static,
    ) -> Result<&Self, KindConflict> {
        let meta: Arc<dyn Meta<K>> = Arc::new(meta);
        self.insert(resource, Form::of::<K>(Some(Box::new(meta))))
    }

    /// As [`register_with`](Self::register_with), for a type that holds all of an object, so that other forms can be made of it.
    ///
    /// # Errors
    /// As [`register`](Self::register).
    pub fn register_whole<K: 'static>(
        &self,
        resource: Resource,
        meta: impl Meta<K> + 'static,
    ) -> Result<&Self, KindConflict> {
        let meta: Arc<dyn Meta<K>> = Arc::new(meta);
        let mut form = Form::of::<K>(Some(Box::new(meta)));
        form.whole = true;
        self.insert(resource, form)
    }

    /// As [`register`](Self::register), for a type that is decoded by this codec, whoever asks for it through this registry: live clients and
    /// caches. A strategy for the metadata may be given before or after.
    ///
    /// # Errors
    /// As [`register`](Self::register).
    pub fn register_codec<K: 'static>(
        &self,
        resource: Resource,
        codec: impl Codec<K> + 'static,
    ) -> Result<&Self, KindConflict> {
        let codec: Arc<dyn Codec<K>> = Arc::new(codec);
        let mut form = Form::of::<K>(None);
        form.codec = Some(Box::new(codec));
        self.insert(resource, form)
    }

    /// As [`register`](Self::register), for a prost message of a kind that is built into Kubernetes: generated, or of your own with the fields
    /// of interest. The server is asked for protobuf first, and for JSON where it has none, as client-go asks for what is in its scheme.
    ///
    /// # Errors
    /// As [`register`](Self::register).
    #[cfg(feature = "protobuf")]
    pub fn register_message<K>(&self, resource: Resource) -> Result<&Self, KindConflict>
    where
        K: prost::Message + Default + serde::de::DeserializeOwned + 'static,
    {
        let protobuf = informer_transport::ProstCodec::<K>::new().named(resource.kind.clone());
        let json = informer_transport::JsonCodec::<K>::new().named(resource.kind.clone());
        self.register_codec::<K>(resource, informer_transport::Negotiated::new(protobuf, json))
    }

    /// Adds a type of k8s-openapi, which knows its kind.
    ///
    /// # Errors
    /// As [`register`](Self::register).
    #[cfg(feature = "k8s-openapi")]
    pub fn register_typed<K>(&self) -> Result<&Self, KindConflict>
    where
        K: k8s_openapi::Resource
            + k8s_openapi::Metadata<Ty = k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta>
            + 'static,
        K::Scope: crate::KnownScope,
    {
        self.register_whole::<K>(crate::resource_of::<K>(), crate::K8s)
    }

    /// Adds a kind without a type, such as discovery finds it.
    ///
    /// # Errors
    /// When the kind is known with another plural or scope.
    pub fn register_dynamic(&self, resource: Resource) -> Result<&Self, KindConflict> {
        self.write().known(resource)?;
        Ok(self)
    }

    /// The kind of a type.
    ///
    /// # Errors
    /// When the type was not added; the error names what was.
    pub fn of<K: 'static>(&self) -> Result<Resource, UnknownKind> {
        let id = TypeId::of::<K>();
        self.find(|known| known.forms.iter().any(|form| form.id == id))
            .ok_or_else(|| self.unknown(format!("type {}", type_name::<K>())))
    }

    /// The kind that objects with this `apiVersion` and `kind` are of: `apps/v1`, `Deployment`.
    ///
    /// # Errors
    /// When there is none; the error names those that there are.
    pub fn by_api_version(&self, api_version: &str, kind: &str) -> Result<Resource, UnknownKind> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.find(|it| {
            let it = &it.resource;
            *it.group == *group && *it.version == *version && *it.kind == *kind
        })
        .ok_or_else(|| self.unknown(format!("{api_version} {kind}")))
    }

    /// The kind of this group and name in the version that was added first: what owner references are matched by, whose version does not
    /// matter.
    ///
    /// # Errors
    /// When there is none; the error names those that there are.
    pub fn by_group_kind(&self, group: &str, kind: &str) -> Result<Resource, UnknownKind> {
        self.find(|it| *it.resource.group == *group && *it.resource.kind == *kind)
            .ok_or_else(|| self.unknown(format!("{kind} of group {group:?}")))
    }

    /// The kind with this plural: `apps`, `v1`, `deployments`.
    ///
    /// # Errors
    /// When there is none; the error names those that there are.
    pub fn by_plural(&self, group: &str, version: &str, plural: &str) -> Result<Resource, UnknownKind> {
        self.find(|it| {
            let it = &it.resource;
            *it.group == *group && *it.version == *version && *it.plural == *plural
        })
        .ok_or_else(|| self.unknown(format!("{plural} of {group:?} {version}")))
    }

    /// All kinds, in the order in which they were added.
    #[must_use]
    pub fn all(&self) -> Vec<Resource> {
        let table = self.read();
        table.kinds.iter().map(|known| known.resource.clone()).collect()
    }

    /// The names of the types of a kind, in the order in which they were added.
    #[must_use]
    pub fn types_of(&self, resource: &Resource) -> Vec<&'static str> {
        let table = self.read();
        let known = table.kinds.iter().filter(|known| known.resource == *resource);
        known
            .flat_map(|known| known.forms.iter().map(|form| form.name))
            .collect()
    }

    /// How the metadata of a type is read, where it was added with that.
    #[must_use]
    pub fn meta<K: 'static>(&self) -> Option<Arc<dyn Meta<K>>> {
        let id = TypeId::of::<K>();
        let table = self.read();
        let mut forms = table.kinds.iter().flat_map(|known| &known.forms);
        let meta = forms.find(|form| form.id == id)?.meta.as_ref()?;
        meta.downcast_ref::<Arc<dyn Meta<K>>>().cloned()
    }

    /// How objects of this kind are decoded into a type, where that was added with a codec.
    #[must_use]
    pub fn codec<K: 'static>(&self, resource: &Resource) -> Option<Arc<dyn Codec<K>>> {
        let id = TypeId::of::<K>();
        let table = self.read();
        let known = table.kinds.iter().find(|known| known.resource == *resource)?;
        let form = known.forms.iter().find(|form| form.id == id)?;
        form.codec.as_ref()?.downcast_ref::<Arc<dyn Codec<K>>>().cloned()
    }

    /// Whether a type holds all of an object, so that other forms can be made of it: types of k8s-openapi do, and those
    /// that were [registered so](Self::register_whole). Of any other nothing is known.
    #[must_use]
    pub fn is_whole<K: 'static>(&self) -> bool {
        let id = TypeId::of::<K>();
        let table = self.read();
        let mut forms = table.kinds.iter().flat_map(|known| &known.forms);
        forms.any(|form| form.id == id && form.whole)
    }

    fn insert(&self, resource: Resource, form: Form) -> Result<&Self, KindConflict> {
        let mut table = self.write();
        let other = table
            .kinds
            .iter()
            .find(|known| known.resource != resource && known.forms.iter().any(|it| it.id == form.id));
        if let Some(other) = other {
            return Err(KindConflict::of_type(form.name, &other.resource, &resource));
        }
        let known = table.known(resource)?;
        match known.forms.iter_mut().find(|it| it.id == form.id) {
            None => known.forms.push(form),
            Some(before) => before.replace(form),
        }
        drop(table);
        Ok(self)
    }

    fn find(&self, wanted: impl Fn(&Known) -> bool) -> Option<Resource> {
        let table = self.read();
        let found = table.kinds.iter().find(|known| wanted(known));
        found.map(|known| known.resource.clone())
    }

    fn unknown(&self, wanted: String) -> UnknownKind {
        UnknownKind::new(wanted, self.all())
    }

    /// What runs under the lock cannot panic half way.
    fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn known(&mut self, resource: Resource) -> Result<&mut Known, KindConflict> {
        let same_kind = |it: &Resource| {
            it.group == resource.group
                && it.version == resource.version
                && (it.kind == resource.kind || it.plural == resource.plural)
        };
        match self.kinds.iter().position(|known| same_kind(&known.resource)) {
            Some(at) if self.kinds[at].resource == resource => Ok(&mut self.kinds[at]),
            Some(at) => Err(KindConflict::of_kind(&self.kinds[at].resource, &resource)),
            None => {
                self.kinds.push(Known {
                    resource,
                    forms: Vec::new(),
                });
                Ok(self.kinds.last_mut().expect("it was pushed just now"))
            }
        }
    }
}

impl Form {
    fn of<K: 'static>(meta: Option<Box<dyn Any + Send + Sync>>) -> Self {
        Self {
            id: TypeId::of::<K>(),
            name: type_name::<K>(),
            meta,
            codec: None,
            whole: false,
        }
    }

    /// What is added later goes before, and takes away nothing.
    fn replace(&mut self, later: Self) {
        if later.meta.is_some() {
            self.meta = later.meta;
            self.whole = later.whole;
        }
        if later.codec.is_some() {
            self.codec = later.codec;
        }
    }
}

impl fmt::Debug for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.all();
        f.debug_set()
            .entries(all.iter().map(|it| format!("{} {}", it.api_version(), it.kind)))
            .finish()
    }
}
