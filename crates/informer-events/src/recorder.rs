//! `Recorder`: says what happened, and goes on.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use informer_backoff::SplitMix64;
use informer_core::{BoxClock, Clock as _};
use tokio::sync::Notify;

use crate::{
    Event, EventKind, EventMeta, Fate, Machine, Metrics, MicroTime, ObjectReference, Stats,
    event::{NOTE_LIMIT, WORD_LIMIT, cut},
    name::{event_name, is_qualified},
};

/// What recorders and the driver share.
pub(crate) struct Shared {
    inner: Mutex<Inner>,
    pub(crate) wake: Notify,
    pub(crate) clock: BoxClock,
    pub(crate) wall: Arc<dyn Fn() -> Duration + Send + Sync>,
    pub(crate) metrics: Option<Arc<dyn Metrics>>,
}

pub(crate) struct Inner {
    pub(crate) machine: Machine,
    random: SplitMix64,
    /// The last time that went into a name: no two events have one.
    last_nanos: u64,
}

impl Shared {
    pub(crate) fn new(machine: Machine, clock: BoxClock, seed: u64) -> Self {
        Self {
            inner: Mutex::new(Inner {
                machine,
                random: SplitMix64::new(seed),
                last_nanos: 0,
            }),
            wake: Notify::new(),
            clock,
            wall: Arc::new(crate::edge::wall),
            metrics: None,
        }
    }

    /// No code of others runs under the lock.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn stats(&self) -> Stats {
        self.lock().machine.stats()
    }
}

/// One event as it is recorded, with everything that can be said about it.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Occurrence {
    /// The object that it is about.
    pub regarding: ObjectReference,
    /// A second object that has to do with it.
    pub related: Option<ObjectReference>,
    /// Whether it needs attention.
    pub kind: EventKind,
    /// Why, as one word for programs, at most 128 bytes.
    pub reason: String,
    /// What was done about it or failed, as one word for programs, at most 128 bytes.
    pub action: String,
    /// What happened, for people. Cut to 1024 bytes.
    pub note: String,
    /// What else there is to say, for programs. Of a series, those of its first event are kept.
    pub annotations: BTreeMap<String, String>,
}

impl Occurrence {
    /// This happened to this object.
    #[must_use]
    pub fn new(
        regarding: impl Into<ObjectReference>,
        kind: EventKind,
        reason: impl Into<String>,
        action: impl Into<String>,
        note: impl Into<String>,
    ) -> Self {
        Self {
            regarding: regarding.into(),
            related: None,
            kind,
            reason: reason.into(),
            action: action.into(),
            note: note.into(),
            annotations: BTreeMap::new(),
        }
    }

    /// The same, with a second object.
    #[must_use]
    pub fn related(mut self, related: impl Into<ObjectReference>) -> Self {
        self.related = Some(related.into());
        self
    }

    /// The same, with one more annotation.
    #[must_use]
    pub fn annotation(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.annotations.insert(name.into(), value.into());
        self
    }

    /// What of it the server would refuse.
    fn fault(&self) -> Option<&'static str> {
        if self.regarding.name.is_empty() {
            return Some("the object has no name");
        }
        for (word, missing, long) in [
            (&self.reason, "the reason is empty", "the reason is too long"),
            (&self.action, "the action is empty", "the action is too long"),
        ] {
            if word.is_empty() {
                return Some(missing);
            }
            if word.len() > WORD_LIMIT {
                return Some(long);
            }
        }
        None
    }
}

/// Records events for one controller. Clones are the same recorder; made by [`Broadcaster::recorder`](crate::Broadcaster::recorder).
///
/// Recording never waits: an event is counted, put in line, or dropped and counted as such.
#[derive(Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
    controller: Arc<str>,
    instance: Arc<str>,
}

impl Recorder {
    pub(crate) fn new(shared: Arc<Shared>, controller: &str, instance: &str) -> Self {
        Self {
            shared,
            controller: controller.into(),
            instance: cut(instance, WORD_LIMIT).into(),
        }
    }

    /// Records that something happened (client-go `EventRecorder.Eventf`). `regarding` is the object that it is about, `related` a second
    /// one; `reason` and `action` are words for programs, `note` is for people. Returns what became of it, which may be ignored.
    pub fn event(
        &self,
        regarding: impl Into<ObjectReference>,
        related: Option<ObjectReference>,
        kind: EventKind,
        reason: impl Into<String>,
        action: impl Into<String>,
        note: impl Into<String>,
    ) -> Fate {
        let mut occurrence = Occurrence::new(regarding, kind, reason, action, note);
        occurrence.related = related;
        self.record(occurrence)
    }

    /// Records that something happened, with annotations (client-go `AnnotatedEventRecorder.AnnotatedEventf`).
    pub fn record(&self, occurrence: Occurrence) -> Fate {
        tracing::debug!(
            kind = %occurrence.regarding.kind, namespace = %occurrence.regarding.namespace, name = %occurrence.regarding.name,
            r#type = occurrence.kind.as_str(), reason = %occurrence.reason, action = %occurrence.action,
            note = %occurrence.note, "Event"
        );
        let fault = if is_qualified(&self.controller) {
            occurrence.fault()
        } else {
            Some("the controller has no qualified name")
        };
        if let Some(fault) = fault {
            tracing::warn!(
                controller = %self.controller, reason = %occurrence.reason, fault,
                "Event is dropped that the server would refuse"
            );
        }
        let now = self.shared.clock.now();
        let wall = (self.shared.wall)();
        let fate = {
            let mut inner = self.shared.lock();
            if fault.is_some() {
                inner.machine.count_invalid()
            } else {
                let event = self.make(&mut inner, wall, occurrence);
                inner.machine.handle_event(now, event)
            }
        };
        if !fate.is_dropped() {
            self.shared.wake.notify_one();
        }
        if let Some(metrics) = &self.shared.metrics {
            metrics.recorded(fate);
        }
        fate
    }

    /// What became of all events of the broadcaster so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.shared.stats()
    }

    /// Upstream: client-go `recorderImpl.makeEvent`.
    fn make(&self, inner: &mut Inner, wall: Duration, occurrence: Occurrence) -> Event {
        let nanos = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
        inner.last_nanos = nanos.max(inner.last_nanos.saturating_add(1));
        let regarding = occurrence.regarding;
        Event {
            metadata: EventMeta {
                name: event_name(&regarding.name, inner.last_nanos, &mut inner.random),
                namespace: match regarding.namespace.as_str() {
                    "" => "default".to_owned(),
                    namespace => namespace.to_owned(),
                },
                annotations: occurrence.annotations,
            },
            event_time: MicroTime::since_epoch(wall),
            series: None,
            reporting_controller: self.controller.to_string(),
            reporting_instance: self.instance.to_string(),
            action: occurrence.action,
            reason: occurrence.reason,
            regarding,
            related: occurrence.related,
            note: cut(&occurrence.note, NOTE_LIMIT).to_owned(),
            kind: occurrence.kind,
        }
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("controller", &self.controller)
            .field("instance", &self.instance)
            .finish_non_exhaustive()
    }
}
