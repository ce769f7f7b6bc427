//! From a client to informers.

use informer_client::{Api, ApiSource, Client, Selectors};
use informer_core::{ListerWatcher, NamespaceName, ObjectKey};
use informer_sharedinformer::{Builder, Listed, Selection, SharedInformer, Sources};
use informer_transport::{Codec, JsonCodec, Transport};
use serde::de::DeserializeOwned;

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

/// A client as the sources of a [`Factory`](informer_sharedinformer::Factory): typed objects, in every serde type that is asked for. For
/// dynamic objects and metadata only give the factory a closure that ends in `client.dynamic(…)` or `client.metadata(…)`.
#[derive(Debug, Clone)]
pub struct ClientSources<T: Transport>(pub Client<T>);

impl<T, K> Sources<K> for ClientSources<T>
where
    T: Transport + 'static,
    K: DeserializeOwned + Send + Sync + 'static,
{
    type Source = ApiSource<T, K, JsonCodec<K>>;

    fn source(&self, selection: &Selection) -> Self::Source {
        let mut api = self.0.objects::<K>(selection.resource.clone());
        if let Some(namespace) = &selection.namespace {
            api = api.in_namespace(namespace);
        }
        let selectors = Selectors::all()
            .labels(&*selection.labels)
            .fields(&*selection.fields);
        api.source(selectors)
    }
}
