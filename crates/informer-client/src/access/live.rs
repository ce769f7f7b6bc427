//! `LiveClient`: reads and writes at the server.

use std::sync::Arc;

use bytes::Bytes;
use informer_core::{BoxFuture, Decoded, Entry, KeyFunc, ListRequest, NamespaceName, ObjectKey, Resource};
use informer_transport::{
    Asked, BoxTransport, Codec, DynamicCodec, DynamicObject, Query, RequestBuilder, Status, Transport,
};
use serde::Deserialize;
use serde_json::Value;

use super::{
    Form, List, ListOptions, ReadClient, Write, WriteClient, WriteVerb, Written, codec_of,
    form::json_codec_of,
};
use crate::{Api, Client, Error, Kinds, RestMapper};

/// Asks the server for every read and write. Clones share the connection.
///
/// With the feature `protobuf`, metadata and types that were [registered as messages](Kinds::register_message) are asked for in protobuf
/// first and in JSON where the server has none; all else is JSON, and so is what is written.
#[derive(Debug, Clone)]
pub struct LiveClient {
    client: Client<BoxTransport>,
    kinds: Kinds,
    mapper: RestMapper,
    json_only: bool,
}

impl LiveClient {
    /// A client over a transport that knows these kinds by type.
    #[must_use]
    pub fn new(transport: impl Transport + 'static, kinds: Kinds) -> Self {
        let client = Client::new(BoxTransport::new(transport));
        Self {
            mapper: RestMapper::new(&client),
            client,
            kinds,
            json_only: false,
        }
    }

    /// The same, which asks for JSON alone, whatever the form: for a server or a proxy that cannot be trusted with more.
    #[must_use]
    pub fn json_only(mut self) -> Self {
        self.json_only = true;
        self
    }

    /// The same over the transport of a client that there is.
    #[must_use]
    pub fn of<T: Transport + 'static>(client: &Client<T>, kinds: Kinds) -> Self {
        Self::new(client.shared_transport(), kinds)
    }

    /// The client below it, for all that is not a read or write of objects.
    #[must_use]
    pub fn client(&self) -> &Client<BoxTransport> {
        &self.client
    }

    /// How objects of a kind are asked for and decoded in this form: by the codec that the type was registered with, else by [`codec_of`].
    #[must_use]
    pub fn codec<K: Form>(&self, resource: &Resource) -> Arc<dyn Codec<K>> {
        if self.json_only {
            return json_codec_of(resource);
        }
        self.kinds
            .codec::<K>(resource)
            .unwrap_or_else(|| codec_of(resource))
    }

    /// The same, that finds kinds which are in no registry by this mapper: one of another floor, or one that is shared with others.
    #[must_use]
    pub fn with_mapper(mut self, mapper: RestMapper) -> Self {
        self.mapper = mapper;
        self
    }

    /// Finds kinds that are in no registry.
    #[must_use]
    pub fn mapper(&self) -> &RestMapper {
        &self.mapper
    }

    /// The kind that an object or owner reference says it is of: `apps/v1` and `Deployment`. From the registry, else from the server's
    /// [discovery](RestMapper), so that objects of custom resources need no registration.
    ///
    /// # Errors
    /// When the server has no such kind, or could not be asked.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the request.
    pub async fn resolve(&self, api_version: &str, kind: &str) -> Result<Resource, Error> {
        let unknown = match self.kinds.by_api_version(api_version, kind) {
            Ok(resource) => return Ok(resource),
            // An object that does not say what it is.
            Err(unknown) if api_version.is_empty() || kind.is_empty() => return Err(unknown.into()),
            Err(unknown) => unknown,
        };
        match self.mapper.of_kind(api_version, kind).await {
            Ok(found) => Ok(found.resource),
            Err(error) => Err(Error::undiscovered(&unknown, error)),
        }
    }

    /// The verbs and the source of one kind in one form.
    #[must_use]
    pub fn api<K: Form>(
        &self,
        resource: Resource,
        namespace: Option<&str>,
    ) -> Api<BoxTransport, K, Arc<dyn Codec<K>>> {
        let codec = self.codec::<K>(&resource);
        let api = self.client.with_codec(resource, codec);
        match namespace {
            Some(namespace) => api.in_namespace(namespace),
            None => api,
        }
    }

    async fn send(&self, write: Write) -> Result<Written, Error> {
        let requests = RequestBuilder::new(write.resource.clone()).namespace(write.namespace.as_deref());
        let (name, sub, mut options) = (&*write.name, write.subresource.as_deref(), write.options);
        let dry_run = options.dry_run;
        let request = match write.verb {
            WriteVerb::Create(body) => match sub {
                None => requests.create(&typed(body, &write.resource), &options)?,
                Some(sub) => requests.create_at(name, sub, &body, &options)?,
            },
            WriteVerb::Update(body) => {
                let body = if sub.is_none_or(|sub| sub == "status") {
                    typed(body, &write.resource)
                } else {
                    body
                };
                requests.replace(name, sub, &body, &options)?
            }
            WriteVerb::Patch(patch) => {
                let apply = matches!(patch, informer_transport::Patch::Apply(_));
                // It says nothing of other patches.
                options.force &= apply;
                requests.patch(name, sub, &patch, &options)?
            }
            WriteVerb::Delete(delete) => {
                let delete = if dry_run { delete.dry_run() } else { delete };
                requests.delete(name, &delete)?
            }
            WriteVerb::DeleteAll(selectors, delete) => {
                let delete = if dry_run { delete.dry_run() } else { delete };
                let query = Query::of_list(&selectors, &ListRequest::default());
                requests.delete_collection(&query, &delete)?
            }
        };
        let body = self.client.fetch(request, Asked::Object).await?;
        written(&body, &write.resource)
    }
}

