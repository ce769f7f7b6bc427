//! The suite for [`Source`].

use std::{fmt, sync::Arc, time::Duration};

use informer_core::{BoxClock, BoxFuture, Clock, TokioClock};
use informer_workqueue::{Queue, WorkQueue};
use tokio::select;

use super::Report;
use crate::{Request, Source, SourceContext, Started, source::Run};

/// Makes a source name one more request, each time that it is called.
pub type Trigger = Box<dyn FnMut() -> BoxFuture<'static, ()> + Send>;

type Make<R> = Box<dyn Fn() -> (Box<dyn Source<R>>, Trigger) + Send + Sync>;

/// Checks a source. Runs on tokio; virtual time is welcome.
pub struct SourceSuite<R> {
    subject: String,
    make: Make<R>,
    initial: usize,
    patience: Duration,
}

struct Rig<R> {
    queue: Arc<dyn WorkQueue<R>>,
    started: Started,
    run: Option<BoxFuture<'static, ()>>,
    trigger: Trigger,
}

impl<R: Request> SourceSuite<R> {
    /// For the source that this makes, with what makes it name a request.
    pub fn new(
        subject: &str,
        make: impl Fn() -> (Box<dyn Source<R>>, Trigger) + Send + Sync + 'static,
    ) -> Self {
        Self {
            subject: subject.to_owned(),
            make: Box::new(make),
            initial: 0,
            patience: Duration::from_secs(10),
        }
    }

    /// It has so many requests at the start.
    #[must_use]
    pub fn initial(mut self, requests: usize) -> Self {
        self.initial = requests;
        self
    }

    /// How long it may take until something is there; ten seconds by default.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Runs all checks.
    pub async fn run(&self) -> Report {
        let mut report = Report::new(&self.subject);
        report.check(
            "it_has_a_name",
            "What it is called in status and errors: the kind, or the informer's name.",
            || {
                let (one, other) = ((self.make)().0.name(), (self.make)().0.name());
                match one == other && !one.is_empty() {
                    true => Ok(()),
                    false => Err(format!("{one:?}, then {other:?}")),
                }
            },
        );
        report.note(
            "it_is_in_sync_once_its_initial_requests_are_in_the_queue",
            "A source that is in sync when this future says so: its initial requests are in the queue.",
            self.syncs().await,
        );
        report.note(
            "requests_reach_the_queue",
            "Puts requests into a controller's queue.",
            self.brings().await,
        );
        report.note(
            "it_ends_when_it_is_dropped",
            "Dropping it ends the source: no request comes from it afterwards.",
            self.ends().await,
        );
        report
    }

    fn start(&self) -> Result<Rig<R>, String> {
        let (source, trigger) = (self.make)();
        let clock = BoxClock::new(TokioClock);
        let queue: Arc<dyn WorkQueue<R>> = Arc::new(Queue::new(clock.clone()));
        let started = source.start(SourceContext::new(queue.clone(), clock));
        let mut started = started.map_err(|error| error.to_string())?;
        Ok(Rig {
            queue,
            run: started.run.take().map(Run::into_future),
            started,
            trigger,
        })
    }

    async fn syncs(&self) -> Result<(), String> {
        let mut rig = self.start()?;
        rig.sync(self.patience).await?;
        match rig.queue.len() >= self.initial {
            true => Ok(()),
            false => Err(format!(
                "{} of {} initial requests",
                rig.queue.len(),
                self.initial
            )),
        }
    }

    async fn brings(&self) -> Result<(), String> {
        let mut rig = self.start()?;
        rig.sync(self.patience).await?;
        let before = rig.queue.len();
        let queue = rig.queue.clone();
        let triggered = (rig.trigger)();
        let come = async {
            triggered.await;
            while queue.len() <= before {
                tick().await;
            }
        };
        select! {
            biased;
            () = come => Ok(()),
            () = rig.live() => Err("never: it waits".to_owned()),
            () = pause(self.patience) => Err("no request came".to_owned()),
        }
    }

    async fn ends(&self) -> Result<(), String> {
        let mut rig = self.start()?;
        rig.sync(self.patience).await?;
        let (before, mut trigger) = (rig.queue.len(), rig.trigger);
        drop((rig.run, rig.started));
        select! {
            biased;
            () = trigger() => {}
            () = pause(self.patience) => {}
        }
        for _ in 0..100 {
            tick().await;
        }
        match rig.queue.len() == before {
            true => Ok(()),
            false => Err("a request came after the end".to_owned()),
        }
    }
}

impl<R: Request> Rig<R> {
    async fn sync(&mut self, patience: Duration) -> Result<(), String> {
        let (synced, run) = (&mut self.started.synced, &mut self.run);
        let live = async {
            if let Some(run) = run.as_mut() {
                run.await;
            }
            *run = None;
            std::future::pending::<()>().await;
        };
        select! {
            biased;
            result = synced => result.map_err(|error| error.to_string()),
            () = live => Err("never: it waits".to_owned()),
            () = pause(patience) => Err("it is not in sync".to_owned()),
        }
    }

    async fn live(&mut self) {
        if let Some(run) = &mut self.run {
            run.await;
        }
        self.run = None;
        std::future::pending().await
    }
}

async fn pause(by: Duration) {
    TokioClock.sleep_until(TokioClock.now() + by).await;
}

async fn tick() {
    pause(Duration::from_millis(1)).await;
}

impl<R> fmt::Debug for SourceSuite<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceSuite")
            .field("subject", &self.subject)
            .field("initial", &self.initial)
            .finish_non_exhaustive()
    }
}
