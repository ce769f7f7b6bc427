//! Does what the machine says.

use std::{sync::Arc, time::Duration};

use informer_core::{Clock, Delta, DeltaSink, FailureClass, KeyFunc, ListerWatcher, ResourceVersion};

use crate::{
    Phase, Problem, ReflectorError, Request,
    ingest::Unusable,
    log,
    machine::{Action, Failed, Input},
    open::Open,
    session::{Session, chain},
    steps::Steps,
};

impl<L, F, S, C> Session<L, F, S, C>
where
    L: ListerWatcher,
    F: KeyFunc<L::Object>,
    S: DeltaSink<F::Key, L::Object>,
    C: Clock,
{
    /// Does all that the machine wants done.
    pub(crate) fn perform(&mut self) {
        let mut pushed = false;
        while let Some(action) = self.machine.poll_action() {
            if let Some(meter) = &mut self.hooks.meter {
                meter.action(self.clock.now(), &action, self.machine.status());
            }
            pushed |= self.act(action);
        }
        self.at_hand = None;
        self.cause = None;
        if pushed && let Some(applied) = self.sink.applied() {
            self.machine.handle_applied(applied);
        }
        self.measure();
        self.show();
        if let Some(mut steps) = self.steps.take_if(|steps| steps.is_synced()) {
            let now = self.clock.now();
            steps.version_set(now);
            steps.finish(now, &self.life.labels);
        }
    }

    /// Returns whether something went to the sink.
    fn act(&mut self, action: Action) -> bool {
        match action {
            Action::OpenList(request) => {
                log::list(&self.life.labels, &request);
                if request.token.is_none() {
                    self.begin_steps("list");
                }
                self.open = Open::Wanted(Request::List(request));
            }
            Action::OpenWatch(request) => {
                log::watch(&self.life.labels, &request);
                if request.initial_events {
                    self.begin_steps("streaming list");
                }
                self.open = Open::Wanted(Request::Watch(request));
            }
            Action::Close => self.open = Open::Nothing,
            Action::Keep => self
                .at_hand
                .take()
                .into_iter()
                .for_each(|held| self.buffer.keep(held)),
            Action::Forget => self.buffer.forget(),
            Action::Publish { at, may_rewind } => {
                self.publish(at, may_rewind);
                return true;
            }
            Action::Deliver => {
                if let Some(held) = self.at_hand.take() {
                    self.sink.push(held.into());
                    return true;
                }
            }
            Action::Bookmark(at) => {
                self.sink.push(Delta::Bookmark {
                    at,
                    may_rewind: false,
                });
                return true;
            }
            Action::Resync => return self.resync(),
            Action::Report {
                problem,
                message,
                retry_in,
            } => self.problem(problem, message, retry_in),
            Action::Note(note) => log::note(&self.life.labels, &note),
        }
        false
    }

    fn publish(&mut self, at: ResourceVersion, may_rewind: bool) {
        let (items, unreadable) = self.buffer.take();
        if let Some(steps) = &mut self.steps {
            steps.objects_read(self.clock.now());
        }
        self.sink.push(Delta::Replace {
            items,
            unreadable,
            at,
            may_rewind,
        });
        if let Some(steps) = &mut self.steps {
            steps.synced(self.clock.now());
        }
    }

    fn begin_steps(&mut self, how: &'static str) {
        self.end_steps();
        self.steps = Some(Steps::new(how, self.clock.now()));
    }

    fn end_steps(&mut self) {
        if let Some(steps) = self.steps.take() {
            steps.finish(self.clock.now(), &self.life.labels);
        }
    }

    fn resync(&mut self) -> bool {
        let outcome = self.hooks.wants_resync().and_then(|wanted| {
            if wanted {
                log::resync(&self.life.labels);
                self.sink.resync()?;
            }
            Ok(wanted)
        });
        let now = self.clock.now();
        match outcome {
            Ok(wanted) => {
                self.machine.handle_input(now, Input::Resynced);
                wanted
            }
            Err(error) => {
                let failed = Failed {
                    class: FailureClass::Internal,
                    retry_after: None,
                    message: chain(&*error).into(),
                };
                self.cause = Some(error.into());
                self.machine.handle_input(now, Input::ResyncFailed(failed));
                true
            }
        }
    }

    fn measure(&mut self) {
        let Some(meter) = &mut self.hooks.meter else {
            return;
        };
        let status = self.machine.status();
        if status.phase == Phase::Watching && !meter.is_watching() {
            meter.watch_began(self.clock.now(), status);
        }
        meter.settled(&status.version);
    }

    fn show(&mut self) {
        let (status, revision) = (self.machine.status(), self.machine.revision());
        if self.shown != revision {
            self.shown = revision;
            self.life.board.publish(status);
        } else if status.phase != Phase::BackingOff {
            self.life.board.progress(status);
        }
    }

    fn problem(&mut self, problem: Problem, message: Arc<str>, retry_in: Duration) {
        if matches!(problem, Problem::List(_) | Problem::StreamingList(_)) {
            self.end_steps();
        }
        let cause = self.cause.take();
        let message = cause.as_ref().map_or(message, |cause| cause.to_string().into());
        self.report(&ReflectorError {
            reflector: self.life.labels.name.clone(),
            problem,
            message,
            retry_in: Some(retry_in),
            cause,
        });
    }

    pub(crate) fn unusable(&mut self, Unusable { problem, cause }: Unusable) {
        self.machine.handle_unusable(chain(&*cause));
        if let Some(meter) = &self.hooks.meter {
            meter.unusable(problem);
        }
        self.report(&ReflectorError {
            reflector: self.life.labels.name.clone(),
            problem,
            message: cause.to_string().into(),
            retry_in: None,
            cause: Some(cause),
        });
    }

    fn report(&self, error: &ReflectorError) {
        let labels = &self.life.labels;
        log::error(labels, error, self.machine.status());
        self.hooks.report(error, labels);
    }
}
