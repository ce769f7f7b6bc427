//! Reflectors straight into stores over the API server model, on one thread and in virtual time.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use informer_client::{Api, Client};
use informer_core::{Change, Clock as _, ListerWatcher, NamespaceName, ObjectKey, Resource};
use informer_reflector::{Options, Reflector, Status, StatusReader, StoreSink};
use informer_store::{Indexers, Reader, indexed};
use informer_testkit::{FakeApi, FakeTransport, LoggedRequest, ManualClock, SharedApi, TaskId, Tasks, Verb};
use informer_transport::{DynamicCodec, DynamicObject, Selectors};

use crate::Mode;

/// A server, a clock, and what runs against them.
pub struct Fake {
    /// The server.
    pub api: SharedApi<ManualClock>,
    /// The time.
    pub clock: ManualClock,
    tasks: Tasks,
}

impl Fake {
    /// A server with the built-in kinds.
    #[must_use]
    pub fn new() -> Self {
        let clock = ManualClock::new();
        Self {
            api: SharedApi::new(FakeApi::with_builtins(), clock.clone()),
            clock,
            tasks: Tasks::new(),
        }
    }

    /// Runs a reflector of a kind, in a namespace or all, with a seed.
    pub fn reflect(
        &mut self,
        resource: &Resource,
        namespace: Option<&str>,
        mode: Mode,
        seed: u64,
    ) -> Reflected {
        let mut options = Options::named(resource.plural.clone());
        options.type_description = resource.kind.clone();
        options.start = mode.start();
        options.seed = Some(seed);
        let mut api = self.api_of(resource);
        if let Some(namespace) = namespace {
            api = api.in_namespace(namespace);
        }
        self.reflect_from(api.source(Selectors::all()), options)
    }

    /// The verbs of a kind, in all namespaces.
    #[must_use]
    pub fn api_of(
        &self,
        resource: &Resource,
    ) -> Api<FakeTransport<ManualClock>, DynamicObject, DynamicCodec> {
        Client::new(FakeTransport::new(self.api.clone())).dynamic(resource.clone())
    }

    /// Runs a reflector of any source.
    ///
    /// # Panics
    /// Never: a store without indices can always be made.
    pub fn reflect_from(
        &mut self,
        source: impl ListerWatcher<Object = DynamicObject> + 'static,
        options: Options,
    ) -> Reflected {
        let (writer, store) = indexed(Indexers::new()).expect("there are no indices to clash");
        let (changes, errors) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let (told, failed) = (changes.clone(), errors.clone());
        let sink = StoreSink::new(writer).on_change(move |change| push(&told, word(change)));
        let reflector = Reflector::new(source, NamespaceName, sink, self.clock.clone(), options)
            .on_error(move |error| push(&failed, error.to_string()));
        let status = reflector.status();
        Reflected {
            status,
            store,
            task: self.tasks.spawn(reflector.run()),
            changes,
            errors,
        }
    }

    /// The time now.
    #[must_use]
    pub fn clock_now(&self) -> std::time::Instant {
        self.clock.now()
    }

    /// Drops a reflector.
    pub fn drop_reflector(&mut self, reflected: &Reflected) {
        self.tasks.abort(reflected.task);
    }

    /// Lets so much time pass.
    pub fn pass(&mut self, period: Duration) {
        self.tasks.run_until(&self.clock, period, || false);
    }

    /// Lets time pass until it holds.
    ///
    /// # Panics
    /// When that takes longer than `within`.
    #[track_caller]
    pub fn until(&mut self, within: Duration, what: &str, holds: impl FnMut() -> bool) {
        let held = self.tasks.run_until(&self.clock, within, holds);
        assert!(held, "{what}: not within {within:?}");
    }

    /// Runs a wait of a program, and the world with it.
    pub fn wait<T: Send + 'static>(&mut self, wait: impl Future<Output = T> + Send + 'static) -> T {
        let done = Arc::new(Mutex::new(None));
        let result = done.clone();
        self.tasks.spawn(async move {
            let outcome = wait.await;
            *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        });
        let take = || done.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut outcome = None;
        self.tasks.run_until(&self.clock, Duration::from_secs(3600), || {
            outcome = take();
            outcome.is_some()
        });
        outcome.expect("a wait that never ends")
    }

    /// The requests of a kind since the last call.
    pub fn requests(&self, resource: &str) -> Vec<LoggedRequest> {
        self.api.with(|api| {
            let log = api.request_log().iter();
            let requests = log.filter(|it| it.resource == resource).cloned().collect();
            api.clear_request_log();
            requests
        })
    }
}

impl Default for Fake {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Fake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fake").finish_non_exhaustive()
    }
}

/// A reflector that runs, and the store behind it.
pub struct Reflected {
    /// How it does.
    pub status: StatusReader,
    /// What it has.
    pub store: Reader<ObjectKey, DynamicObject>,
    task: TaskId,
    changes: Arc<Mutex<Vec<String>>>,
    errors: Arc<Mutex<Vec<String>>>,
}

impl Reflected {
    /// How it does now.
    #[must_use]
    pub fn now(&self) -> Status {
        self.status.get()
    }

    /// What changed in the store since the last call, as `add a`, `update a`, `delete a`, `vanish a`.
    #[must_use]
    pub fn changes(&self) -> Vec<String> {
        std::mem::take(&mut *self.changes.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What the error hook was told.
    #[must_use]
    pub fn errors(&self) -> Vec<String> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for Reflected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reflected")
            .field("status", &self.now())
            .finish_non_exhaustive()
    }
}

/// Whether a request asks for the whole state.
#[must_use]
pub fn takes_all(request: &LoggedRequest) -> bool {
    matches!(request.verb, Verb::List | Verb::StreamingList)
}

fn push(lines: &Mutex<Vec<String>>, line: String) {
    lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
}

fn word(change: &Change<ObjectKey, DynamicObject>) -> String {
    let what = match change {
        Change::Added { .. } => "add",
        Change::Updated { .. } => "update",
        Change::Removed { observed: true, .. } => "delete",
        Change::Removed { .. } => "vanish",
        Change::Resynced { .. } => "resync",
    };
    format!("{what} {}", change.key().name())
}
