//! `FakeApi`: the API server as a pure model.

mod apply;
mod builtins;
mod crd;
mod def;
mod delete;
mod discovery;
mod error;
mod kinds;
mod list;
mod managed;
mod namespaces;
mod objects;
mod openapi;
mod patch;
mod print;
mod read;
mod render;
mod scale;
mod schema;
mod selector;
mod strategic;
mod table;
mod token;
mod update;
mod validate;
mod watch;
mod write;

use std::{
    collections::BTreeMap,
    fmt,
    time::{Duration, Instant},
};

use informer_core::Resource;

pub use def::ResourceDef;
pub use delete::{DeleteOptions, Propagation};
pub use error::{ApiError, Cause};
pub(crate) use kinds::{Kind, KindKey, Target};
pub(crate) use list::{ListFailure, Query};
pub use list::{ListOptions, ObjectList};
pub use patch::Patch;
pub(crate) use print::{Include, Style};
pub(crate) use render::{Form, error as error_event, list_body, object_body};
pub use selector::{FieldSelector, LabelSelector, SelectorError};
pub(crate) use table::Stored;
pub(crate) use watch::Lag;
pub use watch::{WatchEnd, WatchId, WatchOptions, WatchPoll};
pub(crate) use write::{Part, WriteOptions, Written};

use self::{kinds::Kinds, table::LogEntry, watch::Watch};
use crate::{
    Rng,
    faults::Faults,
    http::{Exchanges, RequestLog},
};

/// How a [`FakeApi`] behaves. The defaults are those of a real API server where it has them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// Everything random comes from it: uids, generated names, default watch timeouts.
    pub seed: u64,
    /// The wall time that the first `now` stands for, since the Unix epoch.
    pub wall_start: Duration,
    /// How many changes of a kind are kept. A watch, a page or an exact list from before them gets 410.
    pub history: usize,
    /// How often a watch that asked for bookmarks gets one.
    pub bookmark_every: Duration,
    /// How long a request waits for a version that is not there yet before it is "too large".
    pub wait_for_version: Duration,
    /// A watch without `timeoutSeconds` ends after this long, or up to twice as long.
    pub min_request_timeout: Duration,
    /// Whether streaming lists are served. Without, they get 422, as from an old server.
    pub streaming_lists: bool,
    /// How many requests the log keeps.
    pub request_log: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 0,
            // The start of 2026.
            wall_start: Duration::from_secs(1_767_225_600),
            history: 8192,
            bookmark_every: Duration::from_secs(60),
            wait_for_version: Duration::from_secs(3),
            min_request_timeout: Duration::from_secs(1800),
            streaming_lists: true,
            request_log: 10_000,
        }
    }
}

/// The API server as a pure model: it holds no lock, starts no thread and reads no clock. Time comes in with [`tick`](Self::tick) and
/// with each request, everything random from a seed.
///
/// It can be used directly ([`create`](Self::create), [`list`](Self::list), [`watch`](Self::watch) …) or through its HTTP face
/// ([`handle`](Self::handle), [`open`](Self::open)), which is what [`FakeTransport`](crate::FakeTransport) and the embedded server
/// drive.
///
/// It leaves out admission but for the life of namespaces, defaulting beyond what informers look at, validation beyond metadata, graceful
/// deletion, garbage collection and scheduling. Of custom resources' schemas it knows which lists have keys, and nothing else.
/// [`Patch::Strategic`] and [`Patch::Apply`] say what they leave out.
pub struct FakeApi {
    pub(crate) options: Options,
    pub(crate) rng: Rng,
    /// The version of the latest change of anything.
    pub(crate) revision: u64,
    pub(crate) kinds: Kinds,
    watches: BTreeMap<WatchId, Watch>,
    next_watch: u64,
    /// Grows with everything that a waiting reader should look at.
    epoch: u64,
    time: Time,
    pub(crate) faults: Faults,
    pub(crate) exchanges: Exchanges,
    pub(crate) log: RequestLog,
    /// How old an object is made: a sample cluster did not begin to exist all at once.
    pub(crate) backdate: Duration,
    /// When a kind last ceased to be served: its objects cannot be brought back.
    kind_removed_at: u64,
    /// Versions went back once.
    pub(crate) restored: bool,
}

/// What time it is, from instants that callers bring.
#[derive(Debug, Default)]
struct Time {
    base: Option<Instant>,
    elapsed: Duration,
}

