//! Handlers: quick or slow, on a task or as a stream, panicking at times; each writes down what it is told.

use std::{
    panic::resume_unwind,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU8, Ordering},
    },
    time::Duration,
};

use informer_core::{Change, Clock, ObjectKey, Store};
use informer_sharedinformer::{BacklogPolicy, HandlerOptions, Resync};
use informer_testkit::{ManualClock, Rng};

use super::{Handler, World};
use crate::{
    config::{HandlerConfig, Policy, Style},
    fact::{Fact, HandlerId, InformerId, Probe},
    outcome::Violation,
    thing::Thing,
};

/// What the world can change about a handler while it runs.
#[derive(Debug, Default)]
pub(crate) struct Mood {
    panics: AtomicU8,
    calm: AtomicBool,
}

impl Mood {
    pub(super) fn panic(&self, times: u8) {
        self.panics.store(times, Ordering::Relaxed);
    }

    /// It neither panics nor takes its time any more.
    pub(super) fn calm(&self) {
        self.panics.store(0, Ordering::Relaxed);
        self.calm.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_calm(&self) -> bool {
        self.calm.load(Ordering::Relaxed)
    }

    fn panics_now(&self, rng: &mut Rng, percent: u8) -> bool {
        let drawn = rng.range(0..100) < u64::from(percent);
        let told = self.panics.load(Ordering::Relaxed) > 0;
        if told {
            self.panics.fetch_sub(1, Ordering::Relaxed);
        }
        (drawn || told) && !self.is_calm()
    }
}

/// What is the same in handlers of every style.
#[derive(Clone)]
struct Ear {
    informer: InformerId,
    handler: HandlerId,
    store: Arc<dyn Store<ObjectKey, Thing>>,
    probe: Probe,
    clock: ManualClock,
    config: HandlerConfig,
    mood: Arc<Mood>,
    rng: Arc<Mutex<Rng>>,
}

impl Ear {
    /// A call begins. Returns how long it takes, and whether it will panic.
    fn told(&self, change: &Change<ObjectKey, Thing>) -> (Duration, bool) {
        let snapshot = self.store.snapshot();
        self.probe.note(Fact::Told {
            informer: self.informer,
            handler: self.handler,
            change: change.clone(),
            stored: snapshot.get(change.key()).map(|entry| entry.stamp.clone()),
            applied: snapshot.applied().clone(),
        });
        let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
        let takes = Duration::from_millis(rng.range(0..u64::from(self.config.slow_ms) + 1));
        (takes, self.mood.panics_now(&mut rng, self.config.panic_percent))
    }

    /// It ends, one way or the other.
    fn returns(&self, panics: bool) {
        self.probe.note(Fact::Returned {
            informer: self.informer,
            handler: self.handler,
            panicked: panics,
        });
        if panics {
            // Not `panic!`: nobody needs to read of it.
            resume_unwind(Box::new("the handler was told to panic"));
        }
    }

    async fn take_time(&self, takes: Duration) {
        if !takes.is_zero() && !self.mood.is_calm() {
            self.clock.sleep_until(self.clock.now() + takes).await;
        }
    }
}

impl World {
    /// Adds a handler to an informer.
    pub(super) fn add_handler(
        &mut self,
        at: usize,
        config: &HandlerConfig,
        is_reference: bool,
    ) -> Result<(), Violation> {
        let id = self.next_id();
        let member = &self.members[at];
        let mood = Arc::new(Mood::default());
        let ear = Ear {
            informer: member.id,
            handler: id,
            store: member.store.clone(),
            probe: self.probe.clone(),
            clock: self.clock.clone(),
            config: config.clone(),
            mood: mood.clone(),
            rng: Arc::new(Mutex::new(self.rng.fork())),
        };
        let informer = member.informer.clone();
        self.note(Fact::Joined {
            informer: member.id,
            handler: id,
        });
        let options = options(id, config);
        let added = match config.style {
            Style::Sync => informer.add_handler(
                move |change: &Change<ObjectKey, Thing>| {
                    let (_, panics) = ear.told(change);
                    ear.returns(panics);
                },
                options,
            ),
            Style::Async => informer.add_async_handler(
                move |change: Change<ObjectKey, Thing>| {
                    let ear = ear.clone();
                    let (takes, panics) = ear.told(&change);
                    async move {
                        ear.take_time(takes).await;
                        ear.returns(panics);
                    }
                },
                options,
            ),
            Style::Stream => informer.subscribe(options).map(|mut stream| {
                let registration = stream.registration();
                let task = async move {
                    while let Some(change) = stream.next().await {
                        let (takes, _) = ear.told(&change);
                        ear.take_time(takes).await;
                        ear.returns(false);
                    }
                };
                drop(self.spawn(task));
                registration
            }),
        };
        let registration = added.map_err(|stopped| Violation::new("add handler", stopped.to_string()))?;
        self.members[at].handlers.push(Handler {
            id,
            config: config.clone(),
            registration,
            is_reference,
            mood,
        });
        Ok(())
    }
}

fn options(id: HandlerId, config: &HandlerConfig) -> HandlerOptions {
    let limit = config.limit.into();
    HandlerOptions::named(format!("h{id}"))
        .resync(if config.resync {
            Resync::Inherit
        } else {
            Resync::Never
        })
        .backlog(match config.policy {
            Policy::Unbounded => BacklogPolicy::Unbounded,
            Policy::Merge => BacklogPolicy::Merge { limit },
            Policy::Block => BacklogPolicy::Block { limit },
        })
}
