//! The verbs of an `Api`.

use bytes::Bytes;
use http::Request;
use informer_core::{
    Classify, DecodeError, Decoded, FailureClass, Feed, ListRequest, Listed, ListerWatcher, ResourceVersion,
};
use informer_transport::{
    Asked, Codec, DeleteOptions, Patch, Query, RequestError, Selectors, Status, Transport, WriteOptions,
};
use serde::Serialize;
use serde_json::Value;

use super::Api;
use crate::{Error, ListOptions};

/// Items per page, as client-go's pager has it.
const PAGE: u32 = 500;

/// All pages of a list.
#[derive(Debug)]
#[non_exhaustive]
pub struct ObjectList<K> {
    /// The objects, in the order of the server.
    pub items: Vec<Decoded<K>>,
    /// Those that could not be decoded.
    pub unreadable: Vec<DecodeError>,
    /// The version of the list; empty where the server gave none.
    pub version: ResourceVersion,
    /// Where the next page begins, where one page was asked for; `None`: this was the last.
    pub next: Option<Box<str>>,
}

impl<T: Transport, K, C: Codec<K>> Api<T, K, C> {
    /// Gets one object.
    ///
    /// # Errors
    /// When it is not there, cannot be decoded, or the request failed; see [`Error`].
    pub async fn get(&self, name: &str) -> Result<Decoded<K>, Error> {
        self.object(self.requests().get(name, None)?).await
    }

    /// Gets one object, with pairs in the query: `resourceVersion=0` for a state that a cache of the server has.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn get_with(&self, name: &str, query: &Query) -> Result<Decoded<K>, Error> {
        self.object(self.requests().get_with(name, None, query)?).await
    }

    /// Gets one object, if it is there.
    ///
    /// # Errors
    /// When it cannot be decoded, or the request failed; see [`Error`].
    pub async fn find(&self, name: &str) -> Result<Option<Decoded<K>>, Error> {
        match self.get(name).await {
            Ok(object) => Ok(Some(object)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Replaces an object. Its resource version must be that of the state it was made from, or absent to overwrite any.
    ///
    /// # Errors
    /// A conflict when somebody else wrote it since; others see [`Error`].
    pub async fn replace(
        &self,
        name: &str,
        object: &impl Serialize,
        options: &WriteOptions,
    ) -> Result<Decoded<K>, Error> {
        let body = self.with_types(object)?;
        self.object(self.requests().replace(name, None, &body, options)?)
            .await
    }

    /// Replaces the status of an object.
    ///
    /// # Errors
    /// As [`replace`](Self::replace).
    pub async fn replace_status(
        &self,
        name: &str,
        object: &impl Serialize,
        options: &WriteOptions,
    ) -> Result<Decoded<K>, Error> {
        let body = self.with_types(object)?;
        self.object(self.requests().replace(name, Some("status"), &body, options)?)
            .await
    }

    /// Creates an object. A form of object that does not hold its types is given them.
    ///
    /// # Errors
    /// When there is one of that name already; others see [`Error`].
    pub async fn create(&self, object: &impl Serialize, options: &WriteOptions) -> Result<Decoded<K>, Error> {
        let body = self.with_types(object)?;
        self.object(self.requests().create(&body, options)?).await
    }

    /// Patches an object, or applies it.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn patch(
        &self,
        name: &str,
        patch: &Patch,
        options: &WriteOptions,
    ) -> Result<Decoded<K>, Error> {
        self.object(self.requests().patch(name, None, patch, options)?)
            .await
    }

    /// Patches the status of an object.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn patch_status(
        &self,
        name: &str,
        patch: &Patch,
        options: &WriteOptions,
    ) -> Result<Decoded<K>, Error> {
        self.object(self.requests().patch(name, Some("status"), patch, options)?)
            .await
    }

    /// Deletes an object. Returns it if it goes on existing for now, waiting for its finalizers or its grace period, or if the server sent its
    /// last state.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn delete(&self, name: &str, options: &DeleteOptions) -> Result<Option<Decoded<K>>, Error> {
        let request = self.requests().delete(name, options)?;
        let body = self.client.fetch(request, Asked::Object).await?;
        if Status::in_body(&body).is_some() {
            return Ok(None);
        }
        Ok(Some(self.codec.decode(body)?))
    }

    /// Deletes all objects of the namespace that the selectors match.
    ///
    /// # Errors
    /// See [`Error`].
    pub async fn delete_collection(
        &self,
        selectors: &Selectors,
        options: &DeleteOptions,
    ) -> Result<(), Error> {
        let query = Query::of_list(selectors, &ListRequest::default());
        let request = self.requests().delete_collection(&query, options)?;
        self.client.fetch(request, Asked::Object).await.map(|_| ())
    }

    pub(super) async fn object(&self, request: Request<Bytes>) -> Result<Decoded<K>, Error> {
        let body = self.client.fetch(request, Asked::Object).await?;
        Ok(self.codec.decode(body)?)
    }

    pub(super) fn with_types(&self, object: &impl Serialize) -> Result<Value, RequestError> {
        let mut body = serde_json::to_value(object)
            .map_err(|error| RequestError::new(format!("the object cannot be written as JSON: {error}")))?;
        let Value::Object(members) = &mut body else {
            return Err(RequestError::new("the object is no JSON object"));
        };
        members
            .entry("apiVersion")
            .or_insert_with(|| self.resource.api_version().into());
        members
            .entry("kind")
            .or_insert_with(|| (&*self.resource.kind).into());
        Ok(body)
    }
}

