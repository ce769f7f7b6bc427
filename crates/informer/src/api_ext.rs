//! From a client to informers.

use informer_client::{Api, ApiSource, Selectors};
use informer_core::{ListerWatcher, NamespaceName, ObjectKey};
use informer_sharedinformer::{Builder, Listed, SharedInformer};
use informer_transport::{Codec, Transport};

/// The builder of an informer over a source.
pub type Informing<L> = Builder<ObjectKey, <L as ListerWatcher>::Object, Listed<L, NamespaceName>>;

/// Makes informers of an [`Api`].
pub trait ApiExt {
    /// What the informers read from.
    type Source: ListerWatcher + 'static;

    /// Begins an informer of those objects of this kind and namespace that selectors match, named after the kind.
    fn informer_of(&self, selectors: Selectors) -> Informing<Self::Source>;

    /// Begins an informer of all objects of this kind and namespace, named after the kind.
    fn informer(&self) -> Informing<Self::Source> {
        self.informer_of(Selectors::all())
    }
}

impl<T, K, C> ApiExt for Api<T, K, C>
where
    T: Transport + 'static,
    K: Send + Sync + 'static,
    C: Codec<K> + 'static,
{
    type Source = ApiSource<T, K, C>;

    fn informer_of(&self, selectors: Selectors) -> Informing<Self::Source> {
        SharedInformer::builder(self.source(selectors)).name(self.resource().to_string())
    }
}
