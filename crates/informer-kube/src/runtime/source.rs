//! `WatcherSource`: an informer fed by a kube watcher.

use std::{
    fmt,
    future::{Future, poll_fn},
    hash::{BuildHasher as _, RandomState},
    pin::{Pin, pin},
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use futures_core::{Stream, stream::BoxStream};
use informer_backoff::{Backoff, Options, SplitMix64};
use informer_core::{Clock as _, DeltaSink as _, ObjectKey};
use informer_sharedinformer::{Connected, Sink, Source, SourceContext, SourceStatus, Trouble};
use kube::runtime::watcher::{self, Event};
use tokio::sync::Notify;

use super::{class_of, error::sentence, intake::Intake};

type Events<K> = BoxStream<'static, watcher::Result<Event<K>>>;

/// The stream of a kube watcher as the source of an informer: `SharedInformer::fed_by(WatcherSource::new(..))`.
///
/// So a program that has its watchers, with their configuration and the changes that it makes to objects on the way, gets indices,
/// snapshots, late handlers and resyncs without another request to the server.
///
/// * `Init` to `InitDone` become one atomic replacement; an object that did not change is neither stored again nor told.
/// * After an error the stream is not asked again before a delay, which grows and starts over on health, as a reflector's does. A back-off of the
///   stream's own does no harm: the delays run at the same time.
/// * A full queue holds the stream back.
/// * A watcher does not tell the version of its list: `applied` is that of the newest object, which is never too late. It stays there when a
///   restored etcd goes back in time, where our own reflector follows.
/// * Objects that cannot be decoded are errors of kube's watcher, and never come by.
///
/// ```
/// use informer_kube::WatcherSource;
/// use informer_sharedinformer::SharedInformer;
/// use k8s_openapi::api::core::v1::Pod;
/// use kube::{
///     Api, ResourceExt,
///     runtime::{WatchStreamExt, watcher},
/// };
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = informer_apiserver::Server::start(Default::default()).await?;
/// # let client = kube::Client::try_from(kube::Config::new(server.url().parse()?))?;
/// let pods: Api<Pod> = Api::all(client);
/// let source = WatcherSource::new(move || {
///     watcher(pods.clone(), watcher::Config::default()).modify(|pod| pod.managed_fields_mut().clear())
/// });
/// let informer = SharedInformer::fed_by(source)
///     .index("node", |pod: &Pod, emit: &mut dyn FnMut(&str)| {
///         let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
///         node.into_iter().for_each(emit);
///     })
///     .build()?;
/// let running = informer.spawn()?;
/// informer.wait_synced(std::time::Duration::from_secs(30)).await?;
/// assert!(informer.lister().by_index("node", "n1")?.is_empty());
/// # running.stop().await;
/// # Ok(())
/// # }
/// ```
pub struct WatcherSource<K> {
    make: Box<dyn FnMut() -> Option<Events<K>> + Send>,
    backoff: Options,
    seed: Option<u64>,
}

impl<K: Send + 'static> WatcherSource<K> {
    /// A source that makes a stream when it starts, and another when that ends or the informer wants a list: `|| watcher(api.clone(), config.clone())`.
    pub fn new<S>(mut make: impl FnMut() -> S + Send + 'static) -> Self
    where
        S: Stream<Item = watcher::Result<Event<K>>> + Send + 'static,
    {
        Self::from_parts(Box::new(move || Some(Box::pin(make()))))
    }

    /// A source of one stream, which must begin with its `Init`. When it ends the source does, and a list cannot be asked for.
    pub fn once<S>(stream: S) -> Self
    where
        S: Stream<Item = watcher::Result<Event<K>>> + Send + 'static,
    {
        let mut stream: Option<Events<K>> = Some(Box::pin(stream));
        Self::from_parts(Box::new(move || stream.take()))
    }

    /// How the delays after errors grow.
    #[must_use]
    pub fn backoff(mut self, options: Options) -> Self {
        self.backoff = options;
        self
    }

    /// Where chance begins; drawn anew by default.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    fn from_parts(make: Box<dyn FnMut() -> Option<Events<K>> + Send>) -> Self {
        Self {
            make,
            backoff: Options::default(),
            seed: None,
        }
    }
}

impl<K> fmt::Debug for WatcherSource<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatcherSource")
            .field("backoff", &self.backoff)
            .finish_non_exhaustive()
    }
}

