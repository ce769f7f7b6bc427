//! The controller on the first informer: slow, failing and panicking now and then.

use std::{
    error::Error,
    fmt,
    panic::resume_unwind,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use informer_controller::{Action, Controller, ForObject, Phase};
use informer_core::{Clock, ObjectKey, Store};
use informer_testkit::{ManualClock, Rng};
use informer_workqueue::{Config, DelayedCopy, Queue};

use super::{Steward, World, handler::Mood};
use crate::{
    config::ControllerConfig,
    fact::{Fact, InformerId, Probe},
    outcome::Violation,
    thing::Thing,
};

/// What the reconciler holds.
struct Hand {
    id: InformerId,
    store: Arc<dyn Store<ObjectKey, Thing>>,
    probe: Probe,
    clock: ManualClock,
    config: ControllerConfig,
    mood: Arc<Mood>,
    rng: Mutex<Rng>,
}

/// The reconcile failed, as it was told to.
#[derive(Debug)]
struct Told;

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the reconcile was told to fail")
    }
}

impl Error for Told {}

impl Hand {
    async fn reconcile(&self, key: ObjectKey) -> Result<Action, Told> {
        let seen = self.store.get(&key).map(|entry| entry.stamp);
        self.probe.note(Fact::Began {
            controller: self.id,
            key: key.clone(),
            seen,
        });
        let (takes, how) = {
            let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
            let takes = Duration::from_millis(rng.range(0..u64::from(self.config.slow_ms) + 1));
            (takes, rng.range(0..100))
        };
        if !takes.is_zero() && !self.mood.is_calm() {
            self.clock.sleep_until(self.clock.now() + takes).await;
        }
        let calm = self.mood.is_calm();
        let fails = u64::from(self.config.fail_percent);
        let panics = fails + u64::from(self.config.panic_percent);
        let requeues = panics + u64::from(self.config.requeue_percent);
        self.probe.note(Fact::Finished {
            controller: self.id,
            key,
            succeeded: calm || how >= panics,
        });
        if calm || how >= requeues {
            Ok(Action::Done)
        } else if how < fails {
            Err(Told)
        } else if how < panics {
            resume_unwind(Box::new("the reconcile was told to panic"))
        } else {
            Ok(Action::requeue_after(Duration::from_secs(3)))
        }
    }
}

impl Steward {
    /// Whether it has no work: nothing waits, runs, or is to come again.
    pub(crate) fn is_idle(&self) -> bool {
        let status = self.controller.status();
        let stats = self.queue.stats();
        status.phase == Phase::Running && stats.ready + stats.delayed + stats.running == 0
    }
}

impl World {
    /// Starts the controller of the first informer, where there is one.
    pub(super) fn start_controller(&mut self) -> Result<(), Violation> {
        let Some(config) = self.config.controller.clone() else {
            return Ok(());
        };
        let id = self.next_id();
        let mood = Arc::new(Mood::default());
        let hand = Arc::new(Hand {
            id,
            store: self.members[0].store.clone(),
            probe: self.probe.clone(),
            clock: self.clock.clone(),
            mood: mood.clone(),
            rng: Mutex::new(self.rng.fork()),
            config: config.clone(),
        });
        // The queue that a controller has by itself, held on to so that it can be looked into.
        let queue = Queue::with(
            Config::default().delayed_copy(DelayedCopy::Absorb),
            self.clock.clone(),
        );
        let controller = Controller::builder(format!("c{id}"))
            .queue(queue.clone())
            .watches(&self.members[0].informer, ForObject)
            .clock(self.clock.clone())
            .concurrency(config.workers.into())
            .sync_timeout(None)
            .reconcile(move |key: ObjectKey, _| {
                let hand = hand.clone();
                async move { hand.reconcile(key).await }
            })
            .build()
            .map_err(|error| Violation::new("build", error.to_string()))?;
        let run = controller.clone();
        let task = self.spawn(async move {
            // It ends with an error when its informer stops before it was in sync.
            let _ended = run.run().await;
        });
        self.steward = Some(Steward {
            id,
            controller,
            queue,
            task,
            mood,
        });
        Ok(())
    }

    pub(super) fn stop_controller(&mut self, orderly: bool) {
        if let Some(steward) = self.steward.take() {
            self.note(Fact::ControllerStopping {
                controller: steward.id,
            });
            if orderly {
                steward.controller.stop();
            } else {
                steward.task.abort();
            }
            self.leaving.push(steward.task);
        }
    }
}