impl<T: Transport, K: Send + Sync + 'static, C: Codec<K>> Api<T, K, C> {
    /// Lists all objects that the selectors match, page by page, each decoded while it arrives.
    ///
    /// When the token of a later page has expired, the list is made again in one page, as client-go's pager does.
    ///
    /// # Errors
    /// See [`Error`]. An object that cannot be decoded is no error: it is among the unreadable.
    pub async fn list(&self, selectors: &Selectors) -> Result<ObjectList<K>, Error> {
        collect(&self.source(selectors.clone()).unrepeated()).await
    }

    /// Lists with all options: one page from where a limit or a token is said, else all pages, as [`list`](Self::list). The namespace is that of
    /// the `Api`, where the options say none.
    ///
    /// # Errors
    /// As [`list`](Self::list), and when the server has not, or no longer, what the version asks for.
    pub async fn list_with(&self, options: &ListOptions) -> Result<ObjectList<K>, Error> {
        let api = match options.namespace.as_deref() {
            Some(namespace) => self.clone().in_namespace(namespace),
            None => self.clone(),
        };
        let source = api
            .source(options.selectors())
            .unrepeated()
            .tweak(options.tweak());
        let mut request = options.request();
        if request.limit.is_some() || request.token.is_some() {
            return pages(&source, request, true).await.map_err(|(error, _)| error);
        }
        request.limit = Some(PAGE);
        collect_from(&source, request).await
    }
}

/// All pages of a source. When the token of a later page has expired, the list is made again in one page, as client-go's pager does.
pub(crate) async fn collect<L>(source: &L) -> Result<ObjectList<L::Object>, Error>
where
    L: ListerWatcher<Error = Error>,
{
    let mut request = ListRequest::default();
    request.limit = Some(PAGE);
    collect_from(source, request).await
}

async fn collect_from<L>(source: &L, mut request: ListRequest) -> Result<ObjectList<L::Object>, Error>
where
    L: ListerWatcher<Error = Error>,
{
    match pages(source, request.clone(), false).await {
        Err((error, page)) if page > 0 && error.class() == FailureClass::Expired => {
            request.limit = None;
            pages(source, request, false).await.map_err(|(error, _)| error)
        }
        other => other.map_err(|(error, _)| error),
    }
}

async fn pages<L>(
    source: &L,
    mut request: ListRequest,
    only_one: bool,
) -> Result<ObjectList<L::Object>, (Error, u32)>
where
    L: ListerWatcher<Error = Error>,
{
    let mut list = ObjectList {
        items: Vec::new(),
        unreadable: Vec::new(),
        version: ResourceVersion::none(),
        next: None,
    };
    for page in 0.. {
        let mut feed = source
            .list(request.clone())
            .await
            .map_err(|error| (error, page))?;
        request.token = None;
        while let Some(listed) = feed.next().await {
            match listed.map_err(|error| (error, page))? {
                Listed::Item(Ok(decoded)) => list.items.push(decoded),
                Listed::Item(Err(error)) => list.unreadable.push(error),
                Listed::End { at, token } => {
                    list.version = at;
                    request.token = token;
                }
            }
        }
        if only_one {
            list.next = request.token;
            break;
        }
        if request.token.is_none() {
            break;
        }
    }
    Ok(list)
}
