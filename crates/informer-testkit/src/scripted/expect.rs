//! What a request must look like for a step of a script to answer it, and what is remembered of it.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, Method};

use super::BodyHandle;

/// What a request must look like for a step to answer it. Everything that is not named may be anything.
#[derive(Debug, Clone, Default)]
pub struct Expect {
    method: Option<Method>,
    path: Option<String>,
    query: BTreeMap<String, Option<String>>,
}

impl Expect {
    /// Any request.
    #[must_use]
    pub fn any() -> Self {
        Self::default()
    }

    /// A GET of this path.
    #[must_use]
    pub fn get(path: impl Into<String>) -> Self {
        Self::method(Method::GET, path)
    }

    /// A request of this method and path.
    #[must_use]
    pub fn method(method: Method, path: impl Into<String>) -> Self {
        Self {
            method: Some(method),
            path: Some(path.into()),
            query: BTreeMap::new(),
        }
    }

    /// A list of this collection: a GET that is no watch.
    #[must_use]
    pub fn list(path: impl Into<String>) -> Self {
        Self::get(path).without("watch")
    }

    /// A watch of this collection, streaming list or not.
    #[must_use]
    pub fn watch(path: impl Into<String>) -> Self {
        let mut expect = Self::get(path);
        expect.query.insert("watch".into(), Some("1|true".into()));
        expect
    }

    /// With this query parameter.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.insert(name.into(), Some(value.into()));
        self
    }

    /// Without this query parameter.
    #[must_use]
    pub fn without(mut self, name: impl Into<String>) -> Self {
        self.query.insert(name.into(), None);
        self
    }

    pub(super) fn matches(&self, request: &Recorded) -> bool {
        let query = |(name, value): (&String, &Option<String>)| {
            let found = request.query.get(name);
            match (value.as_deref(), found.map(String::as_str)) {
                (None, found) => found.is_none(),
                (Some("1|true"), Some(found)) => found == "1" || found == "true",
                (Some(value), found) => found == Some(value),
            }
        };
        self.method
            .as_ref()
            .is_none_or(|method| *method == request.method)
            && self.path.as_ref().is_none_or(|path| *path == request.path)
            && self.query.iter().all(query)
    }
}

/// A request as it was received.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Recorded {
    /// The method.
    pub method: Method,
    /// The path, without query.
    pub path: String,
    /// The query, decoded.
    pub query: BTreeMap<String, String>,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// Whether a step of the script answered it.
    pub expected: bool,
    /// Writes to the body of the answer, where it had one.
    pub answer: Option<BodyHandle>,
}

impl Recorded {
    /// A query parameter.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// Whether it asks for a watch.
    #[must_use]
    pub fn is_watch(&self) -> bool {
        matches!(self.param("watch"), Some("1" | "true"))
    }

    /// `timeoutSeconds`, where it is given.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.param("timeoutSeconds")?
            .parse()
            .ok()
            .map(Duration::from_secs)
    }
}
