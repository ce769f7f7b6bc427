//! Pods, an informer that is fed by hand, and a log of reconciles.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use informer_core::{Cause, Clock, DeltaSink, TokioClock};
use informer_core::{Change, Delta, Entry, Meta, MetaFields, ObjectKey, Owner, Stamp};
use informer_sharedinformer::{SharedInformer, Sink};
use tokio::sync::mpsc;

pub(crate) const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub(crate) const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

/// Milliseconds since this was made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch(std::time::Instant);

impl Watch {
    pub(crate) fn start() -> Self {
        Self(TokioClock.now())
    }

    pub(crate) fn ms(self) -> u64 {
        u64::try_from((TokioClock.now() - self.0).as_millis()).unwrap()
    }
}

#[derive(Debug)]
pub(crate) struct Pod {
    pub(crate) generation: Option<i64>,
    pub(crate) app: &'static str,
    pub(crate) owners: Vec<(&'static str, &'static str, &'static str, bool)>,
}

impl Pod {
    pub(crate) fn of(app: &'static str) -> Self {
        Self {
            generation: None,
            app,
            owners: Vec::new(),
        }
    }
}

pub(crate) type PodChange = Change<ObjectKey, Pod>;
pub(crate) type PodEntry = Entry<ObjectKey, Pod>;

pub(crate) fn key(text: &str) -> ObjectKey {
    text.parse().unwrap()
}

pub(crate) fn entry(name: &str, version: &str, pod: Pod) -> PodEntry {
    Entry::new(key(name), Stamp::new(version, ""), Arc::new(pod))
}

/// Reads all of a [`Pod`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct PodMeta;

impl Meta<Pod> for PodMeta {
    fn fields(&self) -> MetaFields {
        MetaFields::all()
    }

    fn label<'a>(&self, object: &'a Pod, name: &str) -> Option<&'a str> {
        (name == "app").then_some(object.app)
    }

    fn owners(&self, object: &Pod, visit: &mut dyn FnMut(Owner<'_>)) {
        for (api_version, kind, name, controller) in &object.owners {
            visit(Owner::new(api_version, kind, name, "", *controller));
        }
    }

    fn generation(&self, object: &Pod) -> Option<i64> {
        object.generation
    }
}

/// Reads nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blind;

impl Meta<Pod> for Blind {
    fn fields(&self) -> MetaFields {
        MetaFields::default()
    }
}

/// The source of an informer, by hand.
#[derive(Debug, Clone)]
pub(crate) struct Feed(mpsc::UnboundedSender<Delta<ObjectKey, Pod>>);

impl Feed {
    pub(crate) fn informer() -> (Self, SharedInformer<ObjectKey, Pod>) {
        Self::named("pods")
    }

    pub(crate) fn named(name: &str) -> (Self, SharedInformer<ObjectKey, Pod>) {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let source = move |mut sink: Sink<ObjectKey, Pod>| async move {
            while let Some(delta) = receiver.recv().await {
                sink.push(delta);
            }
            std::future::pending::<()>().await;
        };
        let informer = SharedInformer::fed_by(source).name(name).resync(secs(60));
        (Self(sender), informer.build().unwrap())
    }

    pub(crate) fn list(&self, names: &[&str]) {
        let items = names.iter().map(|name| entry(name, "1", Pod::of("web")));
        let replace = Delta::Replace {
            items: items.collect(),
            unreadable: Vec::new(),
            at: "1".into(),
            may_rewind: false,
        };
        self.0.send(replace).unwrap();
    }

    pub(crate) fn upsert(&self, name: &str, version: &str) {
        self.upsert_pod(name, version, Pod::of("web"));
    }

    pub(crate) fn upsert_pod(&self, name: &str, version: &str, pod: Pod) {
        let entry = entry(name, version, pod);
        self.0.send(Delta::Upsert(entry, Cause::Modified)).unwrap();
    }

    pub(crate) fn upsert_uid(&self, name: &str, version: &str, uid: &str, generation: i64) {
        let pod = Pod {
            generation: Some(generation),
            ..Pod::of("web")
        };
        let entry = Entry::new(key(name), Stamp::new(version, uid), Arc::new(pod));
        self.0.send(Delta::Upsert(entry, Cause::Modified)).unwrap();
    }

    pub(crate) fn delete(&self, name: &str, version: &str) {
        let delete = Delta::Delete {
            key: key(name),
            stamp: Stamp::new(version, ""),
            last: None,
            observed: true,
        };
        self.0.send(delete).unwrap();
    }
}

/// What was reconciled, to be waited for.
#[derive(Debug)]
pub(crate) struct Log<T>(Arc<Mutex<Vec<T>>>);

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Clone> Log<T> {
    pub(crate) fn new() -> Self {
        Self(Arc::default())
    }

    pub(crate) fn push(&self, it: T) {
        self.0.lock().unwrap().push(it);
    }

    pub(crate) fn all(&self) -> Vec<T> {
        self.0.lock().unwrap().clone()
    }

    /// Waits until there are `n`. Virtual time passes meanwhile.
    pub(crate) async fn wait_for(&self, n: usize) -> Vec<T> {
        let limit = TokioClock.now() + secs(24 * 3600);
        while self.0.lock().unwrap().len() < n {
            assert!(TokioClock.now() < limit, "only {} came", self.all().len());
            TokioClock.sleep_until(TokioClock.now() + ms(1)).await;
        }
        self.all()
    }
}

/// Lets virtual time pass.
pub(crate) async fn sleep(by: Duration) {
    TokioClock.sleep_until(TokioClock.now() + by).await;
}

/// Lets everything that is ready run, in virtual time.
pub(crate) async fn settle() {
    sleep(ms(1)).await;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Oops(pub(crate) u32);

impl fmt::Display for Oops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "oops {}", self.0)
    }
}

impl std::error::Error for Oops {}
