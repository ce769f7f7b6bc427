//! Events, times and sinks for the tests.

use std::{
    collections::VecDeque,
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use informer_core::Resource;
use informer_events::{
    Broadcaster, Event, EventKind, EventSink, MicroTime, ObjectReference, Options, Recorder, Refusal, Report,
    SinkError, Verb,
};
use tokio::{sync::oneshot, task::JoinHandle};

/// A time to start from.
#[expect(
    clippy::disallowed_methods,
    reason = "an instant can only be made from the clock"
)]
pub(crate) fn epoch() -> Instant {
    Instant::now()
}

pub(crate) const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(crate) const fn mins(mins: u64) -> Duration {
    Duration::from_secs(60 * mins)
}

pub(crate) fn pods() -> Resource {
    Resource::namespaced("", "v1", "pods", "Pod")
}

pub(crate) fn pod(name: &str) -> ObjectReference {
    ObjectReference::new(&pods(), Some("ns"), name).uid("C934D34AFB20242")
}

/// An event of the kubelet about a pod, under a name that no other has.
pub(crate) fn event(pod_name: &str, reason: &str, note: &str) -> Event {
    static NAMES: AtomicU64 = AtomicU64::new(0);
    let mut event = Event::default();
    event.metadata.name = format!("{pod_name}.{:x}", NAMES.fetch_add(1, Ordering::Relaxed));
    event.metadata.namespace = "ns".to_owned();
    event.event_time = MicroTime::since_epoch(secs(1_700_000_000));
    event.reporting_controller = "kubelet".to_owned();
    event.reporting_instance = "kubelet.node1".to_owned();
    event.action = "acting".to_owned();
    event.reason = reason.to_owned();
    event.regarding = pod(pod_name);
    event.note = note.to_owned();
    event.kind = EventKind::Normal;
    event
}

/// What a sink was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) verb: Verb,
    pub(crate) event: Event,
}

/// Answers as it was told to, then always alike, and remembers what it was asked.
#[derive(Clone)]
pub(crate) struct ScriptedSink {
    calls: Arc<Mutex<Vec<Call>>>,
    answers: Arc<Mutex<VecDeque<Result<(), Refusal>>>>,
    otherwise: Result<(), Refusal>,
    delay: Option<Duration>,
}

impl ScriptedSink {
    pub(crate) fn new(otherwise: Result<(), Refusal>) -> Self {
        Self {
            calls: Arc::default(),
            answers: Arc::default(),
            otherwise,
            delay: Some(Duration::ZERO),
        }
    }

    /// First these answers, one for each request.
    pub(crate) fn first(self, answers: impl IntoIterator<Item = Result<(), Refusal>>) -> Self {
        self.answers.lock().unwrap().extend(answers);
        self
    }

    /// Each answer takes so long; for ever without.
    pub(crate) fn slow(mut self, delay: Option<Duration>) -> Self {
        self.delay = delay;
        self
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap().clone()
    }

    /// Verb, reason and count of each call.
    pub(crate) fn story(&self) -> Vec<(Verb, String, u32)> {
        let tell = |call: Call| (call.verb, call.event.reason.clone(), call.event.count());
        self.calls().into_iter().map(tell).collect()
    }

    async fn answer(&self, verb: Verb, event: &Event) -> Result<(), SinkError> {
        self.calls.lock().unwrap().push(Call {
            verb,
            event: event.clone(),
        });
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or(self.otherwise);
        match self.delay {
            Some(delay) => pass(delay).await,
            None => std::future::pending().await,
        }
        answer.map_err(|refusal| SinkError::new(refusal, "as the script says"))
    }
}

impl EventSink for ScriptedSink {
    fn create(&self, event: &Event) -> impl Future<Output = Result<(), SinkError>> + Send {
        self.answer(Verb::Create, event)
    }

    fn patch(&self, event: &Event) -> impl Future<Output = Result<(), SinkError>> + Send {
        self.answer(Verb::Patch, event)
    }
}

pub(crate) const UNAVAILABLE: Result<(), Refusal> = Err(Refusal::Unavailable { retry_after: None });

/// Lets so much of the paused time pass. Whoever is due by then has run.
#[expect(clippy::disallowed_methods, reason = "the time is paused: nobody waits")]
pub(crate) async fn pass(time: Duration) {
    tokio::time::sleep(time).await;
}

/// A running broadcaster, and its recorder.
pub(crate) struct Running {
    pub(crate) recorder: Recorder,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Report>,
}

impl Running {
    pub(crate) fn start(sink: impl EventSink + 'static, options: Options) -> Self {
        Self::of(Broadcaster::new(sink, options))
    }

    #[expect(clippy::disallowed_methods, reason = "the test owns the task")]
    pub(crate) fn of<S: EventSink + 'static>(broadcaster: Broadcaster<S>) -> Self {
        let recorder = broadcaster.recorder_of("example.com/tester", "tester-1");
        let (stop, stopped) = oneshot::channel();
        let stopped = async {
            let _stopped_or_dropped = stopped.await;
        };
        Self {
            recorder,
            stop,
            task: tokio::spawn(broadcaster.run(stopped)),
        }
    }

    pub(crate) fn record(&self, pod_name: &str, reason: &str) -> informer_events::Fate {
        self.recorder.event(
            pod(pod_name),
            None,
            EventKind::Normal,
            reason,
            "Testing",
            "a note",
        )
    }

    pub(crate) async fn stop(self) -> Report {
        self.stop.send(()).unwrap();
        self.task.await.unwrap()
    }

    pub(crate) async fn kill(self) -> Recorder {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
        self.recorder
    }
}
