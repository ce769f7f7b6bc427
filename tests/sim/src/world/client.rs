//! Clients: an informer with its handlers, started, stopped and started again.

use std::{
    panic::resume_unwind,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use informer_client::Client;
use informer_core::{IndexError, IndexFunc};
use informer_deltafifo::InOrder;
use informer_reflector::{FirstVersion, Options, Start};
use informer_sharedinformer::{Phase, QueueKind, SharedInformer};
use informer_testkit::Rng;
use informer_transport::Selectors;
use tokio::task::JoinHandle;

use super::{Member, World};
use crate::{
    config::{HandlerConfig, InformerConfig},
    fact::{Fact, InformerId},
    net::Wire,
    outcome::Violation,
    stutter::Stutter,
    thing::{self, Thing, Which},
};

/// An index function that is not always sure of itself.
struct ByColor {
    fail: u64,
    panic: u64,
    sure: Arc<AtomicBool>,
    rng: Mutex<Rng>,
}

impl IndexFunc<Thing> for ByColor {
    fn values(&self, thing: &Thing, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        if self.fail + self.panic > 0 && !self.sure.load(Ordering::Relaxed) {
            let mut rng = self.rng.lock().unwrap_or_else(PoisonError::into_inner);
            let drawn = rng.range(0..100);
            drop(rng);
            if drawn < self.fail {
                // What was emitted before counts for nothing.
                emit("nothing");
                return Err(IndexError::new("it was told to fail"));
            }
            if drawn < self.panic {
                resume_unwind(Box::new("the index function was told to panic"));
            }
        }
        emit(thing.color().as_str());
        Ok(())
    }
}

impl World {
    /// Starts the informer of a place in the configuration, with its handlers.
    pub(super) fn start_client(&mut self, place: usize) -> Result<(), Violation> {
        let config = self.config.informers[place].clone();
        let id = self.next_id();
        let sure = Arc::new(AtomicBool::new(false));
        let informer = self.build(id, &config, sure.clone())?;
        let store = informer.store();
        let run = {
            let (informer, probe) = (informer.clone(), self.probe.clone());
            async move {
                if let Ok(ended) = informer.run().await {
                    probe.note(Fact::Ended {
                        informer: id,
                        still_running: ended.still_running.len(),
                    });
                }
            }
        };
        let longest = Duration::from_millis(config.stutter_ms.into());
        let percent = config.stutter_percent;
        let (clock, idle, rng) = (self.clock.clone(), self.idle.clone(), self.rng.fork());
        let member = Member {
            id,
            store,
            handlers: Vec::new(),
            // Handlers that are there before the start are told the first list; the task begins to run later.
            task: self.spawn(Stutter::new(run, clock, idle, rng, percent, longest)),
            informer,
            sure,
            config,
        };
        self.note(Fact::Started { informer: id });
        let handlers = member.config.handlers.clone();
        let at = place.min(self.members.len());
        self.members.insert(at, member);
        self.add_handler(at, &HandlerConfig::reference(), true)?;
        for handler in &handlers {
            self.add_handler(at, handler, false)?;
        }
        if place == 0 {
            self.start_controller()?;
        }
        Ok(())
    }

    fn build(
        &mut self,
        id: InformerId,
        config: &InformerConfig,
        sure: Arc<AtomicBool>,
    ) -> Result<SharedInformer<informer_core::ObjectKey, Thing>, Violation> {
        let wire = Wire::new(self.network.clone(), id, self.rng.fork());
        let mut api = Client::new(wire).objects::<Thing>(thing::resource(config.kind));
        let selectors = match config.which {
            Which::Red => Selectors::all().labels("color=red"),
            Which::All | Which::NamespaceA => Selectors::all(),
        };
        if config.which == Which::NamespaceA {
            api = api.in_namespace("a");
        }
        let sizes = informer_deltafifo::Options::new(config.batch.into(), config.high_water.into());
        let probe = self.probe.clone();
        let mut builder = SharedInformer::builder(api.source(selectors))
            .name(format!("i{id}"))
            .reflector_options(self.options(config))
            .clock(self.clock.clone())
            .index(
                "color",
                ByColor {
                    fail: config.index_fail_percent.into(),
                    panic: config.index_panic_percent.into(),
                    sure,
                    rng: Mutex::new(self.rng.fork()),
                },
            )
            .index("namespace", |thing: &Thing, emit: &mut dyn FnMut(&str)| {
                emit(thing.namespace());
            })
            .on_error(move |trouble| {
                probe.note(Fact::Trouble {
                    informer: id,
                    what: trouble.to_string(),
                });
            });
        if let Some(seconds) = config.resync_s {
            builder = builder.resync(Duration::from_secs(seconds.into()));
        }
        builder = builder.queue(if config.coalescing {
            QueueKind::Coalescing
        } else {
            QueueKind::Custom(Box::new(InOrder::new(sizes)))
        });
        builder
            .build()
            .map_err(|error| Violation::new("build", error.to_string()))
    }

    fn options(&mut self, config: &InformerConfig) -> Options {
        let mut options = Options::default();
        options.start = if config.streaming {
            Start::StreamingList
        } else {
            Start::List
        };
        options.first_version = if config.any_version {
            FirstVersion::Any
        } else {
            FirstVersion::MostRecent
        };
        options.page_size = config.page.map(u32::from);
        options.max_internal_error_retry = Duration::from_secs(config.internal_retry_s.into());
        options.seed = Some(self.rng.bits());
        options
    }

    /// Stops an informer and starts another one in its place.
    pub(super) fn restart_client(&mut self, at: usize, orderly: bool) -> Result<(), Violation> {
        self.stop_client(at, orderly);
        self.start_client(at)
    }

    /// Stops an informer: it is told to, or its run is dropped.
    pub(super) fn stop_client(&mut self, at: usize, orderly: bool) {
        if at == 0 {
            self.stop_controller(orderly);
        }
        let member = self.members.remove(at);
        self.note(Fact::Stopping { informer: member.id });
        // A run that was never polled has not begun: dropping it ends nothing.
        if orderly || member.informer.status().phase == Phase::Idle {
            member.informer.stop();
        } else {
            member.task.abort();
        }
        for handler in &member.handlers {
            handler.mood.calm();
        }
        self.leaving.push(member.task);
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "the world owns its tasks, and ends with its runtime"
    )]
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        tokio::spawn(task)
    }
}