impl<K> Source<ObjectKey, K> for WatcherSource<K>
where
    K: kube::Resource + Send + Sync + 'static,
{
    fn connect(self, sink: Sink<ObjectKey, K>, context: SourceContext) -> Connected {
        let status = Arc::new(Mutex::new(SourceStatus::default()));
        let relist = Arc::new(Notify::new());
        let seed = self.seed.unwrap_or_else(|| RandomState::new().hash_one(0_u8));
        let driver = Driver {
            make: self.make,
            sink,
            context,
            status: status.clone(),
            relist: relist.clone(),
            intake: Intake::new(),
            backoff: Backoff::new(self.backoff),
            random: SplitMix64::new(seed),
        };
        Connected::new(driver.run())
            .with_status(move || status.lock().unwrap_or_else(PoisonError::into_inner).clone())
            .with_relist(move || relist.notify_one())
    }
}

struct Driver<K> {
    make: Box<dyn FnMut() -> Option<Events<K>> + Send>,
    sink: Sink<ObjectKey, K>,
    context: SourceContext,
    status: Arc<Mutex<SourceStatus>>,
    relist: Arc<Notify>,
    intake: Intake<K>,
    backoff: Backoff,
    random: SplitMix64,
}

enum Step<K> {
    Closed,
    Relist,
    Event(Option<watcher::Result<Event<K>>>),
}

impl<K: kube::Resource + Send + Sync + 'static> Driver<K> {
    async fn run(mut self) {
        let Some(mut stream) = (self.make)() else {
            return;
        };
        loop {
            match self.step(&mut stream).await {
                Step::Closed => return,
                Step::Event(Some(Ok(event))) => self.on_event(event),
                Step::Event(Some(Err(error))) => {
                    self.on_error(&error);
                    if !self.wait().await {
                        return;
                    }
                }
                Step::Relist => {
                    if let Some(another) = (self.make)() {
                        stream = another;
                        self.intake.restart();
                    }
                }
                Step::Event(None) => {
                    let Some(another) = (self.make)() else { return };
                    stream = another;
                    self.intake.restart();
                    if !self.wait().await {
                        return;
                    }
                }
            }
        }
    }

    async fn step(&mut self, stream: &mut Events<K>) -> Step<K> {
        let relist = self.relist.clone();
        let mut asked = pin!(relist.notified());
        poll_fn(|cx| {
            if self.sink.poll_closed(cx).is_ready() {
                return Poll::Ready(Step::Closed);
            }
            if asked.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Step::Relist);
            }
            match self.sink.poll_ready(cx) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Err(_)) => Poll::Ready(Step::Closed),
                Poll::Ready(Ok(())) => poll_next(stream, cx).map(Step::Event),
            }
        })
        .await
    }

    fn on_event(&mut self, event: Event<K>) {
        // Only what shows that the server answers in full: a watcher says `Init` before it asks.
        let is_healthy = matches!(event, Event::InitDone | Event::Apply(_) | Event::Delete(_));
        let sink = &self.sink;
        match self.intake.take(event, |key, stamp| sink.known(key, stamp)) {
            Ok(Some(delta)) => self.sink.push(delta),
            Ok(None) => {}
            Err(unfit) => self.context.report(Trouble::Source {
                class: None,
                error: unfit.to_string().into(),
            }),
        }
        let phase = self.intake.phase();
        let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
        if status.phase.as_deref() != Some(phase) {
            status.phase = Some(phase.into());
        }
        if is_healthy {
            self.backoff.on_healthy(self.context.clock.now());
            status.class = None;
            status.error = None;
        }
    }

    fn on_error(&self, error: &watcher::Error) {
        let class = class_of(error);
        let error: Arc<str> = sentence(error).into();
        tracing::warn!(informer = &*self.context.name, %class, %error, "The watcher failed");
        {
            let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
            status.phase = Some("waiting to try again".into());
            status.class = Some(class);
            status.error = Some(error.clone());
        }
        self.context.report(Trouble::Source {
            class: Some(class),
            error,
        });
    }

    /// `false`: the sink was closed meanwhile.
    async fn wait(&mut self) -> bool {
        let clock = self.context.clock.clone();
        let now = clock.now();
        let delay = self.backoff.next(now, self.random.next_u64());
        let mut over = pin!(clock.sleep_until(now + delay));
        poll_fn(|cx| {
            if self.sink.poll_closed(cx).is_ready() {
                return Poll::Ready(false);
            }
            over.as_mut().poll(cx).map(|()| true)
        })
        .await
    }
}

fn poll_next<K>(stream: &mut Events<K>, cx: &mut Context<'_>) -> Poll<Option<watcher::Result<Event<K>>>> {
    Pin::new(stream).poll_next(cx)
}
