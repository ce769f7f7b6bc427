//! A client as the sources of a factory.

use std::{fmt, marker::PhantomData, sync::Arc};

use informer_client::{Api, ApiSource, Client, DynamicObject, PartialMetadata, Query, Selectors};
use informer_sharedinformer::{Selection, Sources};
use informer_transport::{Codec, DynamicCodec, JsonCodec, MetadataCodec, Transport};
use serde::de::DeserializeOwned;

type Tweak = Arc<dyn Fn(&Selection, &mut Query) + Send + Sync>;

/// Objects in every serde type that is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Typed;

/// Objects as JSON, for kinds known only at run time (client-go `dynamicinformer`).
#[derive(Debug, Clone, Copy)]
pub struct Dynamic;

/// Metadata only: the server is asked to send no more (client-go `metadatainformer`).
#[derive(Debug, Clone, Copy)]
pub struct MetadataOnly;

/// A client as the sources of a [`Factory`](informer_sharedinformer::Factory), in one form of object.
pub struct ClientSources<T: Transport, F = Typed> {
    client: Client<T>,
    tweak: Option<Tweak>,
    form: PhantomData<fn() -> F>,
}

impl<T: Transport> ClientSources<T> {
    /// Sources of typed objects.
    #[must_use]
    pub fn new(client: Client<T>) -> Self {
        Self {
            client,
            tweak: None,
            form: PhantomData,
        }
    }
}

impl<T: Transport, F> ClientSources<T, F> {
    /// The same of objects as JSON.
    #[must_use]
    pub fn dynamic(self) -> ClientSources<T, Dynamic> {
        self.form()
    }

    /// The same of metadata only.
    #[must_use]
    pub fn metadata(self) -> ClientSources<T, MetadataOnly> {
        self.form()
    }

    fn form<F2>(self) -> ClientSources<T, F2> {
        ClientSources {
            client: self.client,
            tweak: self.tweak,
            form: PhantomData,
        }
    }

    /// The same, with a last word on the query of every list, each of its pages, every watch and every streaming list (client-go
    /// `WithTweakListOptions`).
    #[must_use]
    pub fn tweak(mut self, tweak: impl Fn(&Selection, &mut Query) + Send + Sync + 'static) -> Self {
        self.tweak = Some(Arc::new(tweak));
        self
    }

    fn narrow<K, C: Codec<K>>(&self, mut api: Api<T, K, C>, selection: &Selection) -> ApiSource<T, K, C> {
        if let Some(namespace) = &selection.namespace {
            api = api.in_namespace(namespace);
        }
        let selectors = Selectors::all()
            .labels(&*selection.labels)
            .fields(&*selection.fields);
        let source = api.source(selectors);
        match &self.tweak {
            None => source,
            Some(tweak) => {
                let (tweak, selection) = (tweak.clone(), selection.clone());
                source.tweak(move |query| tweak(&selection, query))
            }
        }
    }
}

impl<T, K> Sources<K> for ClientSources<T, Typed>
where
    T: Transport + 'static,
    K: DeserializeOwned + Send + Sync + 'static,
{
    type Source = ApiSource<T, K, JsonCodec<K>>;

    fn source(&self, selection: &Selection) -> Self::Source {
        self.narrow(self.client.objects::<K>(selection.resource.clone()), selection)
    }
}

impl<T: Transport + 'static> Sources<DynamicObject> for ClientSources<T, Dynamic> {
    type Source = ApiSource<T, DynamicObject, DynamicCodec>;

    fn source(&self, selection: &Selection) -> Self::Source {
        self.narrow(self.client.dynamic(selection.resource.clone()), selection)
    }
}

impl<T: Transport + 'static> Sources<PartialMetadata> for ClientSources<T, MetadataOnly> {
    type Source = ApiSource<T, PartialMetadata, MetadataCodec>;

    fn source(&self, selection: &Selection) -> Self::Source {
        self.narrow(self.client.metadata(selection.resource.clone()), selection)
    }
}

impl<T: Transport, F> Clone for ClientSources<T, F> {
    fn clone(&self) -> Self {
        Self {
            client: self.client.clone(),
            tweak: self.tweak.clone(),
            form: PhantomData,
        }
    }
}

impl<T: Transport, F> fmt::Debug for ClientSources<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientSources").finish_non_exhaustive()
    }
}
