//! Performs what the machine says. Holds no rule.

mod outcome;

use std::{collections::BTreeMap, future::pending, sync::Arc};

use ahash::AHashMap;
use informer_core::Clock;
use tokio::{
    select,
    sync::watch,
    task::{self, AbortHandle, JoinError, JoinSet},
};
use tracing::Instrument;

use self::outcome::{CutOff, Outcome};
use crate::{
    BoxError, Candidate, Life, Report, RunError, Seat, Signals, Stop,
    machine::{Action, Id, Input, Reason},
    report::chain_of,
    shared::Shared,
};

pub(crate) struct Driver {
    shared: Arc<Shared>,
    how: Stop,
    candidate: Option<Box<dyn Candidate>>,
    tasks: JoinSet<Result<(), BoxError>>,
    /// Looked up only, never iterated.
    roles: AHashMap<task::Id, Role>,
    running: BTreeMap<Id, Run>,
    election: Option<Campaign>,
    outcome: Outcome,
}

/// What a task is for.
#[derive(Debug, Clone, Copy)]
enum Role {
    Run(Id),
    Ready(Id),
    Election,
}

struct Run {
    life: Life,
    stop: watch::Sender<Option<Stop>>,
    task: AbortHandle,
    ready: AbortHandle,
}

struct Campaign {
    resign: watch::Sender<bool>,
    task: AbortHandle,
}

impl Driver {
    pub(crate) fn new(shared: Arc<Shared>, how: Stop, candidate: Option<Box<dyn Candidate>>) -> Self {
        Self {
            shared,
            how,
            candidate,
            tasks: JoinSet::new(),
            roles: AHashMap::new(),
            running: BTreeMap::new(),
            election: None,
            outcome: Outcome::default(),
        }
    }

    pub(crate) async fn run(mut self, mut signals: Signals) -> Result<Report, RunError> {
        self.shared.input(Input::Start);
        loop {
            while let Some(action) = self.shared.poll_action() {
                if action == Action::Finish {
                    return std::mem::take(&mut self.outcome).end(&self.shared);
                }
                self.perform(action);
                self.shared.step();
            }
            let timeout = self.shared.poll_timeout();
            select! {
                biased;
                Some(ended) = self.tasks.join_next_with_id() => self.joined(ended),
                () = self.shared.wake.notified() => {}
                input = signals.next() => self.shared.input(input),
                () = sleep_until(&self.shared, timeout) => {
                    let now = self.shared.clock.now();
                    self.shared.with(|machine| machine.handle_timeout(now));
                }
            }
            self.shared.step();
        }
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Launch(id) => self.launch(id),
            Action::Stop(id) => {
                if let Some(run) = self.running.get(&id) {
                    run.stop.send_replace(Some(self.how));
                }
            }
            Action::Cut(id) => self.cut(id),
            Action::Late(id) => {
                self.outcome.tardy = self.shared.slot(id, |slot| slot.name.clone());
                tracing::warn!(name = self.outcome.tardy.as_deref(), "Not ready in time");
                // Nobody waits for it any more.
                if let Some(run) = self.running.get(&id) {
                    run.ready.abort();
                }
            }
            Action::Campaign => self.campaign(),
            Action::Lead => {
                tracing::info!("Leading");
                self.shared.leading.send_replace(true);
            }
            Action::Follow => {
                self.shared.leading.send_replace(false);
            }
            Action::Resign => {
                if let Some(campaign) = &self.election {
                    campaign.resign.send_replace(true);
                }
            }
            Action::CutElection => {
                if let Some(campaign) = &self.election {
                    campaign.task.abort();
                }
            }
            Action::Stopping(reason) => tracing::info!(?reason, "Stopping"),
            Action::Finish => {}
        }
    }

    fn launch(&mut self, id: Id) {
        let Some((name, runnable)) = self.shared.take(id) else {
            return;
        };
        tracing::debug!(name = &*name, "Started");
        let (stop, stopped) = watch::channel(None);
        let life = Life::new(stopped, self.shared.leading.subscribe());
        let ready = runnable.ready();
        let ready = self.spawn(Role::Ready(id), async {
            ready.await;
            Ok(())
        });
        let span = tracing::info_span!("runnable", name = &*name);
        let (given, inner) = (life.clone(), span.clone());
        // `run` itself may panic as well.
        let task = async move { inner.in_scope(|| runnable.run(given)).await };
        let task = self.spawn(Role::Run(id), task.instrument(span));
        let run = Run {
            life,
            stop,
            task,
            ready,
        };
        self.running.insert(id, run);
    }

    fn campaign(&mut self) {
        let Some(candidate) = self.candidate.take() else {
            return;
        };
        let (resign, resigned) = watch::channel(false);
        let seat = Seat::new(self.shared.clone(), resigned);
        let task = self.spawn(Role::Election, async move { candidate.campaign(seat).await });
        self.election = Some(Campaign { resign, task });
    }

    fn cut(&mut self, id: Id) {
        if let Some(run) = self.running.get(&id) {
            let busy = run.life.busy();
            let off = self.shared.slot(id, |slot| CutOff {
                name: slot.name.clone(),
                group: slot.group,
                busy,
            });
            self.outcome.cut.extend(off.map(|off| (id, off)));
            run.stop.send_replace(Some(Stop::Cancel));
            run.task.abort();
        }
    }

    fn spawn(
        &mut self,
        role: Role,
        task: impl Future<Output = Result<(), BoxError>> + Send + 'static,
    ) -> AbortHandle {
        let handle = self.tasks.spawn(task);
        self.roles.insert(handle.id(), role);
        handle
    }

    fn joined(&mut self, joined: Result<(task::Id, Result<(), BoxError>), JoinError>) {
        let (task, result) = match joined {
            Ok((task, result)) => (task, result),
            Err(error) => (error.id(), of_join(error)),
        };
        match self.roles.remove(&task) {
            Some(Role::Ready(id)) => self.shared.input(Input::Ready(id)),
            Some(Role::Run(id)) => self.ended(id, result),
            Some(Role::Election) => {
                let failed = result.is_err();
                if let Err(error) = &result {
                    tracing::error!(error = chain_of(error), "The candidate failed");
                }
                self.outcome.election = result.err();
                self.shared.input(Input::ElectionEnded { failed });
            }
            None => {}
        }
    }

    fn ended(&mut self, id: Id, result: Result<(), BoxError>) {
        let (reason, slot) = self.shared.ended(id, result.is_err());
        let undone = self.running.remove(&id).map(|run| {
            run.ready.abort();
            run.life.take_undone()
        });
        let Some(slot) = slot else {
            return;
        };
        let first = reason == Some(Reason::Failed(id));
        self.outcome
            .record(slot.name, undone.unwrap_or_default(), result, first);
    }
}

/// Whoever was told of the manager's end by nobody else: its future was dropped, or it ended.
impl Drop for Driver {
    fn drop(&mut self) {
        self.shared.input(Input::Force);
        self.shared.leading.send_replace(false);
        self.shared.step();
    }
}

async fn sleep_until(shared: &Shared, at: Option<std::time::Instant>) {
    match at {
        Some(at) => shared.clock.sleep_until(at).await,
        None => pending().await,
    }
}

/// A panic is an error. What was cut, was cut by us.
fn of_join(error: JoinError) -> Result<(), BoxError> {
    let Ok(panic) = error.try_into_panic() else {
        return Ok(());
    };
    let message = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message");
    Err(format!("panicked: {message}").into())
}
