//! Query options of lists and watches.

use std::{fmt, time::Duration};

use informer_core::{ListRequest, VersionMatch, WatchRequest};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

const VALUE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Which objects of a kind: the part of a list that its pages and its watch share.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Selectors {
    /// `labelSelector`.
    pub labels: Option<String>,
    /// `fieldSelector`.
    pub fields: Option<String>,
    /// Further pairs, sent with every list, page and watch: `shardSelector`.
    pub extra: Vec<(String, String)>,
}

impl Selectors {
    /// All objects.
    #[must_use]
    pub fn all() -> Self {
        Self::default()
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

    /// The same, with one more pair in every query.
    #[must_use]
    pub fn extra(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.extra.push((name.into(), value.into()));
        self
    }
}

/// The pairs of a query, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// No pairs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The pairs of one page of a list.
    #[must_use]
    pub fn of_list(selectors: &Selectors, request: &ListRequest) -> Self {
        let mut query = Self::of_selectors(selectors);
        if let Some(limit) = request.limit.filter(|&limit| limit > 0) {
            query.set("limit", limit.to_string());
        }
        if let Some(token) = &request.token {
            // The token holds the version; the API refuses both together.
            query.set("continue", &**token);
            return query;
        }
        if let Some(version) = request.version.as_ref().filter(|version| !version.is_none()) {
            query.set("resourceVersion", version.as_str());
            match request.version_match {
                Some(VersionMatch::NotOlderThan) => query.set("resourceVersionMatch", "NotOlderThan"),
                Some(VersionMatch::Exact) => query.set("resourceVersionMatch", "Exact"),
                _ => {}
            }
        }
        query
    }

    /// The pairs of a watch.
    #[must_use]
    pub fn of_watch(selectors: &Selectors, request: &WatchRequest) -> Self {
        let mut query = Self::of_selectors(selectors);
        query.set("watch", "true");
        if let Some(version) = request.version.as_ref().filter(|version| !version.is_none()) {
            query.set("resourceVersion", version.as_str());
        }
        if request.initial_events {
            query.set("sendInitialEvents", "true");
            query.set("resourceVersionMatch", "NotOlderThan");
        }
        if request.bookmarks || request.initial_events {
            query.set("allowWatchBookmarks", "true");
        }
        if let Some(timeout) = request.timeout {
            query.set("timeoutSeconds", whole_seconds(timeout).to_string());
        }
        query
    }

    fn of_selectors(selectors: &Selectors) -> Self {
        let mut query = Self::new();
        if let Some(labels) = &selectors.labels {
            query.set("labelSelector", labels);
        }
        if let Some(fields) = &selectors.fields {
            query.set("fieldSelector", fields);
        }
        query.pairs.extend(selectors.extra.iter().cloned());
        query
    }

    /// Sets a pair, in place of any of that name.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.remove(name);
        self.add(name, value);
    }

    /// Adds a pair, beside any of that name.
    pub fn add(&mut self, name: &str, value: impl Into<String>) {
        self.pairs.push((name.to_owned(), value.into()));
    }

    /// Takes out all pairs of a name.
    pub fn remove(&mut self, name: &str) {
        self.pairs.retain(|(it, _)| it != name);
    }

    /// The first value of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.pairs
            .iter()
            .find(|(it, _)| it == name)
            .map(|(_, value)| &**value)
    }

    /// All pairs.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(name, value)| (&**name, &**value))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }
}

/// Prints as it stands behind the question mark of a URL.
impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (name, value)) in self.pairs.iter().enumerate() {
            let and = if at > 0 { "&" } else { "" };
            write!(
                f,
                "{and}{}={}",
                utf8_percent_encode(name, VALUE),
                utf8_percent_encode(value, VALUE)
            )?;
        }
        Ok(())
    }
}

/// The API counts in seconds and takes 0 for "no limit", so a part of a second counts as one.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs()
        .saturating_add(u64::from(time.subsec_nanos() > 0))
        .max(1)
}
