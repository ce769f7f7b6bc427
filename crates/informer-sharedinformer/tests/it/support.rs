//! What the tests share: a source that pushes what it is told, small objects, logs, and waiting in virtual time.

use std::{
    collections::BTreeMap,
    future::poll_fn,
    sync::{Arc, Mutex},
    task::Poll,
    time::Duration,
};

use informer_core::{
    Cause, Change, Clock, Delta, DeltaSink, Entry, ObjectKey, ResourceVersion, Stamp, TokioClock,
};
use informer_sharedinformer::{Connected, QueueKind, SharedInformer, Sink, Source, SourceContext};

/// The object of the tests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pod {
    pub(crate) node: String,
    pub(crate) version: u64,
}

pub(crate) type Informer = SharedInformer<ObjectKey, Pod>;

pub(crate) const BOTH: [fn() -> QueueKind<ObjectKey, Pod>; 2] =
    [|| QueueKind::InOrder, || QueueKind::Coalescing];

pub(crate) fn key(text: &str) -> ObjectKey {
    text.parse().expect("a valid key")
}

/// `ns/name` at this version, of the incarnation `uid`.
pub(crate) fn pod_of(text: &str, version: u64, uid: &str) -> Entry<ObjectKey, Pod> {
    let pod = Pod {
        node: format!("node-{}", version % 3),
        version,
    };
    Entry::new(key(text), Stamp::new(&*version.to_string(), uid), Arc::new(pod))
}

pub(crate) fn pod(text: &str, version: u64) -> Entry<ObjectKey, Pod> {
    pod_of(text, version, "")
}

pub(crate) fn version(number: u64) -> ResourceVersion {
    ResourceVersion::new(number.to_string())
}

/// Pushes into an informer's queue what a test says.
#[derive(Clone, Default)]
pub(crate) struct Tap {
    sink: Arc<Mutex<Option<Sink<ObjectKey, Pod>>>>,
    relist: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl Source<ObjectKey, Pod> for Tap {
    fn connect(self, sink: Sink<ObjectKey, Pod>, _: SourceContext) -> Connected {
        *self.sink.lock().unwrap() = Some(sink.clone());
        let mut sink = sink;
        let connected = Connected::new(async move { poll_fn(|cx| sink.poll_closed(cx)).await });
        match self.relist {
            Some(relist) => connected.with_relist(move || relist()),
            None => connected,
        }
    }
}

impl Tap {
    /// The same, which says so when it is to list again.
    pub(crate) fn on_relist(mut self, relist: impl Fn() + Send + Sync + 'static) -> Self {
        self.relist = Some(Arc::new(relist));
        self
    }

    pub(crate) fn push(&self, delta: Delta<ObjectKey, Pod>) {
        self.sink.lock().unwrap().as_mut().expect("built").push(delta);
    }

    pub(crate) fn is_ready(&self) -> bool {
        let mut sink = self.sink.lock().unwrap().clone().expect("built");
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        matches!(sink.poll_ready(&mut cx), Poll::Ready(Ok(())))
    }

    pub(crate) fn list(&self, pods: impl IntoIterator<Item = Entry<ObjectKey, Pod>>, at: u64) {
        self.push(Delta::Replace {
            items: pods.into_iter().collect(),
            unreadable: Vec::new(),
            at: version(at),
            may_rewind: false,
        });
    }

    pub(crate) fn add(&self, pod: Entry<ObjectKey, Pod>) {
        self.push(Delta::Upsert(pod, Cause::Added));
    }

    pub(crate) fn modify(&self, pod: Entry<ObjectKey, Pod>) {
        self.push(Delta::Upsert(pod, Cause::Modified));
    }

    pub(crate) fn delete(&self, pod: Entry<ObjectKey, Pod>) {
        self.push(Delta::Delete {
            key: pod.key,
            stamp: pod.stamp,
            last: Some(pod.object),
            observed: true,
        });
    }
}

/// An informer with node index over a tap, not running.
pub(crate) fn tapped(queue: QueueKind<ObjectKey, Pod>) -> (Tap, Informer) {
    let tap = Tap::default();
    let informer = SharedInformer::fed_by(tap.clone())
        .name("pods")
        .index("node", |pod: &Pod, emit: &mut dyn FnMut(&str)| emit(&pod.node))
        .queue(queue)
        .build()
        .expect("the parts fit");
    (tap, informer)
}

/// What a handler was told, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<Change<ObjectKey, Pod>>>>);

impl Log {
    pub(crate) fn handler(&self) -> impl FnMut(&Change<ObjectKey, Pod>) + Send + use<> {
        let log = self.clone();
        move |change| log.push(change.clone())
    }

    pub(crate) fn push(&self, change: Change<ObjectKey, Pod>) {
        self.0.lock().unwrap().push(change);
    }

    pub(crate) fn changes(&self) -> Vec<Change<ObjectKey, Pod>> {
        self.0.lock().unwrap().clone()
    }

    /// As text, a line each.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.changes()
            .iter()
            .map(|change| format!("{change:?}"))
            .collect()
    }

    /// As text, and forgotten.
    pub(crate) fn take(&self) -> Vec<String> {
        let lines = self.lines();
        self.0.lock().unwrap().clear();
        lines
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

/// Per key: `Added`, then `Updated` from the state before, then `Removed`. Returns what a reader of the log ends with.
pub(crate) fn assert_gapless(changes: &[Change<ObjectKey, Pod>]) -> BTreeMap<ObjectKey, Stamp> {
    let mut now: BTreeMap<ObjectKey, Stamp> = BTreeMap::new();
    for change in changes {
        let before = now.get(change.key()).cloned();
        match change {
            Change::Added { new, .. } => {
                assert_eq!(before, None, "{change:?} though it is there");
                now.insert(new.key.clone(), new.stamp.clone());
            }
            Change::Updated { old, new } => {
                assert_eq!(before.as_ref(), Some(&old.stamp), "{change:?} leaves a gap");
                assert_eq!(old.stamp.uid, new.stamp.uid, "{change:?} joins two objects");
                now.insert(new.key.clone(), new.stamp.clone());
            }
            Change::Removed { last, .. } => {
                let before = before.unwrap_or_else(|| panic!("{change:?} though it is not there"));
                assert_eq!(before.uid, last.stamp.uid, "{change:?} is of another object");
                now.remove(&last.key);
            }
            Change::Resynced { current } => {
                assert_eq!(
                    before.as_ref(),
                    Some(&current.stamp),
                    "{change:?} is not the state"
                );
            }
        }
    }
    now
}

/// Lets everything run that can, in virtual time: time moves on only when nothing else does.
pub(crate) async fn idle() {
    pass(Duration::from_millis(1)).await;
}

/// Lets virtual time pass.
pub(crate) async fn pass(time: Duration) {
    TokioClock.sleep_until(TokioClock.now() + time).await;
}
