//! Subresources: status by name, scale, eviction, token, binding.

use bytes::Bytes;
use http::Request;
use informer_core::Decoded;
use informer_transport::{Asked, Codec, DeleteOptions, Patch, Transport, WriteOptions};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::Api;
use crate::Error;

/// The part of an object that says how many of it there are to be (`autoscaling/v1 Scale`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Scale {
    /// The resource version of the object.
    pub version: String,
    /// How many there are to be.
    pub wanted: i32,
    /// How many there are.
    pub current: i32,
    /// The label selector of what is counted, where the server tells it.
    pub selector: Option<String>,
}

/// What a token of a service account is asked with (`authentication.k8s.io/v1 TokenRequest`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TokenOptions {
    /// Who may be told it; none is the API server itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub audiences: Vec<String>,
    /// How many seconds it is valid; the server may choose another time, and refuses less than ten minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expiration_seconds: Option<u64>,
}

/// A token, as the server made it. Printing it shows no secret.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Token {
    /// The token.
    pub token: String,
    /// When it ends, as RFC 3339.
    pub expiration_timestamp: String,
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Token")
            .field("expiration_timestamp", &self.expiration_timestamp)
            .finish_non_exhaustive()
    }
}

impl TokenOptions {
    /// The same, for this audience too.
    #[must_use]
    pub fn audience(mut self, audience: impl Into<String>) -> Self {
        self.audiences.push(audience.into());
        self
    }

    /// The same, valid for so long.
    #[must_use]
    pub fn expires_in(mut self, seconds: u64) -> Self {
        self.expiration_seconds = Some(seconds);
        self
    }
}

impl<T: Transport, K, C: Codec<K>> Api<T, K, C> {
    /// Applies an object: sets the fields that it holds, as their manager (server-side apply). Fields that the manager applied before and
    /// that are not in it any more are taken out.
    ///
    /// # Errors
    /// A conflict where another manager has one of the fields with another value, unless the options say to force; others see [`Error`].
    pub async fn apply(
        &self,
        name: &str,
        object: &impl Serialize,
        options: &WriteOptions,
    ) -> Result<Decoded<K>, Error> {
        let patch = Patch::Apply(self.with_types(object)?);
        self.object(self.requests().patch(name, None, &patch, options)?)
            .await
    }

    /// Applies the status of an object.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub async fn apply_status(
        &self,
        name: &str,
        object: &impl Serialize,
        options: &WriteOptions,
    ) -> Result<Decoded<K>, Error> {
        let patch = Patch::Apply(self.with_types(object)?);
        self.object(self.requests().patch(name, Some("status"), &patch, options)?)
            .await
    }

    /// Gets a subresource.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn get_subresource<J: DeserializeOwned>(
        &self,
        name: &str,
        subresource: &str,
    ) -> Result<J, Error> {
        self.answer(self.requests().get(name, Some(subresource))?).await
    }

    /// Creates a subresource.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn create_subresource<J: DeserializeOwned>(
        &self,
        name: &str,
        subresource: &str,
        body: &impl Serialize,
        options: &WriteOptions,
    ) -> Result<J, Error> {
        let request = self.requests().create_at(name, subresource, body, options)?;
        self.answer(request).await
    }

    /// Replaces a subresource.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn replace_subresource<J: DeserializeOwned>(
        &self,
        name: &str,
        subresource: &str,
        body: &impl Serialize,
        options: &WriteOptions,
    ) -> Result<J, Error> {
        let request = self.requests().replace(name, Some(subresource), body, options)?;
        self.answer(request).await
    }

    /// Patches a subresource.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn patch_subresource<J: DeserializeOwned>(
        &self,
        name: &str,
        subresource: &str,
        patch: &Patch,
        options: &WriteOptions,
    ) -> Result<J, Error> {
        let request = self.requests().patch(name, Some(subresource), patch, options)?;
        self.answer(request).await
    }

    /// How many of an object there are to be, and are.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn scale(&self, name: &str) -> Result<Scale, Error> {
        let body: Value = self.get_subresource(name, "scale").await?;
        Ok(Scale::of(&body))
    }

    /// Says how many of an object there are to be.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn set_scale(&self, name: &str, wanted: i32, options: &WriteOptions) -> Result<Scale, Error> {
        let patch = Patch::Merge(json!({"spec": {"replicas": wanted}}));
        let body: Value = self.patch_subresource(name, "scale", &patch, options).await?;
        Ok(Scale::of(&body))
    }

    /// Evicts a pod: deletes it, if its disruption budgets allow that.
    ///
    /// # Errors
    /// Throttled (429) while a budget does not allow it; others see [`Error`].
    pub async fn evict(&self, name: &str, options: &DeleteOptions) -> Result<(), Error> {
        let body = json!({
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": self.namespace()},
            "deleteOptions": options,
        });
        let none = WriteOptions::default();
        let _status: Value = self.create_subresource(name, "eviction", &body, &none).await?;
        Ok(())
    }

    /// Binds a pod to a node, as a scheduler does.
    ///
    /// # Errors
    /// A conflict when it is bound already; others see [`Error`].
    pub async fn bind(&self, name: &str, node: &str, options: &WriteOptions) -> Result<(), Error> {
        let body = json!({
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "namespace": self.namespace()},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        });
        let _status: Value = self.create_subresource(name, "binding", &body, options).await?;
        Ok(())
    }

    /// Makes a token of a service account.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn token(&self, name: &str, token: &TokenOptions) -> Result<Token, Error> {
        let body = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": token,
        });
        let none = WriteOptions::default();
        let mut answer: Value = self.create_subresource(name, "token", &body, &none).await?;
        // Not with its cause: that could quote the token.
        serde_json::from_value(answer["status"].take())
            .map_err(|_| Error::answer("the answer to a request for a token holds none"))
    }

    async fn answer<J: DeserializeOwned>(&self, request: Request<Bytes>) -> Result<J, Error> {
        let body = self.client().fetch(request, Asked::Object).await?;
        serde_json::from_slice(&body)
            .map_err(|error| Error::answer(format!("the answer is not what it should be: {error}")))
    }
}

impl Scale {
    fn of(body: &Value) -> Self {
        let number = |pointer| {
            let number = body.pointer(pointer).and_then(Value::as_i64).unwrap_or(0);
            i32::try_from(number).unwrap_or(i32::MAX)
        };
        let text = |pointer| body.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        Self {
            version: text("/metadata/resourceVersion").unwrap_or_default(),
            wanted: number("/spec/replicas"),
            current: number("/status/replicas"),
            selector: text("/status/selector").filter(|selector| !selector.is_empty()),
        }
    }
}
