//! A reflector by hand: a scripted source, a manual clock, a sink that records, and no runtime.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Wake, Waker},
    time::Duration,
};

use informer_core::{BoxFuture, KeyFunc, ListerWatcher, NamespaceName, ObjectKey, Watched};
use informer_reflector::{
    Control, Metrics, Options, Reflector, ReflectorError, Start, StatusReader, Transform,
};

mod clock;
mod sink;
mod source;
mod words;

pub(crate) use clock::ManualClock;
pub(crate) use sink::Sink;
pub(crate) use source::{Answer, Source, Step};
pub(crate) use words::*;

/// An object of the tests: a text.
pub(crate) type Object = String;

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

pub(crate) struct Rig {
    pub(crate) source: Source,
    pub(crate) sink: Sink,
    pub(crate) clock: ManualClock,
    pub(crate) options: Options,
    pub(crate) transform: Option<Arc<dyn Transform<Object>>>,
    pub(crate) metrics: Option<Arc<dyn Metrics>>,
    pub(crate) should_resync: Option<Box<dyn Fn() -> bool + Send + Sync>>,
    errors: Arc<Mutex<Vec<ReflectorError>>>,
    running: Option<BoxFuture<'static, ()>>,
    status: Option<StatusReader>,
    control: Option<Control>,
    woken: Arc<Flag>,
}

impl Rig {
    /// A reflector that lists; waits have no jitter.
    pub(crate) fn new() -> Self {
        let mut options = Options::named("foos");
        options.type_description = "Foo".into();
        options.start = Start::List;
        options.backoff.jitter = 0.0;
        options.seed = Some(1);
        Self {
            source: Source::default(),
            sink: Sink::default(),
            clock: ManualClock::new(),
            options,
            transform: None,
            metrics: None,
            should_resync: None,
            errors: Arc::default(),
            running: None,
            status: None,
            control: None,
            woken: Arc::default(),
        }
    }

    /// One that streams its lists.
    pub(crate) fn streaming() -> Self {
        let mut rig = Self::new();
        rig.options.start = Start::StreamingList;
        rig
    }

    pub(crate) fn start(&mut self) {
        self.start_with(NamespaceName);
    }

    pub(crate) fn start_with(&mut self, key: impl KeyFunc<Object, Key = ObjectKey> + 'static) {
        self.run(self.source.clone(), key);
    }

    /// Reflects another source than the scripted one.
    pub(crate) fn start_from(&mut self, source: impl ListerWatcher<Object = Object> + 'static) {
        self.run(source, NamespaceName);
    }

    fn run<L, F>(&mut self, source: L, key: F)
    where
        L: ListerWatcher<Object = Object> + 'static,
        F: KeyFunc<Object, Key = ObjectKey> + 'static,
    {
        let errors = self.errors.clone();
        let (sink, clock) = (self.sink.clone(), self.clock.clone());
        let mut reflector = Reflector::new(source, key, sink, clock, self.options.clone())
            .on_error(move |error| lock(&errors).push(error.clone()));
        if let Some(transform) = self.transform.take() {
            reflector = reflector.transform(transform);
        }
        if let Some(metrics) = self.metrics.take() {
            reflector = reflector.metrics(metrics);
        }
        if let Some(hook) = self.should_resync.take() {
            reflector = reflector.should_resync(hook);
        }
        self.status = Some(reflector.status());
        self.control = Some(reflector.control());
        self.running = Some(Box::pin(reflector.run()));
        self.settle();
    }

    /// Polls until nothing happens any more. Returns how often.
    pub(crate) fn settle(&mut self) -> usize {
        let waker = Waker::from(self.woken.clone());
        let mut cx = Context::from_waker(&waker);
        for n_polls in 1..10_000 {
            let Some(running) = &mut self.running else {
                return n_polls;
            };
            self.woken.0.store(false, Ordering::SeqCst);
            if Pin::new(running).poll(&mut cx).is_ready() {
                self.running = None;
            }
            if !self.woken.0.load(Ordering::SeqCst) {
                return n_polls;
            }
        }
        panic!("the reflector never comes to rest");
    }

    pub(crate) fn advance(&mut self, seconds: f64) {
        self.clock.advance(Duration::from_secs_f64(seconds));
        self.settle();
    }

    /// Advances in steps, so that each wait ends about when it should.
    pub(crate) fn pass(&mut self, seconds: f64) {
        let steps = (seconds / 0.1).ceil();
        let mut done = 0.0;
        while done < steps {
            self.advance(0.1);
            done += 1.0;
        }
    }

    pub(crate) fn send(&mut self, steps: impl IntoIterator<Item = Step<Watched<Object>>>) {
        self.source.send(steps);
        self.settle();
    }

    pub(crate) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Drops the reflector.
    pub(crate) fn stop(&mut self) {
        self.running = None;
    }

    /// Asks for a relist.
    pub(crate) fn relist(&mut self) {
        self.control.clone().unwrap().relist();
        self.settle();
    }

    pub(crate) fn status(&self) -> StatusReader {
        self.status.clone().unwrap()
    }

    pub(crate) fn errors(&self) -> Vec<String> {
        lock(&self.errors).iter().map(ToString::to_string).collect()
    }

    pub(crate) fn last_error(&self) -> ReflectorError {
        lock(&self.errors).last().cloned().unwrap()
    }

    #[track_caller]
    pub(crate) fn assert_requests(&self, wanted: &[&str]) {
        assert_eq!(self.source.requests(), wanted);
    }

    #[track_caller]
    pub(crate) fn assert_taken(&self, wanted: &[&str]) {
        assert_eq!(self.sink.taken(), wanted);
    }
}
