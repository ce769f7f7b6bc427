//! `RequestBuilder`: a verb on a kind as an HTTP request.

use std::{error::Error, fmt};

use bytes::Bytes;
use http::{
    Method, Request,
    header::{ACCEPT, CONTENT_TYPE},
};
use informer_core::{Classify, FailureClass, Resource, Scope};
use serde::Serialize;

use super::{DeleteOptions, Patch, Query, WriteOptions, path};

const JSON: &str = "application/json";

/// Builds the requests for one kind, in one namespace or in all.
///
/// The URIs are a path with a query; a [`Transport`](crate::Transport) adds the rest.
#[derive(Debug, Clone)]
pub struct RequestBuilder {
    resource: Resource,
    namespace: Option<String>,
    accept: &'static str,
    accept_list: &'static str,
}

/// A request that cannot be built. Nothing was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestError {
    message: Box<str>,
}

impl RequestError {
    /// An error with a sentence that says which argument is wrong.
    #[must_use]
    pub fn new(message: impl Into<Box<str>>) -> Self {
        Self {
            message: message.into(),
        }
    }

    pub(super) fn segment(what: &'static str, segment: &str) -> Self {
        Self::new(if segment.is_empty() {
            format!("the {what} is empty")
        } else {
            format!("{segment:?} is no {what}: it may not be \".\" or \"..\" nor contain \"/\" or \"%\"")
        })
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for RequestError {}

impl Classify for RequestError {
    fn class(&self) -> FailureClass {
        FailureClass::Fatal
    }
}

impl RequestBuilder {
    /// Requests for a kind, in all namespaces if it has any.
    #[must_use]
    pub fn new(resource: Resource) -> Self {
        Self {
            resource,
            namespace: None,
            accept: JSON,
            accept_list: JSON,
        }
    }

    /// The same, in one namespace. A cluster-wide kind has none and ignores it.
    #[must_use]
    pub fn namespace(mut self, namespace: Option<&str>) -> Self {
        self.namespace = namespace.map(str::to_owned);
        self
    }

    /// The same, with what to ask for as the form of objects and of lists: the `Accept` header.
    #[must_use]
    pub fn accept(mut self, object: &'static str, list: &'static str) -> Self {
        self.accept = object;
        self.accept_list = list;
        self
    }

    /// LIST. For `query` see [`Query::of_list`].
    ///
    /// # Errors
    /// When the namespace is no path segment.
    pub fn list(&self, query: &Query) -> Result<Request<Bytes>, RequestError> {
        request(Method::GET, &self.collection()?, query, self.accept_list, None)
    }

    /// WATCH. For `query` see [`Query::of_watch`].
    ///
    /// # Errors
    /// When the namespace is no path segment.
    pub fn watch(&self, query: &Query) -> Result<Request<Bytes>, RequestError> {
        request(Method::GET, &self.collection()?, query, self.accept, None)
    }

    /// GET, of an object or its subresource.
    ///
    /// # Errors
    /// When name, namespace or subresource are no path segments, or a needed namespace is missing.
    pub fn get(&self, name: &str, subresource: Option<&str>) -> Result<Request<Bytes>, RequestError> {
        self.get_with(name, subresource, &Query::new())
    }

    /// GET with options.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn get_with(
        &self,
        name: &str,
        subresource: Option<&str>,
        query: &Query,
    ) -> Result<Request<Bytes>, RequestError> {
        let path = self.object(name, subresource)?;
        request(Method::GET, &path, query, self.accept, None)
    }

    /// CREATE.
    ///
    /// # Errors
    /// As [`get`](Self::get), or when `object` cannot be written as JSON.
    pub fn create(
        &self,
        object: &impl Serialize,
        options: &WriteOptions,
    ) -> Result<Request<Bytes>, RequestError> {
        self.needs_namespace()?;
        let body = Some((JSON, json(object)?));
        request(
            Method::POST,
            &self.collection()?,
            &options.query(),
            self.accept,
            body,
        )
    }

    /// CREATE of a subresource: `eviction`, `binding`, `token`.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_at(
        &self,
        name: &str,
        subresource: &str,
        body: &impl Serialize,
        options: &WriteOptions,
    ) -> Result<Request<Bytes>, RequestError> {
        let body = Some((JSON, json(body)?));
        let path = self.object(name, Some(subresource))?;
        request(Method::POST, &path, &options.query(), self.accept, body)
    }

