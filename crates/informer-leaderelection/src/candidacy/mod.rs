//! `Candidacy`: a candidate of a coordinated election, in which the server elects.

use std::{
    fmt,
    pin::pin,
    sync::Arc,
    task::{Context, Poll},
    time::SystemTime,
};

use informer_client::{Api, Client, Error, WriteOptions};
use informer_core::{
    BoxClock, BoxFuture, Clock, Closed, Delta, DeltaSink, NamespaceName, ObjectKey, TokioClock,
};
use informer_reflector::{Options as ReflectorOptions, Reflector};
use informer_transport::{JsonCodec, Transport};
use serde_json::Map;
use tokio::sync::watch;

use crate::MicroTime;

mod machine;
mod wire;

use machine::{Action, Machine, Times};
pub use wire::{LeaseCandidate, LeaseCandidateSpec};

/// What a candidate says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CandidacyOptions {
    /// Its name: also the [identity](crate::Options::identity) of its elector, whose options are
    /// [coordinated](crate::Options::coordinated).
    pub name: Arc<str>,
    /// The lease that it is a candidate for.
    pub lease: Arc<str>,
    /// The version of its program, as `1.37.2`.
    pub binary_version: Arc<str>,
    /// The version that it behaves as.
    pub emulation_version: Arc<str>,
    /// How the server elects: `OldestEmulationVersion`.
    pub strategy: Arc<str>,
}

/// Keeps a LeaseCandidate at the server, and answers when the server asks whether it is alive (client-go `LeaseCandidate`). Runs beside an
/// [`Elector`](crate::Elector) with [coordinated](crate::Options::coordinated) options.
///
/// kube-apiserver 1.37 serves this when told to: feature gate `CoordinatedLeaderElection`, API `coordination.k8s.io/v1beta1`.
pub struct Candidacy<T> {
    api: Api<T, LeaseCandidate, JsonCodec<LeaseCandidate>>,
    namespace: Arc<str>,
    options: CandidacyOptions,
    clock: BoxClock,
    wall: Arc<dyn Fn() -> MicroTime + Send + Sync>,
}

impl<T> fmt::Debug for Candidacy<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidacy")
            .field("namespace", &self.namespace)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// The object at the server; the outer `None` until it was heard.
type Seen = Option<Option<Arc<LeaseCandidate>>>;

/// Where the reflector puts the one object it follows.
struct Sink(watch::Sender<Seen>);

impl DeltaSink<ObjectKey, LeaseCandidate> for Sink {
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        Poll::Ready(Ok(()))
    }

    fn push(&mut self, delta: Delta<ObjectKey, LeaseCandidate>) {
        match delta {
            Delta::Upsert(entry, _) => self.0.send_replace(Some(Some(entry.object))),
            Delta::Delete { .. } => self.0.send_replace(Some(None)),
            Delta::Replace { items, .. } => {
                let object = items.into_iter().next().map(|entry| entry.object);
                self.0.send_replace(Some(object))
            }
            _ => None,
        };
    }
}

impl<T: Transport + 'static> Candidacy<T> {
    /// A candidate in this namespace.
    #[must_use]
    pub fn new(client: &Client<T>, namespace: &str, options: CandidacyOptions) -> Self {
        Self {
            api: client.objects(LeaseCandidate::resource()).in_namespace(namespace),
            namespace: namespace.into(),
            options,
            clock: BoxClock::new(TokioClock),
            wall: Arc::new(wall_clock),
        }
    }

    /// Waits by this clock, instead of tokio's.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = BoxClock::new(clock);
        self
    }

    /// Writes these times, instead of the system's. The server compares them with its own.
    #[must_use]
    pub fn wall_clock(mut self, wall: impl Fn() -> MicroTime + Send + Sync + 'static) -> Self {
        self.wall = Arc::new(wall);
        self
    }

    /// Keeps the object until the future is dropped. No error ends it; the object is left to the server, which collects it.
    ///
    /// # Cancel safety
    /// Dropping it stops it at once.
    pub async fn run(self) {
        let (sender, seen) = watch::channel(None);
        let mut options = ReflectorOptions::named("leasecandidate");
        options.type_description = "LeaseCandidate".into();
        let source = self.api.source_of(&self.options.name);
        let reflector =
            Reflector::new(source, NamespaceName, Sink(sender), self.clock.clone(), options).run();
        let keep = self.keep(seen);
        let (mut reflector, mut keep) = (pin!(reflector), pin!(keep));
        tokio::select! {
            () = &mut reflector => {}
            () = &mut keep => {}
        }
    }

    /// Performs what the machine says.
    async fn keep(&self, mut seen: watch::Receiver<Seen>) {
        let mut machine = Machine::new();
        let mut write: Option<BoxFuture<'_, Result<(), Error>>> = None;
        loop {
            let now = self.clock.now();
            if let Some(action) = machine.poll_action(now) {
                let object = seen.borrow().clone().flatten();
                write = Some(Box::pin(self.write(action, object)));
            }
            let due = async {
                match machine.poll_timeout() {
                    Some(at) => self.clock.sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            let written = async {
                match &mut write {
                    Some(write) => write.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                result = written => {
                    write = None;
                    match result {
                        Ok(()) => machine.on_written(self.clock.now()),
                        Err(error) => {
                            tracing::debug!(%error, name = %self.options.name, "the candidacy was not written");
                            machine.on_failed(self.clock.now());
                        }
                    }
                }
                changed = seen.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    if let Some(object) = &*seen.borrow_and_update() {
                        let times = |object: &Arc<LeaseCandidate>| Times {
                            pinged: object.spec.ping_time,
                            renewed: object.spec.renew_time,
                        };
                        machine.on_seen(self.clock.now(), object.as_ref().map(times));
                    }
                }
                () = due => {}
            }
        }
    }

    async fn write(&self, action: Action, object: Option<Arc<LeaseCandidate>>) -> Result<(), Error> {
        let options = WriteOptions::default();
        let renewed = Some((self.wall)());
        match (action, object) {
            (Action::Renew, Some(object)) => {
                let mut object = (*object).clone();
                object.spec.renew_time = renewed;
                self.api.replace(&self.options.name, &object, &options).await?;
            }
            _ => {
                let mut object = self.fresh();
                object.spec.renew_time = renewed;
                self.api.create(&object, &options).await?;
            }
        }
        Ok(())
    }

    fn fresh(&self) -> LeaseCandidate {
        let mut metadata = Map::new();
        metadata.insert("name".to_owned(), (&*self.options.name).into());
        metadata.insert("namespace".to_owned(), (&*self.namespace).into());
        let spec = LeaseCandidateSpec {
            lease_name: (*self.options.lease).to_owned(),
            binary_version: (*self.options.binary_version).to_owned(),
            emulation_version: (*self.options.emulation_version).to_owned(),
            strategy: (*self.options.strategy).to_owned(),
            ..LeaseCandidateSpec::default()
        };
        LeaseCandidate { metadata, spec }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the edge where wall time enters"
)]
fn wall_clock() -> MicroTime {
    SystemTime::now().into()
}
