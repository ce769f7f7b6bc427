//! `Broadcaster`: makes recorders, and writes what they record.

use std::{
    fmt,
    future::{Future, poll_fn},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use informer_core::{BoxClock, BoxFuture, Clock, TokioClock};

use crate::{
    EventSink, Machine, Metrics, Options, Recorder, Refusal, SeriesId, SinkError, Stats, Verb, Write,
    Written, edge, recorder::Shared,
};

/// What happened until the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// What became of all events.
    pub stats: Stats,
    /// Writes that were given up since their time was over, those under way among them, which may have arrived.
    pub abandoned: usize,
}

/// Makes recorders, and writes to a sink what they record (client-go `events.EventBroadcaster`).
///
/// Recorders may be used before [`run`](Self::run) is called: events wait, within the bounds of the [`Options`]. When the broadcaster is
/// dropped or its run has ended, recorders drop what they are told and count it.
pub struct Broadcaster<S> {
    shared: Arc<Shared>,
    sink: Arc<S>,
    drain_for: Duration,
    write_timeout: Duration,
}

impl<S: EventSink + 'static> Broadcaster<S> {
    /// Writes to a sink, on tokio's clock.
    pub fn new(sink: S, options: Options) -> Self {
        Self::with_clock(sink, options, TokioClock)
    }

    /// The same, on another clock.
    pub fn with_clock(sink: S, options: Options, clock: impl Clock) -> Self {
        let seed = options.seed.unwrap_or_else(edge::seed);
        Self {
            drain_for: options.drain_for,
            write_timeout: options.write_timeout,
            shared: Arc::new(Shared::new(
                Machine::new(options, seed),
                BoxClock::new(clock),
                !seed,
            )),
            sink: Arc::new(sink),
        }
    }

    /// With another wall clock, which says how long ago 1970 began.
    ///
    /// # Panics
    /// When a recorder was made already.
    #[must_use]
    pub fn with_wall(mut self, wall: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        self.configure().wall = Arc::new(wall);
        self
    }

    /// With somebody who counts.
    ///
    /// # Panics
    /// When a recorder was made already.
    #[must_use]
    pub fn with_metrics(mut self, metrics: impl Metrics + 'static) -> Self {
        self.configure().metrics = Some(Arc::new(metrics));
        self
    }

    fn configure(&mut self) -> &mut Shared {
        Arc::get_mut(&mut self.shared).expect("it is configured before recorders are made")
    }

    /// A recorder for a controller, whose name is like `cronjob-controller` or `example.com/cronjob-controller`. Its instance is the name
    /// and that of the machine or pod.
    #[must_use]
    pub fn recorder(&self, controller: &str) -> Recorder {
        let name = controller.rsplit('/').next().unwrap_or(controller);
        self.recorder_of(controller, &format!("{name}-{}", edge::hostname()))
    }

    /// A recorder for an instance of a controller. The instance is cut to 128 bytes.
    #[must_use]
    pub fn recorder_of(&self, controller: &str, instance: &str) -> Recorder {
        Recorder::new(self.shared.clone(), controller, instance)
    }

    /// What became of all events so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.shared.stats()
    }

    /// Writes what is recorded until `stop` ends, then what is left, for [`Options::drain_for`] at most.
    ///
    /// # Cancel safety
    /// Dropping it ends everything at once; what was not written is lost.
    pub async fn run(self, stop: impl Future<Output = ()>) -> Report {
        let mut stop = pin!(stop);
        let mut flights = Flights::default();
        let mut deadline: Option<Instant> = None;
        while let Some(timeout) = self.begin(&mut flights, deadline) {
            tokio::select! {
                biased;
                () = &mut stop, if deadline.is_none() => {
                    deadline = Some(self.stop());
                }
                flight = flights.next() => self.end(flight),
                () = self.shared.wake.notified() => {}
                () = sleep_until(&self.shared.clock, timeout) => {}
            }
        }
        let mut inner = self.shared.lock();
        Report {
            abandoned: inner.machine.abandon(),
            stats: inner.machine.stats(),
        }
    }

    fn stop(&self) -> Instant {
        self.shared.lock().machine.stop();
        let now = self.shared.clock.now();
        now.checked_add(self.drain_for).unwrap_or(now)
    }

    /// Begins the writes that are due. Returns when to look again at the latest, if ever; `None` when the end has come.
    fn begin(&self, flights: &mut Flights, deadline: Option<Instant>) -> Option<Option<Instant>> {
        let now = self.shared.clock.now();
        let (writes, timeout, n_writes) = {
            let machine = &mut self.shared.lock().machine;
            machine.handle_timeout(now);
            let writes: Vec<_> = std::iter::from_fn(|| machine.poll_write()).collect();
            (writes, machine.poll_timeout(), machine.n_writes())
        };
        if let Some(metrics) = &self.shared.metrics {
            metrics.waiting(n_writes);
        }
        if deadline.is_some_and(|deadline| n_writes == 0 || deadline <= now) {
            return None;
        }
        for write in writes {
            flights.push(self.fly(now, write));
        }
        Some(deadline.into_iter().chain(timeout).min())
    }

    fn fly(&self, began: Instant, write: Write) -> BoxFuture<'static, Flight> {
        let sink = self.sink.clone();
        let clock = self.shared.clock.clone();
        let give_up = began.checked_add(self.write_timeout);
        Box::pin(async move {
            let Write { id, verb, event, .. } = write;
            let result = tokio::select! {
                biased;
                result = async {
                    match verb {
                        Verb::Create => sink.create(&event).await,
                        Verb::Patch => sink.patch(&event).await,
                    }
                } => result,
                () = sleep_until(&clock, give_up) => {
                    Err(SinkError::new(Refusal::Unavailable { retry_after: None }, "no answer came in time"))
                }
            };
            Flight {
                id,
                verb,
                began,
                result,
            }
        })
    }

    fn end(&self, flight: Flight) {
        let now = self.shared.clock.now();
        let refusal = flight.result.as_ref().copied().map_err(SinkError::refusal);
        let written = self.shared.lock().machine.handle_written(now, flight.id, refusal);
        let Some(written) = written else { return };
        if let Err(error) = &flight.result {
            match written {
                Written::Done => tracing::trace!(%error, "Event was there already"),
                Written::Again => tracing::debug!(%error, "Cannot write an event, it is tried again"),
                Written::Rejected => tracing::warn!(%error, "The server rejected an event"),
                Written::Exhausted => tracing::warn!(%error, "Cannot write an event, it is given up"),
            }
        }
        if let Some(metrics) = &self.shared.metrics {
            metrics.written(flight.verb, written, now.saturating_duration_since(flight.began));
        }
    }
}

impl<S> Drop for Broadcaster<S> {
    fn drop(&mut self) {
        self.shared.lock().machine.abandon();
    }
}

impl<S> fmt::Debug for Broadcaster<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broadcaster")
            .field("stats", &self.shared.stats())
            .finish_non_exhaustive()
    }
}

/// A write that ended.
struct Flight {
    id: SeriesId,
    verb: Verb,
    began: Instant,
    result: Result<(), SinkError>,
}

/// The writes under way, few as they are.
#[derive(Default)]
struct Flights(Vec<BoxFuture<'static, Flight>>);

impl Flights {
    fn push(&mut self, flight: BoxFuture<'static, Flight>) {
        self.0.push(flight);
    }

    /// The next that ends. Cancel safe.
    async fn next(&mut self) -> Flight {
        poll_fn(|cx| {
            for index in 0..self.0.len() {
                if let Poll::Ready(flight) = self.0[index].as_mut().poll(cx) {
                    drop(self.0.swap_remove(index));
                    return Poll::Ready(flight);
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// Waits until then, or for ever.
async fn sleep_until(clock: &BoxClock, at: Option<Instant>) {
    match at {
        Some(at) => clock.sleep_until(at).await,
        None => std::future::pending().await,
    }
}
