//! `Elector`: a candidate as its users see it.

use std::{fmt, future, sync::Arc, time::SystemTime};

use informer_core::{BoxClock, Clock, TokioClock};
use tokio::sync::watch;
use tracing::Instrument;

use crate::{
    End, Event, InvalidOptions, Leadership, Lock, Metrics, MicroTime, Options, identity::random_seed,
    leadership::View,
};

mod driver;

use driver::{Driver, Work};

type Hook = Arc<dyn Fn(&Event) + Send + Sync>;

/// A candidate (client-go `LeaderElector`). See the crate documentation for the contract.
pub struct Elector<L> {
    lock: L,
    options: Options,
    clock: BoxClock,
    wall: Arc<dyn Fn() -> MicroTime + Send + Sync>,
    seed: u64,
    metrics: Arc<dyn Metrics>,
    hooks: Vec<Hook>,
    view: watch::Sender<View>,
}

impl<L> fmt::Debug for Elector<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Elector")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

impl<L: Lock> Elector<L> {
    /// A candidate for this lock.
    ///
    /// # Errors
    /// When the options are not [valid](Options::validate).
    pub fn new(lock: L, options: Options) -> Result<Self, InvalidOptions> {
        options.validate()?;
        Ok(Self {
            lock,
            options,
            clock: BoxClock::new(TokioClock),
            wall: Arc::new(wall_clock),
            seed: random_seed(),
            metrics: Arc::new(()),
            hooks: Vec::new(),
            view: watch::Sender::new(View::default()),
        })
    }

    /// Waits by this clock, instead of tokio's. To be set before the first [`leadership`](Self::leadership) is taken.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = BoxClock::new(clock);
        self
    }

    /// Writes these times into the lease, instead of the system's. Nothing is decided by them.
    #[must_use]
    pub fn wall_clock(mut self, wall: impl Fn() -> MicroTime + Send + Sync + 'static) -> Self {
        self.wall = Arc::new(wall);
        self
    }

    /// Draws its chance from this seed, instead of from the system.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Tells `metrics` the numbers.
    #[must_use]
    pub fn metrics(mut self, metrics: Arc<dyn Metrics>) -> Self {
        self.metrics = metrics;
        self
    }

    /// Calls `hook` for each event, beside those that were given before. It is called on the elector's task: a hook that takes long delays
    /// renewals.
    #[must_use]
    pub fn on_event(mut self, hook: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Reads how the election goes, from now until after its end.
    #[must_use]
    pub fn leadership(&self) -> Leadership {
        Leadership::new(
            self.view.subscribe(),
            self.clock.clone(),
            self.options.identity.clone(),
            self.options.name.clone(),
            self.options.lease_duration - self.options.renew_deadline,
        )
    }

    /// Takes part in the election until `stop` is done or leadership, once had, is lost. It does not lead again in this run. What the lease
    /// guards has ended when `stop` is done: the lease is given back then, if the options say so.
    ///
    /// # Cancel safety
    /// Dropping the future stops it at once: it leads no more, and others wait for the lease to lapse.
    pub fn run(self, stop: impl Future<Output = ()> + Send) -> impl Future<Output = End> + Send {
        self.start::<future::Ready<()>>(stop, None)
    }

    /// The same, with the work that the lease guards: made and polled once this process leads, beside the elector on the same task. When
    /// stopping is wanted, [`Leadership::ending`] says so, and the lease is renewed until the work has ended (for one lease duration at most)
    /// and then given back, if the options say so. When leadership is lost, the work is dropped where it is. When the work ends by itself, so
    /// does the run, as if stopping were wanted.
    ///
    /// # Cancel safety
    /// As [`run`](Self::run); the work is dropped with it.
    pub fn run_with<F>(
        self,
        stop: impl Future<Output = ()> + Send,
        work: impl FnOnce(Leadership) -> F + Send + 'static,
    ) -> impl Future<Output = End> + Send
    where
        F: Future<Output = ()> + Send,
    {
        let leadership = self.leadership();
        self.start(stop, Some(Box::new(move || work(leadership))))
    }

    fn start<F: Future<Output = ()> + Send>(
        self,
        stop: impl Future<Output = ()> + Send,
        work: Option<Work<F>>,
    ) -> impl Future<Output = End> + Send {
        let span = tracing::info_span!(
            "leaderelection",
            name = %self.options.name,
            identity = %self.options.identity,
            lock = %self.lock.describe(),
        );
        // Built when it is first polled, so that its waits count from there.
        let run = async move { Driver::new(self).run(stop, work).await };
        run.instrument(span)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "this is the edge where wall time enters"
)]
fn wall_clock() -> MicroTime {
    SystemTime::now().into()
}
