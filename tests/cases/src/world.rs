//! One informer over a scripted server, and the log of its handler.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use informer_client::Client;
use informer_core::{BoxListerWatcher, Change, Clock as _, ObjectKey, Resource, TokioClock};
use informer_sharedinformer::{HandlerOptions, QueueKind, Running, SharedInformer};
use informer_testkit::ScriptedTransport;
use informer_transport::{DynamicObject, Selectors};

use crate::script::{Mode, Script};

/// How long a condition may take, in virtual time: longer than any back-off.
const PATIENCE: Duration = Duration::from_secs(300);
/// Between two looks at a condition, in virtual time.
const LOOK: Duration = Duration::from_millis(1);

/// What a world is made of beside its script.
#[derive(Debug)]
pub struct Options {
    /// Which objects.
    pub selectors: Selectors,
    /// Which queue.
    pub queue: QueueKind<ObjectKey, DynamicObject>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            selectors: Selectors::all(),
            queue: QueueKind::InOrder,
        }
    }
}

/// An informer that runs, over whatever source.
#[derive(Debug)]
pub struct World<K: Send + Sync + 'static> {
    /// The informer.
    pub informer: SharedInformer<ObjectKey, K>,
    running: Running<ObjectKey, K>,
    log: Arc<Mutex<Vec<String>>>,
    troubles: Arc<Mutex<Vec<String>>>,
}

impl World<DynamicObject> {
    /// An informer of dynamic ConfigMaps in namespace `ns`.
    #[must_use]
    pub fn start(script: &Script, mode: Mode) -> Self {
        Self::start_with(&script.transport, mode, Options::default())
    }

    /// The same with options.
    #[must_use]
    pub fn start_with(transport: &ScriptedTransport, mode: Mode, options: Options) -> Self {
        let resource = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
        let api = Client::new(transport.clone())
            .dynamic(resource)
            .in_namespace("ns");
        Self::over(
            BoxListerWatcher::new(api.source(options.selectors)),
            mode,
            options.queue,
        )
    }
}

impl<K: Send + Sync + 'static> World<K> {
    /// An informer over a source.
    ///
    /// # Panics
    /// When it cannot be built, which would be a bug.
    #[must_use]
    pub fn over(source: BoxListerWatcher<K>, mode: Mode, queue: QueueKind<ObjectKey, K>) -> Self {
        let mut reflector = informer_reflector::Options::default();
        reflector.start = mode.start();
        reflector.seed = Some(7);
        let troubles = Arc::new(Mutex::new(Vec::new()));
        let hook = troubles.clone();
        let informer = SharedInformer::builder(source)
            .reflector_options(reflector)
            .queue(queue)
            .on_error(move |trouble| push(&hook, trouble.to_string()))
            .build()
            .expect("the parts fit");
        let log = Arc::new(Mutex::new(Vec::new()));
        let written = log.clone();
        let write = move |change: &Change<ObjectKey, K>| push(&written, line(change));
        informer
            .add_handler(write, HandlerOptions::named("log"))
            .expect("it has not stopped");
        let running = informer.spawn().expect("it has not run");
        Self {
            informer,
            running,
            log,
            troubles,
        }
    }

    /// What the handler was told so far.
    #[must_use]
    pub fn log(&self) -> Vec<String> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the error hook was told so far.
    #[must_use]
    pub fn troubles(&self) -> Vec<String> {
        self.troubles
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The stored objects, as `ns/a@10`.
    #[must_use]
    pub fn stored(&self) -> Vec<String> {
        let entries = self.informer.store().list();
        entries
            .iter()
            .map(|entry| format!("{}@{}", entry.key, entry.stamp.version))
            .collect()
    }

    /// The version last received.
    ///
    /// # Panics
    /// When the informer is fed by something else than a reflector.
    #[must_use]
    pub fn received(&self) -> String {
        let status = self.informer.status();
        status
            .source
            .reflector
            .expect("a reflector feeds it")
            .version
            .to_string()
    }

    /// Lets virtual time pass until a condition holds.
    ///
    /// # Panics
    /// When it does not hold in time.
    pub async fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let end = TokioClock.now() + PATIENCE;
        while !holds() {
            assert!(
                TokioClock.now() < end,
                "{what}: not in time; log {:?}, store {:?}, troubles {:?}",
                self.log(),
                self.stored(),
                self.troubles()
            );
            self.pass(LOOK).await;
        }
    }

    /// Lets virtual time pass until the handler was told this many changes.
    pub async fn until_told(&self, n_changes: usize) {
        self.until(&format!("{n_changes} changes"), || self.log().len() >= n_changes)
            .await;
    }

    /// Lets virtual time pass.
    pub async fn pass(&self, period: Duration) {
        TokioClock.sleep_until(TokioClock.now() + period).await;
    }

    /// Stops the informer.
    pub async fn stop(self) {
        self.running.stop().await;
    }
}

fn push(lines: &Mutex<Vec<String>>, line: String) {
    lines.lock().unwrap_or_else(PoisonError::into_inner).push(line);
}

fn line<K>(change: &Change<ObjectKey, K>) -> String {
    let version = |entry: &informer_core::Entry<ObjectKey, K>| entry.stamp.version.to_string();
    match change {
        Change::Added { new, initial: true } => format!("add {}@{} initial", new.key, version(new)),
        Change::Added { new, .. } => format!("add {}@{}", new.key, version(new)),
        Change::Updated { old, new } => format!("update {}@{}->{}", new.key, version(old), version(new)),
        Change::Removed { last, observed: true } => format!("delete {}@{}", last.key, version(last)),
        Change::Removed { last, .. } => format!("vanish {}@{}", last.key, version(last)),
        Change::Resynced { current } => format!("resync {}@{}", current.key, version(current)),
    }
}
