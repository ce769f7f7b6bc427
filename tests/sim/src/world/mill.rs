//! A work queue of the world's own, with workers, who says what is added, floods it, and shuts it down in each way.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use informer_core::Clock;
use informer_testkit::{ManualClock, Rng};
use informer_workqueue::{
    AddOptions, Config, DelayedCopy, ItemExponential, Lease, Outcome, Priority, Queue, Shutdown, WorkQueue,
};

use super::{World, handler::Mood};
use crate::{
    config::MillConfig,
    fact::{Fact, Probe, QueueId},
    op::{Ending, How},
};

/// A work queue that is open, or was shut down and is not yet drained.
#[derive(Clone)]
pub(crate) struct Mill {
    pub(crate) id: QueueId,
    queue: Queue<u8, ManualClock>,
    config: MillConfig,
    probe: Probe,
    clock: ManualClock,
    mood: Arc<Mood>,
    rng: Arc<Mutex<Rng>>,
}

impl Mill {
    fn add(&self, item: u8, how: How) {
        let after = Duration::from_millis(how.after_ms.into());
        let options = if how.limited {
            AddOptions::rate_limited()
        } else {
            AddOptions::after(after)
        };
        self.probe.note(Fact::Queued {
            queue: self.id,
            item,
            after: (!how.limited).then_some(after),
            priority: how.priority,
        });
        self.queue.add(item, options.priority(how.priority));
    }

    fn shut_down(&self, how: Shutdown) {
        let mut left = self.queue.shut_down(how);
        left.sort_unstable();
        self.probe.note(Fact::ShutDown {
            queue: self.id,
            how,
            left,
        });
    }

    /// Takes items until there will be no more.
    async fn work(self) {
        while let Some(lease) = self.queue.take().await {
            self.probe.note(Fact::Taken {
                queue: self.id,
                item: *lease,
            });
            let (takes, how) = {
                let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
                let takes = rng.range(0..u64::from(self.config.slow_ms) + 1);
                (Duration::from_millis(takes), rng.range(0..100))
            };
            if !takes.is_zero() && !self.mood.is_calm() {
                self.clock.sleep_until(self.clock.now() + takes).await;
            }
            self.finish(lease, how);
        }
    }

    fn finish(&self, lease: Lease<u8>, how: u64) {
        let retries = u64::from(self.config.retry_percent);
        let again = retries + u64::from(self.config.retry_after_percent);
        let drops = again + u64::from(self.config.drop_percent);
        let outcome = if self.mood.is_calm() || how >= drops {
            Outcome::Forget
        } else if how < retries {
            Outcome::Retry
        } else if how < again {
            Outcome::RetryAfter(Duration::from_millis(900))
        } else {
            Outcome::Done
        };
        self.probe.note(Fact::Worked {
            queue: self.id,
            item: *lease,
            outcome,
        });
        if outcome == Outcome::Done {
            drop(lease);
        } else {
            lease.finish(outcome);
        }
    }

    /// Adds items of the highest priority again and again.
    async fn flood(self, keys: u8, until: std::time::Instant) {
        const EVERY: Duration = Duration::from_millis(20);
        while self.clock.now() < until && !self.mood.is_calm() && !self.queue.is_shutting_down() {
            for key in 0..keys {
                let how = How {
                    after_ms: 0,
                    limited: false,
                    priority: crate::op::PRIORITIES.1,
                };
                self.add(100 + key, how);
            }
            self.clock.sleep_until(self.clock.now() + EVERY).await;
        }
    }

    /// Waits until it is drained, and ends it harder when that takes too long.
    async fn drain(self, deadline: Duration) {
        let late = self.clock.sleep_until(self.clock.now() + deadline);
        let in_time = tokio::select! {
            biased;
            () = self.queue.drained() => true,
            () = late => false,
        };
        if !in_time {
            self.shut_down(Shutdown::Now);
            self.queue.drained().await;
        }
        self.probe.note(Fact::Drained { queue: self.id });
    }

    /// Whether nothing waits and nothing runs.
    pub(crate) fn is_idle(&self) -> bool {
        let stats = self.queue.stats();
        stats.ready + stats.delayed + stats.running == 0
    }
}

impl World {
    /// Opens the work queue, where the world has one.
    pub(super) fn open_mill(&mut self) {
        let Some(config) = self.config.mill.clone() else {
            return;
        };
        let id = self.next_id();
        let worth = Duration::from_millis(config.level_worth_ms.into());
        let limiter = ItemExponential::new(
            Duration::from_millis(config.base_ms.into()),
            Duration::from_millis(config.max_ms.into()),
        );
        let parts = Config::default()
            .limiter(limiter)
            .order(Priority::aging(worth))
            .delayed_copy(if config.absorb {
                DelayedCopy::Absorb
            } else {
                DelayedCopy::Keep
            });
        let mill = Mill {
            id,
            queue: Queue::with(parts, self.clock.clone()),
            probe: self.probe.clone(),
            clock: self.clock.clone(),
            mood: Arc::default(),
            rng: Arc::new(Mutex::new(self.rng.fork())),
            config: config.clone(),
        };
        self.note(Fact::Opened { queue: id, config });
        for _ in 0..mill.config.workers {
            let worker = self.spawn(mill.clone().work());
            self.hands.push(worker);
        }
        self.mill = Some(mill);
    }

    pub(super) fn add_to_mill(&self, item: u8, how: How) {
        if let Some(mill) = &self.mill {
            mill.add(item, how);
        }
    }

    pub(super) fn flood_mill(&mut self, keys: u8, ms: u32) {
        if let Some(mill) = self.mill.clone() {
            let until = self.clock.now() + Duration::from_millis(ms.into());
            let task = self.spawn(mill.flood(keys, until));
            self.hands.push(task);
        }
    }

    /// Shuts the queue down.
    pub(super) fn drain_mill(&mut self, how: Ending, deadline: Duration) {
        if let Some(mill) = self.mill.take() {
            mill.shut_down(match how {
                Ending::Drain => Shutdown::Drain { queued: true },
                Ending::Finish => Shutdown::Drain { queued: false },
                Ending::Now => Shutdown::Now,
            });
            let task = self.spawn(mill.drain(deadline));
            self.hands.push(task);
        }
    }

    pub(super) fn calm_mill(&self) {
        if let Some(mill) = &self.mill {
            mill.mood.calm();
        }
    }
}
