//! `ReadClient`, and what lists are asked with and bring.

use std::{error::Error as StdError, future::Future, sync::Arc, time::Duration};

use informer_core::{
    Classify, DecodeError, Entry, ListRequest, ObjectKey, Resource, ResourceVersion, VersionMatch,
};

use super::Form;
use crate::{Error, Kinds, Query, Selectors};

/// Reads objects, from wherever: a server, a cache.
///
/// Comfort is in [`ReadClientExt`](crate::ReadClientExt). It is not dyn-compatible: the form of object is the caller's choice.
pub trait ReadClient: Send + Sync {
    /// How a read fails.
    type Error: StdError + Classify + From<Error> + Send + Sync + 'static;

    /// The kinds that it knows by type.
    fn kinds(&self) -> &Kinds;

    /// Reads one object; `None`: there is none. One that is there and cannot be decoded is an error; of which an older state is known, that
    /// state, [stale](Entry::stale).
    fn read<K: Form>(
        &self,
        resource: &Resource,
        key: &ObjectKey,
    ) -> impl Future<Output = Result<Option<Entry<ObjectKey, K>>, Self::Error>> + Send;

    /// Reads all objects that the options want, or one page of them.
    fn read_all<K: Form>(
        &self,
        resource: &Resource,
        options: &ListOptions,
    ) -> impl Future<Output = Result<List<K>, Self::Error>> + Send;

    /// Whether a failure is that there is no such object or kind.
    fn is_not_found(error: &Self::Error) -> bool {
        error.class() == informer_core::FailureClass::NotFound
    }
}

impl<C: ReadClient> ReadClient for Arc<C> {
    type Error = C::Error;

    fn kinds(&self) -> &Kinds {
        (**self).kinds()
    }

    fn read<K: Form>(
        &self,
        resource: &Resource,
        key: &ObjectKey,
    ) -> impl Future<Output = Result<Option<Entry<ObjectKey, K>>, C::Error>> + Send {
        (**self).read(resource, key)
    }

    fn read_all<K: Form>(
        &self,
        resource: &Resource,
        options: &ListOptions,
    ) -> impl Future<Output = Result<List<K>, C::Error>> + Send {
        (**self).read_all(resource, options)
    }

    fn is_not_found(error: &C::Error) -> bool {
        C::is_not_found(error)
    }
}

/// Which objects of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ListOptions {
    /// One namespace; `None`: all.
    pub namespace: Option<String>,
    /// A label selector.
    pub labels: Option<String>,
    /// A field selector.
    pub fields: Option<String>,
    /// At most so many, counted after the selectors; none or 0: all. A list that ends early says where the next page begins.
    pub limit: Option<u32>,
    /// Where the page before ended ([`List::next`]).
    pub token: Option<Box<str>>,
    /// The version that the list is to be of, as `version_match` says. `0` is any, however old. Only a server can choose: a cache, which has one
    /// state, answers to no other than `0`.
    pub version: Option<ResourceVersion>,
    /// How `version` is meant.
    pub version_match: Option<VersionMatch>,
    /// How long the server may take for a page (`timeoutSeconds`).
    pub timeout: Option<Duration>,
}

impl ListOptions {
    /// All objects.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
    }

    /// The same, of one namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into()).filter(|namespace| !namespace.is_empty());
        self
    }

    /// The same, of those with matching labels: `app=web,tier in (a, b)`.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<String>) -> Self {
        self.labels = Some(selector.into()).filter(|selector| !selector.is_empty());
        self
    }

    /// The same, of those with matching fields: `spec.nodeName=n1`.
    #[must_use]
    pub fn fields(mut self, selector: impl Into<String>) -> Self {
        self.fields = Some(selector.into()).filter(|selector| !selector.is_empty());
        self
    }

    /// The same, so many at most.
    #[must_use]
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit).filter(|&limit| limit > 0);
        self
    }

    /// The same, from where a page ended.
    #[must_use]
    pub fn from_token(mut self, token: impl Into<Box<str>>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// The same, of this version or a later one: what a cache of the server may answer.
    #[must_use]
    pub fn not_older_than(mut self, version: impl Into<ResourceVersion>) -> Self {
        (self.version, self.version_match) = (Some(version.into()), Some(VersionMatch::NotOlderThan));
        self
    }

    /// The same, of exactly this version, which fails once the server has forgotten it.
    #[must_use]
    pub fn at_version(mut self, version: impl Into<ResourceVersion>) -> Self {
        (self.version, self.version_match) = (Some(version.into()), Some(VersionMatch::Exact));
        self
    }

    /// The same, for which the server may take so long.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Changes what a source lists by.
    pub(crate) fn tweak(&self) -> impl Fn(&mut Query) + Send + Sync + 'static {
        let seconds = self
            .timeout
            .map(|timeout| timeout.as_secs() + u64::from(timeout.subsec_nanos() > 0));
        move |query| {
            if let Some(seconds) = seconds {
                // 0 is no limit.
                query.set("timeoutSeconds", seconds.max(1).to_string());
            }
        }
    }

    /// What the first page is asked for with.
    pub(crate) fn request(&self) -> ListRequest {
        let mut request = ListRequest::default();
        (request.limit, request.token) = (self.limit, self.token.clone());
        (request.version, request.version_match) = (self.version.clone(), self.version_match);
        request
    }

    pub(crate) fn selectors(&self) -> Selectors {
        let selectors = Selectors::all();
        let selectors = selectors.labels(self.labels.clone().unwrap_or_default());
        selectors.fields(self.fields.clone().unwrap_or_default())
    }
}

/// Objects, in key order where a cache brings them and in the server's order otherwise.
#[derive(Debug)]
#[non_exhaustive]
pub struct List<K> {
    /// The objects.
    pub entries: Vec<Entry<ObjectKey, K>>,
    /// Those that could not be decoded: they are there, and may match. A cache names here those of which it holds no state; where it holds an
    /// older one, that is an entry which is stale.
    pub unreadable: Vec<DecodeError>,
    /// The version that the list is of; empty where there is none.
    pub version: ResourceVersion,
    /// Where the next page begins; `None`: this was the last.
    pub next: Option<Box<str>>,
}

impl<K> Default for List<K> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            unreadable: Vec::new(),
            version: ResourceVersion::none(),
            next: None,
        }
    }
}

impl<K> List<K> {
    /// The objects, without keys and versions.
    pub fn objects(&self) -> impl Iterator<Item = &Arc<K>> {
        self.entries.iter().map(|entry| &entry.object)
    }

    /// Those entries of which the server has a newer state that could not be decoded.
    pub fn stale(&self) -> impl Iterator<Item = &Entry<ObjectKey, K>> {
        self.entries.iter().filter(|entry| entry.stale)
    }

    /// Whether all that there is could be read: whoever makes or removes what the list lacks, or counts it, should ask this first.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.unreadable.is_empty() && self.stale().next().is_none()
    }

    /// Their names, in order: `namespace/name`.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        self.entries.iter().map(|entry| entry.key.as_str()).collect()
    }
}
