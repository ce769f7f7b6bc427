//! What was asked, and when.

use std::{
    collections::{BTreeMap, VecDeque},
    time::Duration,
};

use http::{HeaderMap, Method};

use super::Verb;

/// A request as it came in.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LoggedRequest {
    /// When, since the first `now`.
    pub at: Duration,
    /// The method.
    pub method: Method,
    /// Path and query as sent.
    pub uri: String,
    /// The path.
    pub path: String,
    /// The query, decoded.
    pub query: BTreeMap<String, String>,
    /// The headers.
    pub headers: HeaderMap,
    /// What it asks for.
    pub verb: Verb,
    /// The plural name of the resource; empty for anything else.
    pub resource: String,
    /// The status of the answer, once there is one.
    pub status: Option<u16>,
}

impl LoggedRequest {
    /// A query parameter.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }
}

/// The latest requests, oldest first.
#[derive(Debug, Default)]
pub struct RequestLog {
    entries: VecDeque<LoggedRequest>,
    /// How many have been dropped from the front.
    n_dropped: u64,
    limit: usize,
}

impl RequestLog {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// The requests, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &LoggedRequest> {
        self.entries.iter()
    }

    /// The requests of a verb about a resource.
    pub fn of<'a>(&'a self, verb: Verb, resource: &'a str) -> impl Iterator<Item = &'a LoggedRequest> {
        self.entries
            .iter()
            .filter(move |it| it.verb == verb && it.resource == resource)
    }

    /// How many are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none is kept.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.n_dropped += self.entries.len() as u64;
        self.entries.clear();
    }

    /// Adds a request; the number names it.
    pub(crate) fn push(&mut self, entry: LoggedRequest) -> u64 {
        let number = self.n_dropped + self.entries.len() as u64;
        self.entries.push_back(entry);
        while self.entries.len() > self.limit {
            self.entries.pop_front();
            self.n_dropped += 1;
        }
        number
    }

    pub(crate) fn answered(&mut self, number: u64, status: u16) {
        let index = number
            .checked_sub(self.n_dropped)
            .and_then(|it| usize::try_from(it).ok());
        if let Some(entry) = index.and_then(|index| self.entries.get_mut(index)) {
            entry.status = Some(status);
        }
    }
}
