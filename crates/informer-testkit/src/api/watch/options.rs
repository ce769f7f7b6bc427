//! What a watch is asked with.

use std::time::Duration;

/// What a watch is asked with. All text is as in the query of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WatchOptions {
    /// Of one namespace; of all when there is none.
    pub namespace: Option<String>,
    /// `labelSelector`.
    pub labels: String,
    /// `fieldSelector`.
    pub fields: String,
    /// `resourceVersion`.
    pub version: String,
    /// `resourceVersionMatch`.
    pub version_match: String,
    /// `continue`, which has no meaning for a watch.
    pub token: String,
    /// `sendInitialEvents`.
    pub initial_events: Option<bool>,
    /// `allowWatchBookmarks`.
    pub bookmarks: bool,
    /// `timeoutSeconds`.
    pub timeout: Option<Duration>,
}

impl WatchOptions {
    /// A watch from this version.
    #[must_use]
    pub fn from_version(version: impl ToString) -> Self {
        Self {
            version: version.to_string(),
            ..Self::default()
        }
    }

    /// A streaming list: the state as events, the end mark, then changes.
    #[must_use]
    pub fn streaming() -> Self {
        Self {
            version_match: "NotOlderThan".into(),
            initial_events: Some(true),
            bookmarks: true,
            ..Self::default()
        }
    }

    /// Of one namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// With this label selector.
    #[must_use]
    pub fn labels(mut self, selector: &str) -> Self {
        selector.clone_into(&mut self.labels);
        self
    }

    /// With this field selector.
    #[must_use]
    pub fn fields(mut self, selector: &str) -> Self {
        selector.clone_into(&mut self.fields);
        self
    }

    /// With bookmarks.
    #[must_use]
    pub fn bookmarks(mut self) -> Self {
        self.bookmarks = true;
        self
    }

    /// Ending after this long.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}