impl ReadClient for LiveClient {
    type Error = Error;

    fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    async fn read<K: Form>(
        &self,
        resource: &Resource,
        key: &ObjectKey,
    ) -> Result<Option<Entry<ObjectKey, K>>, Error> {
        let api = self.api::<K>(resource.clone(), key.namespace());
        let found = api.find(key.name()).await?;
        Ok(found.map(|decoded| {
            let object = Arc::new(decoded.object);
            Entry::new(key.clone(), decoded.identity.stamp, object)
        }))
    }

    async fn read_all<K: Form>(&self, resource: &Resource, options: &ListOptions) -> Result<List<K>, Error> {
        let api = self.api::<K>(resource.clone(), options.namespace.as_deref());
        let listed = api.list_with(options).await?;
        let mut list = List::default();
        (list.version, list.next) = (listed.version, listed.next);
        list.unreadable = listed.unreadable;
        for decoded in listed.items {
            list.entries.push(entry(decoded)?);
        }
        Ok(list)
    }

    fn is_not_found(error: &Error) -> bool {
        error.is_not_found()
    }
}

impl WriteClient for LiveClient {
    fn kinds(&self) -> &Kinds {
        &self.kinds
    }

    fn resolve<'a>(&'a self, api_version: &'a str, kind: &'a str) -> BoxFuture<'a, Result<Resource, Error>> {
        Box::pin(Self::resolve(self, api_version, kind))
    }

    fn write(&self, write: Write) -> BoxFuture<'_, Result<Written, Error>> {
        Box::pin(self.send(write))
    }
}

fn entry<K>(decoded: Decoded<K>) -> Result<Entry<ObjectKey, K>, Error> {
    let key = NamespaceName
        .key(&decoded.identity, &decoded.object)
        .map_err(|error| Error::answer(error.to_string()))?;
    Ok(Entry::new(key, decoded.identity.stamp, Arc::new(decoded.object)))
}

/// Gives a form that does not hold its types them.
fn typed(mut body: Value, resource: &Resource) -> Value {
    if let Value::Object(members) = &mut body {
        members
            .entry("apiVersion")
            .or_insert_with(|| resource.api_version().into());
        members.entry("kind").or_insert_with(|| (&*resource.kind).into());
    }
    body
}

#[derive(Deserialize)]
struct Head {
    kind: Option<String>,
    /// Raw, since an object may have a member of that name.
    items: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Items<'a> {
    #[serde(borrow, default)]
    items: Vec<&'a serde_json::value::RawValue>,
}

fn written(body: &Bytes, resource: &Resource) -> Result<Written, Error> {
    let head: Head = serde_json::from_slice(body)
        .map_err(|error| Error::answer(format!("the answer is no object: {error}")))?;
    if head.kind.as_deref() == Some("Status") {
        let status: Status = serde_json::from_slice(body).unwrap_or_default();
        let uid = status.details.and_then(|details| details.uid);
        return Ok(Written::Done {
            uid: uid.filter(|uid| !uid.is_empty()).map(Into::into),
        });
    }
    let codec = DynamicCodec::new(resource);
    let is_list = head.kind.as_deref().is_some_and(|kind| kind.ends_with("List")) && head.items.is_some();
    if !is_list {
        return Ok(Written::Object(codec.decode(body.clone())?));
    }
    let items: Items<'_> = serde_json::from_slice(body)
        .map_err(|error| Error::answer(format!("the answer is no list: {error}")))?;
    let decode = |item: &&serde_json::value::RawValue| -> Result<Decoded<DynamicObject>, Error> {
        Ok(codec.decode(body.slice_ref(item.get().as_bytes()))?)
    };
    items
        .items
        .iter()
        .map(decode)
        .collect::<Result<_, _>>()
        .map(Written::All)
}
