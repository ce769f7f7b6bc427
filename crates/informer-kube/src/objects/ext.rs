//! Our client and registry of kinds, for kube's types.

use informer_client::{Api, Client, KindConflict, Kinds, KnownScope};
use informer_core::Scope;
use informer_transport::Transport;
use serde::de::DeserializeOwned;

use super::{KubeCodec, KubeMeta, resource_of, resource_with};

/// Our [`Client`] for kube's types.
pub trait KubeClientExt<T> {
    /// Objects of a type that knows its kind: of k8s-openapi, of a derived `kube::CustomResource`, or the metadata of either.
    fn kube<K>(&self) -> Api<T, K, KubeCodec<K>>
    where
        K: kube::Resource<DynamicType: Default> + DeserializeOwned + 'static,
        K::Scope: KnownScope;

    /// Objects of a type whose kind is known at run time only: `kube::core::DynamicObject`.
    fn kube_with<K>(&self, dynamic: &K::DynamicType, scope: Scope) -> Api<T, K, KubeCodec<K>>
    where
        K: kube::Resource + DeserializeOwned + 'static;
}

impl<T: Transport> KubeClientExt<T> for Client<T> {
    fn kube<K>(&self) -> Api<T, K, KubeCodec<K>>
    where
        K: kube::Resource<DynamicType: Default> + DeserializeOwned + 'static,
        K::Scope: KnownScope,
    {
        self.kube_with(&K::DynamicType::default(), K::Scope::SCOPE)
    }

    fn kube_with<K>(&self, dynamic: &K::DynamicType, scope: Scope) -> Api<T, K, KubeCodec<K>>
    where
        K: kube::Resource + DeserializeOwned + 'static,
    {
        let resource = resource_with::<K>(dynamic, scope);
        let codec = KubeCodec::new(&resource);
        self.with_codec(resource, codec)
    }
}

/// Our registry of kinds, for kube's types.
pub trait KubeKindsExt {
    /// Adds a type that knows its kind, with its metadata.
    ///
    /// # Errors
    /// When the type stands for another kind, or the kind is known with another plural or scope.
    fn register_kube<K>(&self) -> Result<&Self, KindConflict>
    where
        K: kube::Resource<DynamicType: Default> + 'static,
        K::Scope: KnownScope;
}

impl KubeKindsExt for Kinds {
    fn register_kube<K>(&self) -> Result<&Self, KindConflict>
    where
        K: kube::Resource<DynamicType: Default> + 'static,
        K::Scope: KnownScope,
    {
        let resource = resource_of::<K>(&K::DynamicType::default());
        if K::metadata_api() {
            self.register_with::<K>(resource, KubeMeta)
        } else {
            self.register_whole::<K>(resource, KubeMeta)
        }
    }
}
