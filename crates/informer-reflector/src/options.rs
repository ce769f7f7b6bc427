//! What can be chosen about a reflector.

use std::{sync::Arc, time::Duration};

/// How the whole state is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Start {
    /// In the watch stream, ended by a bookmark that says so (client-go `WatchListClient`). Falls back to LIST where it does not work.
    StreamingList,
    /// By LIST, in pages: as fresh, and cheaper for client and server together.
    #[default]
    List,
}

/// How fresh the very first LIST has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FirstVersion {
    /// The most recent state: the request has no version.
    #[default]
    MostRecent,
    /// Whatever the server has at hand, which may be old: the request says version 0, as client-go's does.
    Any,
}

/// Options of a reflector. The defaults are client-go's, but for [`FirstVersion`] and the waits that client-go does not bound.
///
/// ```
/// use informer_reflector::{Options, Start};
///
/// let mut options = Options::named("pods");
/// options.start = Start::List;
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// What is reflected, for logs, errors and status. Empty, the default: the file and line where the reflector was made (client-go
    /// `naming.GetNameFromCallsite`).
    pub name: Arc<str>,
    /// The kind of objects, for logs, errors and status. Empty, the default: the name of their Rust type (client-go
    /// `ReflectorOptions.TypeDescription`).
    pub type_description: Arc<str>,
    /// How the whole state is asked for.
    pub start: Start,
    /// How fresh the first LIST has to be.
    pub first_version: FirstVersion,
    /// Items of a page, always. `None`: 500 where paging is of use, and one page where the server would have to leave its cache to
    /// serve pages (client-go `Reflector.WatchListPageSize`). Zero counts as `None`.
    pub page_size: Option<u32>,
    /// The server is asked to end a watch after a time between this and twice this. Shorter than five minutes counts as five
    /// (client-go `ReflectorOptions.MinWatchTimeout`).
    pub min_watch_timeout: Duration,
    /// How long a streaming list may bring no initial object, nor its end, before LIST is used instead. In all it may take ten times as long.
    pub streaming_wait: Duration,
    /// How long a LIST may bring nothing before it counts as failed.
    pub list_wait: Duration,
    /// How long to wait between attempts.
    pub backoff: informer_backoff::Options,
    /// For how long a watch that ends with an internal error is opened again instead of listing; zero: not at all (client-go
    /// `Reflector.MaxInternalErrorRetryDuration`).
    pub max_internal_error_retry: Duration,
    /// [Resync](informer_core::DeltaSink::resync) the sink so long after a watch began, and so long after each resync. `None` or zero:
    /// never, the default, since a shared informer times the resyncs of its handlers itself. A resync that fails ends the watch
    /// (client-go `ReflectorOptions.ResyncPeriod`).
    pub resync_period: Option<Duration>,
    /// Where chance begins: the same seed gives the same timeouts and delays. `None`: drawn anew by each run, so that reflectors spread.
    pub seed: Option<u64>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            name: Arc::from(""),
            type_description: Arc::from(""),
            start: Start::default(),
            first_version: FirstVersion::default(),
            page_size: None,
            min_watch_timeout: SHORTEST_WATCH_TIMEOUT,
            streaming_wait: Duration::from_secs(30),
            list_wait: Duration::from_secs(120),
            backoff: informer_backoff::Options::default(),
            max_internal_error_retry: Duration::ZERO,
            resync_period: None,
            seed: None,
        }
    }
}

impl Options {
    /// The defaults under this name.
    #[must_use]
    pub fn named(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }
}

/// client-go `defaultMinWatchTimeout`.
pub(crate) const SHORTEST_WATCH_TIMEOUT: Duration = Duration::from_secs(300);
