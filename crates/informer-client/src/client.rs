//! `Client`: a transport, and what can be asked through it.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http::{Request, Response, header::ACCEPT};
use informer_core::Resource;
use informer_transport::{
    ApiError, Asked, Codec, DEFAULT_FRAME_LIMIT, DynamicCodec, DynamicObject, JsonCodec, MetadataCodec,
    PackedCodec, PackedObject, PartialMetadata, RequestError, Transport,
};
#[cfg(feature = "protobuf")]
use informer_transport::{Negotiated, ProstCodec};
use serde::de::DeserializeOwned;

use crate::{Api, Error, body::Chunks};

/// How much of the body of a failure is read.
const FAILURE_LIMIT: usize = 1 << 20;

/// A client of one API server, over any transport. Clones share it.
pub struct Client<T> {
    transport: Arc<T>,
}

impl<T> Clone for Client<T> {
    fn clone(&self) -> Self {
        Self {
            transport: self.transport.clone(),
        }
    }
}

impl<T> fmt::Debug for Client<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").finish_non_exhaustive()
    }
}

impl<T: Transport> Client<T> {
    /// A client over a transport.
    pub fn new(transport: T) -> Self {
        Self {
            transport: Arc::new(transport),
        }
    }

    /// The transport.
    #[must_use]
    pub fn transport(&self) -> &T {
        &self.transport
    }

    pub(crate) fn shared_transport(&self) -> Arc<T> {
        self.transport.clone()
    }

    /// Objects of a serde type of the user's own, which need not hold more than the fields of interest.
    #[must_use]
    pub fn objects<K: DeserializeOwned>(&self, resource: Resource) -> Api<T, K, JsonCodec<K>> {
        let codec = JsonCodec::new().named(resource.kind.clone());
        self.with_codec(resource, codec)
    }

    /// Objects of a type that knows its kind: those of k8s-openapi.
    #[cfg(feature = "k8s-openapi")]
    #[must_use]
    pub fn typed<K>(&self) -> Api<T, K, JsonCodec<K>>
    where
        K: k8s_openapi::Resource + DeserializeOwned,
        K::Scope: crate::KnownScope,
    {
        self.objects(crate::resource_of::<K>())
    }

    /// Objects as JSON, for kinds known only at run time.
    #[must_use]
    pub fn dynamic(&self, resource: Resource) -> Api<T, DynamicObject, DynamicCodec> {
        let codec = DynamicCodec::new(&resource);
        self.with_codec(resource, codec)
    }

    /// Metadata only: the server is asked to send no more.
    #[must_use]
    pub fn metadata(&self, resource: Resource) -> Api<T, PartialMetadata, MetadataCodec> {
        self.with_codec(resource, MetadataCodec::new())
    }

    /// Objects as the bytes that come, with the metadata that selectors and predicates need: see [`PackedObject`].
    #[must_use]
    pub fn packed(&self, resource: Resource) -> Api<T, PackedObject, PackedCodec> {
        self.with_codec(resource, PackedCodec::new())
    }

    /// Objects as prost messages, for kinds that are built into Kubernetes: generated types, or messages of the user's own with the fields
    /// of interest. The server is asked for protobuf and nothing else. Such objects are read; what is written is JSON.
    #[cfg(feature = "protobuf")]
    #[must_use]
    pub fn messages<K>(&self, resource: Resource) -> Api<T, K, ProstCodec<K>>
    where
        K: prost::Message + Default,
    {
        let codec = ProstCodec::new().named(resource.kind.clone());
        self.with_codec(resource, codec)
    }

    /// The same for a form of object that can be read from JSON too, which is then what a server without protobuf for the kind is asked for.
    #[cfg(feature = "protobuf")]
    #[must_use]
    pub fn negotiated<K>(&self, resource: Resource) -> Api<T, K, Negotiated<ProstCodec<K>, JsonCodec<K>>>
    where
        K: prost::Message + Default + DeserializeOwned,
    {
        let protobuf = ProstCodec::new().named(resource.kind.clone());
        let json = JsonCodec::new().named(resource.kind.clone());
        self.with_codec(resource, Negotiated::new(protobuf, json))
    }

    /// Objects of any form, with the codec that reads it.
    #[must_use]
    pub fn with_codec<K, C: Codec<K>>(&self, resource: Resource, codec: C) -> Api<T, K, C> {
        Api::new(self.clone(), resource, codec)
    }

    /// Sends a request and checks the status of the answer. `asked` says how a failure is to be understood.
    ///
    /// # Errors
    /// When no answer came, or one that is no success.
    ///
    /// # Cancel safety
    /// Dropping the future abandons the request. The server may have seen it.
    pub async fn send(&self, request: Request<Bytes>, asked: Asked) -> Result<Response<T::Body>, Error> {
        let response = self
            .transport
            .send(request)
            .await
            .map_err(Error::transport::<T>)?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (parts, body) = response.into_parts();
        // A failure whose body is cut is still that failure.
        let body = Chunks::new(body).collect(FAILURE_LIMIT).await.unwrap_or_default();
        Err(ApiError::from_response(&parts, &body, asked).into())
    }

    /// Sends a request and reads the whole answer.
    ///
    /// # Errors
    /// As [`send`](Self::send), or when the answer is cut or longer than 64 MiB.
    pub async fn fetch(&self, request: Request<Bytes>, asked: Asked) -> Result<Bytes, Error> {
        let response = self.send(request, asked).await?;
        let body = Chunks::new(response.into_body())
            .collect(DEFAULT_FRAME_LIMIT)
            .await?;
        if body.len() >= DEFAULT_FRAME_LIMIT {
            return Err(Error::answer(format!(
                "the answer is longer than the limit of {DEFAULT_FRAME_LIMIT} bytes"
            )));
        }
        Ok(body)
    }

    /// Gets the JSON document at a path such as `/version`.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch), or when the answer is something else.
    pub async fn get_json<J: DeserializeOwned>(&self, path: &str, accept: &'static str) -> Result<J, Error> {
        let request = Request::get(path)
            .header(ACCEPT, accept)
            .body(Bytes::new())
            .map_err(|error| RequestError::new(format!("no request can be made for {path}: {error}")))?;
        let body = self.fetch(request, Asked::Object).await?;
        serde_json::from_slice(&body)
            .map_err(|error| Error::answer(format!("the answer to {path} is not what it should be: {error}")))
    }
}