impl FakeApi {
    /// A server that serves nothing yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self {
            rng: Rng::new(options.seed),
            revision: 1,
            kinds: Kinds::default(),
            watches: BTreeMap::new(),
            next_watch: 0,
            epoch: 0,
            time: Time::default(),
            faults: Faults::default(),
            exchanges: Exchanges::default(),
            log: RequestLog::new(options.request_log),
            backdate: Duration::ZERO,
            kind_removed_at: 0,
            restored: false,
            options,
        }
    }

    /// A server with the kinds that every cluster has, and the namespaces `default`, `kube-system`, `kube-public` and
    /// `kube-node-lease`.
    #[must_use]
    pub fn with_builtins() -> Self {
        Self::with_builtins_and(Options::default())
    }

    /// The same with these options.
    #[must_use]
    pub fn with_builtins_and(options: Options) -> Self {
        let mut api = Self::new(options);
        for def in builtins::builtins() {
            api.register(def);
        }
        let namespaces = Resource::cluster("", "v1", "namespaces", "Namespace");
        for name in ["default", "kube-system", "kube-public", "kube-node-lease"] {
            let object = serde_json::json!({"metadata": {"name": name}});
            // Cannot fail: the kind is registered, and the names are distinct.
            let _created = api.create(&namespaces, object);
        }
        api
    }

    /// Serves a resource. Another version of one that is served shares its objects; the first stays the preferred one.
    pub fn register(&mut self, def: ResourceDef) {
        self.kinds.register(def, self.revision);
        self.epoch += 1;
    }

    /// Stops serving a resource in all versions: its objects are deleted, its watches end when they have said so.
    pub fn unregister(&mut self, resource: &Resource) {
        self.remove_kind(&KindKey::of(resource));
    }

    /// Tells the time. It never goes backward; a request tells it too.
    pub fn tick(&mut self, now: Instant) {
        let base = *self.time.base.get_or_insert(now);
        self.time.elapsed = self.time.elapsed.max(now.saturating_duration_since(base));
    }

    /// The version of the latest change of anything.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Grows whenever something happened that somebody who waits for an answer or for watch events should look at.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The resources that are served.
    pub fn resources(&self) -> impl Iterator<Item = &Resource> {
        self.kinds.defs().map(ResourceDef::resource)
    }

    /// Forgets history at and before this version, as etcd's compaction does: watches and exact lists from before it, and pages that
    /// began before it, get 410.
    pub fn compact(&mut self, revision: u64) {
        let revision = revision.min(self.revision);
        self.kinds
            .iter_mut()
            .for_each(|kind| kind.table.compact(revision));
        self.epoch += 1;
    }

    /// Restarts the server: open connections are cut, and watches from before now get 410, because its watch cache starts with a list.
    /// Pages go on, since they are read from etcd.
    pub fn restart(&mut self) {
        let revision = self.revision;
        for kind in self.kinds.iter_mut() {
            kind.table.forget_watch_history(revision);
        }
        self.cut_connections();
    }

    /// Goes back to an earlier version, as a cluster does whose etcd was restored from a backup: what was written since never was, and its
    /// versions are given again to other writes. Servers restart on it: connections are cut, and nothing from before can be watched or
    /// read page by page. The first version after that is the servers' own.
    ///
    /// Goes back no further than the history reaches, and not past a kind that was served or ceased to be; the version it went back to is
    /// returned.
    ///
    /// A watch from a version that is yet to come is refused as too old from now on. A real server does not tell such a client that its
    /// version is of another time: it hears nothing until that version has come again. (That is why a restore is to be made with
    /// `--bump-revision` and `--mark-compacted`, after which versions do not go back.)
    pub fn restore(&mut self, revision: u64) -> u64 {
        let to = revision.max(self.earliest_restore()).min(self.revision);
        self.revision = to;
        let first = self.next_revision();
        self.kinds
            .iter_mut()
            .for_each(|kind| kind.table.restore(to, first));
        self.restored = true;
        self.cut_connections();
        to
    }

    /// The version that [`restore`](Self::restore) can go back to.
    #[must_use]
    pub fn earliest_restore(&self) -> u64 {
        let floors = self.kinds.iter().map(|(_, kind)| kind.table.exact_floor());
        floors.max().unwrap_or(0).max(self.kind_removed_at)
    }

    /// Cuts all open connections, watches among them.
    pub fn cut_connections(&mut self) {
        self.exchanges.cut_all();
        self.epoch += 1;
    }

    /// Faults to answer requests with.
    pub fn faults(&mut self) -> &mut Faults {
        self.epoch += 1;
        &mut self.faults
    }

    /// The requests that came in.
    #[must_use]
    pub fn request_log(&self) -> &RequestLog {
        &self.log
    }

    /// Forgets the requests that came in.
    pub fn clear_request_log(&mut self) {
        self.log.clear();
    }

    /// How many watches are open.
    #[must_use]
    pub fn n_watches(&self) -> usize {
        self.watches.len()
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.time.elapsed
    }

    /// The instant of a time since the first `now`.
    pub(crate) fn instant(&self, at: Duration) -> Option<Instant> {
        self.time.base?.checked_add(at)
    }

    /// The wall time, in the server's format.
    pub(crate) fn wall(&self) -> String {
        self.wall_at(self.time.elapsed, Duration::ZERO)
    }

    /// The wall time that is this long before a time since the first `now`.
    pub(crate) fn wall_at(&self, at: Duration, before: Duration) -> String {
        let seconds = (self.options.wall_start + at).saturating_sub(before).as_secs();
        i64::try_from(seconds)
            .ok()
            .and_then(|seconds| jiff::Timestamp::from_second(seconds).ok())
            .map_or_else(String::new, |time| time.to_string())
    }

    /// Seconds since the Unix epoch.
    pub(crate) fn wall_seconds(&self) -> u64 {
        (self.options.wall_start + self.time.elapsed).as_secs()
    }

    pub(crate) fn touch(&mut self) {
        self.epoch += 1;
    }

    fn next_revision(&mut self) -> u64 {
        self.revision += 1;
        self.revision
    }

    fn commit(&mut self, kind: &KindKey, entry: LogEntry) {
        let history = self.options.history;
        if let Some(kind) = self.kinds.get_mut(kind) {
            kind.table.commit(entry, history);
        }
        self.epoch += 1;
    }
}

impl Default for FakeApi {
    fn default() -> Self {
        Self::with_builtins()
    }
}

impl fmt::Debug for FakeApi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FakeApi")
            .field("revision", &self.revision)
            .field("kinds", &self.kinds.len())
            .field("watches", &self.watches.len())
            .finish_non_exhaustive()
    }
}