    /// UPDATE: replaces an object or its subresource.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn replace(
        &self,
        name: &str,
        subresource: Option<&str>,
        object: &impl Serialize,
        options: &WriteOptions,
    ) -> Result<Request<Bytes>, RequestError> {
        let body = Some((JSON, json(object)?));
        request(
            Method::PUT,
            &self.object(name, subresource)?,
            &options.query(),
            self.accept,
            body,
        )
    }

    /// PATCH of an object or its subresource.
    ///
    /// # Errors
    /// As [`create`](Self::create), or when an apply names no field manager.
    pub fn patch(
        &self,
        name: &str,
        subresource: Option<&str>,
        patch: &Patch,
        options: &WriteOptions,
    ) -> Result<Request<Bytes>, RequestError> {
        let is_apply = matches!(patch, Patch::Apply(_));
        if is_apply && options.field_manager.as_deref().unwrap_or_default().is_empty() {
            return Err(RequestError::new("an apply needs a field manager"));
        }
        if options.force && !is_apply {
            return Err(RequestError::new("only an apply can be forced"));
        }
        let body = Some((patch.media_type(), json(patch.body())?));
        request(
            Method::PATCH,
            &self.object(name, subresource)?,
            &options.query(),
            self.accept,
            body,
        )
    }

    /// DELETE.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn delete(&self, name: &str, options: &DeleteOptions) -> Result<Request<Bytes>, RequestError> {
        let body = Some((JSON, json(options)?));
        request(
            Method::DELETE,
            &self.object(name, None)?,
            &Query::new(),
            self.accept,
            body,
        )
    }

    /// DELETE COLLECTION: all objects of the namespace that the selectors in `query` match.
    ///
    /// # Errors
    /// When the namespace is missing or no path segment.
    pub fn delete_collection(
        &self,
        query: &Query,
        options: &DeleteOptions,
    ) -> Result<Request<Bytes>, RequestError> {
        self.needs_namespace()?;
        let body = Some((JSON, json(options)?));
        request(Method::DELETE, &self.collection()?, query, self.accept_list, body)
    }

    fn needs_namespace(&self) -> Result<(), RequestError> {
        match (self.resource.scope, &self.namespace) {
            (Scope::Namespaced, None) => Err(RequestError::new(format!(
                "{} live in namespaces, and none is given",
                self.resource
            ))),
            _ => Ok(()),
        }
    }

    fn object(&self, name: &str, subresource: Option<&str>) -> Result<String, RequestError> {
        self.needs_namespace()?;
        let mut path = self.collection()?;
        path::push(&mut path, "name", name)?;
        if let Some(subresource) = subresource {
            path::push(&mut path, "subresource", subresource)?;
        }
        Ok(path)
    }

    fn collection(&self) -> Result<String, RequestError> {
        let resource = &self.resource;
        let mut path = String::with_capacity(64);
        if resource.group.is_empty() {
            path.push_str("/api");
        } else {
            path.push_str("/apis");
            path::push(&mut path, "group", &resource.group)?;
        }
        path::push(&mut path, "version", &resource.version)?;
        if let (Some(namespace), Scope::Namespaced) = (&self.namespace, resource.scope) {
            path.push_str("/namespaces");
            path::push(&mut path, "namespace", namespace)?;
        }
        path::push(&mut path, "resource", &resource.plural)?;
        Ok(path)
    }
}

fn json(body: &(impl Serialize + ?Sized)) -> Result<Bytes, RequestError> {
    serde_json::to_vec(body)
        .map(Bytes::from)
        .map_err(|error| RequestError::new(format!("the object cannot be written as JSON: {error}")))
}

fn request(
    method: Method,
    path: &str,
    query: &Query,
    accept: &'static str,
    body: Option<(&'static str, Bytes)>,
) -> Result<Request<Bytes>, RequestError> {
    let mark = if query.is_empty() { "" } else { "?" };
    let mut request = Request::builder()
        .method(method)
        .uri(format!("{path}{mark}{query}"))
        .header(ACCEPT, accept);
    let body = body.map(|(media_type, body)| {
        if let Some(headers) = request.headers_mut() {
            headers.insert(CONTENT_TYPE, http::HeaderValue::from_static(media_type));
        }
        body
    });
    request
        .body(body.unwrap_or_default())
        .map_err(|error| RequestError::new(format!("no request can be made: {error}")))
}
