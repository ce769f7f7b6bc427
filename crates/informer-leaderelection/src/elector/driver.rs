//! Performs what the machine says. Holds no rule.

use std::{error::Error, pin::pin, sync::Arc};

use informer_core::{BoxClock, BoxFuture, Clock};
use tokio::sync::watch;

use super::{Elector, Hook};
use crate::{
    Action, End, Event, Input, Lock, LockError, Machine, Metrics, MicroTime, Observed, Options, Why,
    leadership::{Reign, View},
};

pub(super) type Work<F> = Box<dyn FnOnce() -> F + Send>;

pub(super) struct Driver<L> {
    lock: L,
    options: Options,
    seed: u64,
    clock: BoxClock,
    wall: Arc<dyn Fn() -> MicroTime + Send + Sync>,
    told: Told,
}

/// Those who are told. When it is dropped, whoever still believes that this process leads hears that it does not.
struct Told {
    view: watch::Sender<View>,
    metrics: Arc<dyn Metrics>,
    hooks: Vec<Hook>,
    name: Arc<str>,
    identity: Arc<str>,
}

impl<L: Lock> Driver<L> {
    pub(super) fn new(elector: Elector<L>) -> Self {
        let told = Told {
            view: elector.view,
            metrics: elector.metrics,
            hooks: elector.hooks,
            name: elector.options.name.clone(),
            identity: elector.options.identity.clone(),
        };
        Self {
            lock: elector.lock,
            options: elector.options,
            seed: elector.seed,
            clock: elector.clock,
            wall: elector.wall,
            told,
        }
    }

    pub(super) async fn run<F: Future<Output = ()> + Send>(
        self,
        stop: impl Future<Output = ()> + Send,
        mut work: Option<Work<F>>,
    ) -> End {
        let Self {
            lock,
            options,
            seed,
            clock,
            wall,
            told,
        } = self;
        told.metrics.leading(&told.name, false);
        tracing::info!("attempting to acquire the lease");
        let mut machine = match Machine::new(options, seed, clock.now()) {
            Ok(machine) => machine,
            // Checked when the elector was made.
            Err(error) => {
                tracing::error!(%error, "the options are not valid");
                return End::Stopped { released: false };
            }
        };
        let has_work = work.is_some();
        let mut stop = pin!(stop);
        let mut stopped = false;
        let mut call: Option<BoxFuture<'_, Input>> = None;
        let mut running: std::pin::Pin<Box<Option<F>>> = Box::pin(None);
        loop {
            while let Some(action) = machine.poll_action() {
                match action {
                    Action::Read => {
                        call = Some(Box::pin(async { answer(lock.get().await.map(Input::Read)) }))
                    }
                    Action::Create(mut record) => {
                        record.stamp(wall());
                        let create = lock.create(record);
                        call = Some(Box::pin(async { answer(create.await.map(Input::Written)) }));
                    }
                    Action::Update { mut record, at } | Action::Release { mut record, at } => {
                        record.stamp(wall());
                        let update = lock.update(record, at);
                        call = Some(Box::pin(async { answer(update.await.map(Input::Written)) }));
                    }
                    Action::Abandon => call = None,
                    Action::StartedLeading(term) => {
                        told.started(&machine, term);
                        if let Some(work) = work.take() {
                            running.set(Some(work()));
                        }
                    }
                    Action::EndWork => told.ending(),
                    Action::StoppedLeading(why) => {
                        told.stopped(why);
                        running.set(None);
                    }
                    Action::NewLeader(identity) => told.new_leader(identity),
                    Action::SlowPath => told.metrics.slow_path(&told.name),
                    Action::Ended(end) => return end,
                }
            }
            told.renewed(&machine);
            let wake = machine.poll_timeout();
            let due = async {
                match wake {
                    Some(at) => clock.sleep_until(at).await,
                    None => std::future::pending().await,
                }
            };
            let is_working = running.is_some();
            let inputs = tokio::select! {
                biased;
                () = &mut stop, if !stopped => {
                    stopped = true;
                    [Some(Input::Stop), (!has_work).then_some(Input::WorkEnded)]
                }
                input = answered(&mut call), if call.is_some() => {
                    call = None;
                    [Some(input), None]
                }
                () = worked(&mut running), if is_working => {
                    running.set(None);
                    [Some(Input::WorkEnded), (!stopped).then_some(Input::Stop)]
                }
                () = due => [None, None],
            };
            let now = clock.now();
            machine.handle_timeout(now);
            for input in inputs.into_iter().flatten() {
                machine.handle_input(now, input);
            }
        }
    }
}

fn answer(result: Result<Input, LockError>) -> Input {
    result.unwrap_or_else(|error| {
        let cause = error.source().map(tracing::field::display);
        tracing::debug!(%error, cause, failure = ?error.failure(), "a request for the lease failed");
        Input::Failed(error.failure())
    })
}

async fn answered(call: &mut Option<BoxFuture<'_, Input>>) -> Input {
    match call {
        Some(call) => call.await,
        None => std::future::pending().await,
    }
}

async fn worked<F: Future<Output = ()>>(running: &mut std::pin::Pin<Box<Option<F>>>) {
    match running.as_mut().as_pin_mut() {
        Some(work) => work.await,
        None => std::future::pending().await,
    }
}

impl Told {
    fn started(&self, machine: &Machine, term: crate::Term) {
        tracing::info!(%term, "became leader");
        let until = machine.leads_until();
        self.view.send_modify(|view| {
            view.has_led = true;
            view.reign = until.map(|until| Reign {
                term: term.clone(),
                until,
            });
        });
        self.metrics.leading(&self.name, true);
        let identity = self.identity.clone();
        self.hear(&Event::BecameLeader { identity, term });
    }

    fn ending(&self) {
        tracing::info!("stopping: waiting for the guarded work");
        self.view.send_modify(|view| view.ending = true);
    }

    fn stopped(&self, why: Why) {
        match &why {
            Why::Stopped => tracing::info!("stopped leading"),
            Why::Lost(loss) => tracing::warn!(%loss, "stopped leading: the lease is lost"),
        }
        self.view.send_modify(|view| view.reign = None);
        self.metrics.leading(&self.name, false);
        let identity = self.identity.clone();
        self.hear(&Event::StoppedLeading { identity, why });
    }

    fn new_leader(&self, identity: Arc<str>) {
        tracing::info!(leader = %identity, "the lease names another holder");
        self.hear(&Event::NewLeader { identity });
    }

    /// Follows what the machine knows by now.
    fn renewed(&self, machine: &Machine) {
        let observed: Option<&Observed> = machine.observed().map(|(observed, _)| observed);
        let version = observed.map(|observed| &observed.version);
        let until = machine.leads_until();
        self.view.send_if_modified(|view| {
            let mut modified = false;
            if let (Some(reign), Some(until)) = (&mut view.reign, until) {
                modified |= reign.until != until;
                reign.until = until;
            }
            if view.version.as_ref() != version || view.leader.as_ref() != machine.leader() {
                view.version = version.cloned();
                view.leader = machine.leader().cloned();
                modified = true;
            }
            modified
        });
    }

    fn hear(&self, event: &Event) {
        for hook in &self.hooks {
            hook(event);
        }
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        let led = self.view.borrow().reign.is_some();
        self.view.send_modify(|view| {
            view.reign = None;
            view.ending = true;
            view.ended = true;
        });
        if led {
            self.metrics.leading(&self.name, false);
        }
    }
}
