//! A reflector by hand: a scripted source, a manual clock, a sink that records, and no runtime.

use std::{
    collections::VecDeque,
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    time::{Duration, Instant},
};

use informer_core::{
    BoxFuture, Cause, Clock, Closed, DecodeError, Decoded, Delta, DeltaSink, FailureClass, Feed, Identity,
    KeyFunc, ListRequest, Listed, ListerWatcher, NamespaceName, ObjectKey, ResourceVersion, SourceError,
    Stamp, WatchRequest, Watched,
};
use informer_reflector::{Options, Reflector, ReflectorError, Start, StatusReader, Transform};

use crate::script::epoch;

/// An object of the tests: a text.
pub(crate) type Object = String;

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

// === The clock ===

#[derive(Clone)]
pub(crate) struct ManualClock(Arc<Mutex<Time>>);

struct Time {
    now: Instant,
    sleepers: Vec<(Instant, Waker)>,
    /// Times that were ever slept for.
    sleeps: usize,
}

impl ManualClock {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(Time {
            now: epoch(),
            sleepers: Vec::new(),
            sleeps: 0,
        })))
    }

    fn advance(&self, by: Duration) {
        let mut time = lock(&self.0);
        time.now += by;
        let now = time.now;
        let due: Vec<Waker> = time
            .sleepers
            .extract_if(.., |(at, _)| *at <= now)
            .map(|(_, waker)| waker)
            .collect();
        drop(time);
        due.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn sleeps(&self) -> usize {
        lock(&self.0).sleeps
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Instant {
        lock(&self.0).now
    }

    async fn sleep_until(&self, at: Instant) {
        lock(&self.0).sleeps += 1;
        poll_fn(|cx| {
            let mut time = lock(&self.0);
            if time.now >= at {
                return Poll::Ready(());
            }
            time.sleepers.push((at, cx.waker().clone()));
            Poll::Pending
        })
        .await;
    }
}

// === The source ===

/// What the source does when it is asked.
pub(crate) enum Answer<E> {
    /// It opens a feed that brings these and then waits for more.
    Open(Vec<Step<E>>),
    /// It fails.
    Fail(SourceError),
    /// It never answers.
    Hang,
}

pub(crate) enum Step<E> {
    Event(E),
    Fail(SourceError),
    End,
}

#[derive(Clone, Default)]
pub(crate) struct Source(Arc<Mutex<Script>>);

#[derive(Default)]
struct Script {
    lists: VecDeque<Answer<Listed<Object>>>,
    watches: VecDeque<Answer<Watched<Object>>>,
    requests: Vec<String>,
    /// Where later events of the open watch go.
    watch: Option<Arc<Mutex<Tape<Watched<Object>>>>>,
    open: Arc<()>,
}

pub(crate) struct Tape<E> {
    steps: VecDeque<Step<E>>,
    waker: Option<Waker>,
}

pub(crate) struct TapeFeed<E> {
    tape: Arc<Mutex<Tape<E>>>,
    _open: Arc<()>,
}

impl<E: Send> Feed for TapeFeed<E> {
    type Event = E;
    type Error = SourceError;

    async fn next(&mut self) -> Option<Result<E, SourceError>> {
        poll_fn(|cx| {
            let mut tape = lock(&self.tape);
            match tape.steps.pop_front() {
                Some(Step::Event(event)) => Poll::Ready(Some(Ok(event))),
                Some(Step::Fail(error)) => Poll::Ready(Some(Err(error))),
                Some(Step::End) => Poll::Ready(None),
                None => {
                    tape.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

impl Source {
    pub(crate) fn list(&self, answer: Answer<Listed<Object>>) -> &Self {
        lock(&self.0).lists.push_back(answer);
        self
    }

    pub(crate) fn watch(&self, answer: Answer<Watched<Object>>) -> &Self {
        lock(&self.0).watches.push_back(answer);
        self
    }

    /// Adds to the watch that is open.
    pub(crate) fn send(&self, steps: impl IntoIterator<Item = Step<Watched<Object>>>) {
        let tape = lock(&self.0).watch.clone().unwrap();
        let mut tape = lock(&tape);
        tape.steps.extend(steps);
        tape.waker.take().into_iter().for_each(Waker::wake);
    }

    /// Steps of the open watch that were not read.
    pub(crate) fn unread(&self) -> usize {
        let tape = lock(&self.0).watch.clone().unwrap();
        lock(&tape).steps.len()
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        lock(&self.0).requests.clone()
    }

    /// Feeds and requests that were not dropped.
    pub(crate) fn open(&self) -> usize {
        Arc::strong_count(&lock(&self.0).open) - 1
    }

    fn answer<E>(answer: Option<Answer<E>>) -> Result<Option<Arc<Mutex<Tape<E>>>>, SourceError> {
        match answer {
            Some(Answer::Open(steps)) => Ok(Some(Arc::new(Mutex::new(Tape {
                steps: steps.into(),
                waker: None,
            })))),
            Some(Answer::Fail(error)) => Err(error),
            Some(Answer::Hang) | None => Ok(None),
        }
    }
}

impl ListerWatcher for Source {
    type Object = Object;
    type Error = SourceError;
    type List = TapeFeed<Listed<Object>>;
    type Watch = TapeFeed<Watched<Object>>;

    async fn list(&self, request: ListRequest) -> Result<Self::List, SourceError> {
        let (answer, open) = {
            let mut script = lock(&self.0);
            let version = request
                .version
                .map_or_else(|| "-".to_owned(), |it| it.to_string());
            let limit = request.limit.unwrap_or(0);
            let token = request.token.unwrap_or_default();
            script.requests.push(format!("list {version}/{limit}/{token}"));
            (script.lists.pop_front(), script.open.clone())
        };
        match Self::answer(answer)? {
            Some(tape) => Ok(TapeFeed { tape, _open: open }),
            None => std::future::pending().await,
        }
    }

    async fn watch(&self, request: WatchRequest) -> Result<Self::Watch, SourceError> {
        let (answer, open) = {
            let mut script = lock(&self.0);
            let version = request
                .version
                .map_or_else(|| "-".to_owned(), |it| it.to_string());
            let how = if request.initial_events { "stream" } else { "watch" };
            script.requests.push(format!("{how} {version}"));
            (script.watches.pop_front(), script.open.clone())
        };
        match Self::answer(answer)? {
            Some(tape) => {
                lock(&self.0).watch = Some(tape.clone());
                Ok(TapeFeed { tape, _open: open })
            }
            None => std::future::pending().await,
        }
    }
}

// === Shorthand for what a source says ===

pub(crate) fn identity(name: &str, version: &str) -> Identity {
    Identity {
        namespace: Some("ns".into()),
        name: name.into(),
        stamp: Stamp::new(version, format!("uid-{name}")),
    }
}

/// `name@version`
pub(crate) fn object(text: &str) -> Decoded<Object> {
    let (name, version) = text.split_once('@').unwrap();
    Decoded {
        identity: identity(name, version),
        object: text.to_owned(),
    }
}

pub(crate) fn undecodable(text: &str) -> DecodeError {
    let (name, version) = text.split_once('@').unwrap();
    DecodeError::new("field spec is a string")
        .kind("Foo")
        .of(identity(name, version))
}

pub(crate) fn item(text: &str) -> Step<Listed<Object>> {
    Step::Event(Listed::Item(Ok(object(text))))
}

pub(crate) fn bad_item(text: &str) -> Step<Listed<Object>> {
    Step::Event(Listed::Item(Err(undecodable(text))))
}

pub(crate) fn end(at: &str) -> Step<Listed<Object>> {
    page(at, None)
}

pub(crate) fn page(at: &str, token: Option<&str>) -> Step<Listed<Object>> {
    Step::Event(Listed::End {
        at: ResourceVersion::new(at),
        token: token.map(Into::into),
    })
}

/// A whole list: `name@version …` at a version.
pub(crate) fn whole(items: &str, at: &str) -> Answer<Listed<Object>> {
    let steps = items.split_whitespace().map(item).chain([end(at)]);
    Answer::Open(steps.collect())
}

pub(crate) fn added(text: &str) -> Step<Watched<Object>> {
    Step::Event(Watched::Upsert(Cause::Added, Ok(object(text))))
}

pub(crate) fn modified(text: &str) -> Step<Watched<Object>> {
    Step::Event(Watched::Upsert(Cause::Modified, Ok(object(text))))
}

pub(crate) fn deleted(text: &str) -> Step<Watched<Object>> {
    Step::Event(Watched::Delete(Ok(object(text))))
}

pub(crate) fn bookmark(at: &str) -> Step<Watched<Object>> {
    Step::Event(Watched::Bookmark {
        at: ResourceVersion::new(at),
        end_of_initial: false,
    })
}

pub(crate) fn initial_end(at: &str) -> Step<Watched<Object>> {
    Step::Event(Watched::Bookmark {
        at: ResourceVersion::new(at),
        end_of_initial: true,
    })
}

pub(crate) fn error(class: FailureClass) -> SourceError {
    SourceError::new(class, format!("the server said: {class}"))
}

pub(crate) fn expired<E>() -> Step<E> {
    Step::Fail(error(FailureClass::Expired))
}

// === The sink ===

#[derive(Clone, Default)]
pub(crate) struct Sink(Arc<Mutex<Taken>>);

#[derive(Default)]
struct Taken {
    deltas: Vec<Delta<ObjectKey, Object>>,
    full: bool,
    closed: bool,
    stored: Vec<(ObjectKey, Stamp, Arc<Object>)>,
    wakers: Vec<Waker>,
}

impl Sink {
    pub(crate) fn fill(&self, full: bool) {
        self.change(|taken| taken.full = full);
    }

    pub(crate) fn close(&self) {
        self.change(|taken| taken.closed = true);
    }

    /// An object that the sink is to know.
    pub(crate) fn store(&self, text: &str) -> Arc<Object> {
        let Decoded { identity, object } = object(text);
        let object = Arc::new(object);
        let key = NamespaceName.key(&identity, &*object).unwrap();
        lock(&self.0).stored.push((key, identity.stamp, object.clone()));
        object
    }

    pub(crate) fn taken(&self) -> Vec<String> {
        lock(&self.0)
            .deltas
            .iter()
            .map(|delta| format!("{delta:?}").replace("ns/", "").replace("#uid-", "#"))
            .map(|text| strip_uids(&text))
            .collect()
    }

    pub(crate) fn with<R>(&self, look: impl FnOnce(&[Delta<ObjectKey, Object>]) -> R) -> R {
        look(&lock(&self.0).deltas)
    }

    fn change(&self, change: impl FnOnce(&mut Taken)) {
        let mut taken = lock(&self.0);
        change(&mut taken);
        let wakers = std::mem::take(&mut taken.wakers);
        drop(taken);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// Uids say nothing in these tests.
fn strip_uids(text: &str) -> String {
    let mut parts = text.split('#');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(part.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric()));
    }
    out.replace('"', "")
}

impl DeltaSink<ObjectKey, Object> for Sink {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        let mut taken = lock(&self.0);
        if taken.closed {
            return Poll::Ready(Err(Closed));
        }
        if taken.full {
            taken.wakers.push(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn push(&mut self, delta: Delta<ObjectKey, Object>) {
        lock(&self.0).deltas.push(delta);
    }

    fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut taken = lock(&self.0);
        if taken.closed {
            return Poll::Ready(());
        }
        taken.wakers.push(cx.waker().clone());
        Poll::Pending
    }

    fn known(&self, key: &ObjectKey, stamp: &Stamp) -> Option<Arc<Object>> {
        lock(&self.0)
            .stored
            .iter()
            .find(|(stored, version, _)| stored == key && version == stamp)
            .map(|(_, _, object)| object.clone())
    }
}

// === The rig ===

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
    errors: Arc<Mutex<Vec<ReflectorError>>>,
    running: Option<BoxFuture<'static, ()>>,
    status: Option<StatusReader>,
    woken: Arc<Flag>,
}

impl Rig {
    /// A reflector that lists; waits have no jitter.
    pub(crate) fn new() -> Self {
        let mut options = Options::named("foos");
        options.start = Start::List;
        options.backoff.jitter = 0.0;
        options.seed = Some(1);
        Self {
            source: Source::default(),
            sink: Sink::default(),
            clock: ManualClock::new(),
            options,
            transform: None,
            errors: Arc::default(),
            running: None,
            status: None,
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
        let errors = self.errors.clone();
        let mut reflector = Reflector::new(
            self.source.clone(),
            key,
            self.sink.clone(),
            self.clock.clone(),
            self.options.clone(),
        )
        .on_error(move |error| lock(&errors).push(error.clone()));
        if let Some(transform) = self.transform.take() {
            reflector = reflector.transform(transform);
        }
        self.status = Some(reflector.status());
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
