//! What a running reflector holds: does what the machine says, and tells it what happened.

use std::{error::Error, fmt::Write, sync::Arc, time::Instant};

use informer_core::{
    Cause, Classify, Clock, DecodeError, Decoded, Delta, DeltaSink, KeyFunc, Listed, ListerWatcher,
    ResourceVersion, Watched,
};

use crate::{
    Phase, Problem, ReflectorError,
    buffer::Buffer,
    ingest::{Held, Ingest, Ingested, Unusable, guarded},
    log,
    machine::{Action, Failed, Input, Machine, What},
    metrics::Meter,
    open::{Event, Open, Request},
    status::StatusBoard,
};

pub(crate) type Hook = Arc<dyn Fn(&ReflectorError) + Send + Sync>;

/// All but what a pending request borrows.
pub(crate) struct Session<L: ListerWatcher, F: KeyFunc<L::Object>, S, C: Clock> {
    machine: Machine,
    /// Revision of the status that was shown last.
    shown: u64,
    pub(crate) open: Open<L>,
    ingest: Ingest<L::Object, F>,
    at_hand: Option<Held<F::Key, L::Object>>,
    buffer: Buffer<F::Key, L::Object>,
    /// The source's error that the machine is being told of.
    cause: Option<Arc<dyn Error + Send + Sync>>,
    pub(crate) sink: S,
    clock: C,
    hooks: Vec<Hook>,
    name: Arc<str>,
    meter: Option<Meter>,
    board: StoppedOnDrop<C>,
}

/// The status, which says so when the reflector is gone, whether it ran or not.
pub(crate) struct StoppedOnDrop<C: Clock> {
    pub(crate) board: StatusBoard,
    pub(crate) clock: C,
}

impl<C: Clock> Drop for StoppedOnDrop<C> {
    fn drop(&mut self) {
        self.board.stopped(self.clock.now());
    }
}

impl<L, F, S, C> Session<L, F, S, C>
where
    L: ListerWatcher,
    F: KeyFunc<L::Object>,
    S: DeltaSink<F::Key, L::Object>,
    C: Clock,
{
    #[expect(clippy::too_many_arguments, reason = "it takes the reflector apart, once")]
    pub(crate) fn new(
        machine: Machine,
        ingest: Ingest<L::Object, F>,
        sink: S,
        clock: C,
        hooks: Vec<Hook>,
        name: Arc<str>,
        meter: Option<Meter>,
        board: StoppedOnDrop<C>,
    ) -> Self {
        Self {
            machine,
            shown: 0,
            open: Open::Nothing,
            ingest,
            at_hand: None,
            buffer: Buffer::new(),
            cause: None,
            sink,
            clock,
            hooks,
            name,
            meter,
            board,
        }
    }

    /// When something is due, at the earliest.
    pub(crate) fn wakes_at(&self) -> Instant {
        self.machine.poll_timeout()
    }

    /// Whether the next event may go to the sink. A whole state that was begun is finished in any case.
    pub(crate) fn delivers(&self) -> bool {
        matches!(self.open, Open::Watch(_)) && self.machine.status().phase == Phase::Watching
    }

    pub(crate) fn time_out(&mut self) {
        self.machine.handle_timeout(self.clock.now());
    }

    pub(crate) fn relist(&mut self) {
        self.machine.handle_input(self.clock.now(), Input::Relist);
    }

    pub(crate) fn handle(&mut self, event: Event<L>) {
        let now = self.clock.now();
        let input = self.input(event);
        self.machine.handle_input(now, input);
        // Events that never cease must not hold up what is due.
        if self.machine.poll_timeout() <= now {
            self.perform();
            self.machine.handle_timeout(now);
        }
    }

    fn input(&mut self, event: Event<L>) -> Input {
        if let (Some(meter), Event::Ended | Event::Failed(_)) = (&mut self.meter, &event) {
            meter.watch_over(self.clock.now(), self.machine.status());
        }
        match event {
            Event::ListOpened(list) => {
                self.open = Open::List(list);
                Input::Opened
            }
            Event::WatchOpened(watch) => {
                self.open = Open::Watch(watch);
                Input::Opened
            }
            Event::Listed(Listed::Item(item)) => {
                let sink = &self.sink;
                let ingested = self
                    .ingest
                    .upsert(item, Cause::Listed, |key, stamp| sink.known(key, stamp));
                self.hold(ingested);
                Input::Item
            }
            Event::Listed(Listed::End { at, token }) => {
                self.open = Open::Nothing;
                Input::ListEnd { at, token }
            }
            Event::Watched(watched) => self.watched(watched),
            Event::Ended => {
                self.open = Open::Nothing;
                Input::Ended
            }
            Event::Failed(error) => {
                self.open = Open::Nothing;
                let failed = Failed {
                    class: error.class(),
                    retry_after: error.retry_after(),
                    message: chain(&error).into(),
                };
                self.cause = Some(Arc::new(error));
                Input::Failed(failed)
            }
        }
    }

    fn watched(&mut self, watched: Watched<L::Object>) -> Input {
        match watched {
            Watched::Upsert(cause, item) => {
                let version = version(&item);
                let sink = &self.sink;
                // The initial part of a stream is a list, and most of it may be there already.
                let streaming = self.machine.status().phase == Phase::Streaming;
                let ingested = self.ingest.upsert(item, cause, |key, stamp| {
                    streaming.then(|| sink.known(key, stamp))?
                });
                self.hold(ingested);
                let what = match cause {
                    Cause::Modified => What::Modified,
                    Cause::Added | Cause::Listed | Cause::Sync => What::Added,
                };
                Input::Event { what, version }
            }
            Watched::Delete(item) => {
                let version = version(&item);
                let ingested = self.ingest.delete(item);
                self.hold(ingested);
                let what = What::Deleted;
                Input::Event { what, version }
            }
            Watched::Bookmark { at, end_of_initial } => Input::Bookmark { at, end_of_initial },
            Watched::Odd(error) => {
                self.unusable(Unusable {
                    problem: Problem::Odd,
                    cause: Arc::new(error),
                });
                Input::Odd
            }
        }
    }

    fn hold(&mut self, (held, unusable): Ingested<F::Key, L::Object>) {
        self.at_hand = held;
        if let Some(unusable) = unusable {
            self.unusable(unusable);
        }
    }

    /// Does all that the machine wants done.
    pub(crate) fn perform(&mut self) {
        while let Some(action) = self.machine.poll_action() {
            if let Some(meter) = &mut self.meter {
                meter.action(self.clock.now(), &action, self.machine.status());
            }
            match action {
                Action::OpenList(request) => {
                    tracing::debug!(version = ?request.version, limit = request.limit, continued = request.token.is_some(), "Listing");
                    self.open = Open::Wanted(Request::List(request));
                }
                Action::OpenWatch(request) => {
                    tracing::debug!(version = ?request.version, initial_events = request.initial_events, "Watching");
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
                    let (items, unreadable) = self.buffer.take();
                    self.sink.push(Delta::Replace {
                        items,
                        unreadable,
                        at,
                        may_rewind,
                    });
                }
                Action::Deliver => {
                    if let Some(held) = self.at_hand.take() {
                        self.sink.push(held.into());
                    }
                }
                Action::Bookmark(at) => self.sink.push(Delta::Bookmark {
                    at,
                    may_rewind: false,
                }),
                Action::Resync => self.sink.push(Delta::Resync),
                Action::Report {
                    problem,
                    message,
                    retry_in,
                } => {
                    let cause = self.cause.take();
                    let message = cause.as_ref().map_or(message, |cause| cause.to_string().into());
                    self.report(&ReflectorError {
                        reflector: self.name.clone(),
                        problem,
                        message,
                        retry_in: Some(retry_in),
                        cause,
                    });
                }
                Action::Note(note) => log::note(&note),
            }
        }
        self.at_hand = None;
        self.cause = None;
        self.measure();
        self.show();
    }

    fn measure(&mut self) {
        let Some(meter) = &mut self.meter else { return };
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
            self.board.board.publish(status);
        } else if status.phase == Phase::Watching {
            self.board.board.progress(status);
        }
    }

    fn unusable(&mut self, Unusable { problem, cause }: Unusable) {
        self.machine.handle_unusable(chain(&*cause));
        if let Some(meter) = &self.meter {
            meter.unusable(problem);
        }
        self.report(&ReflectorError {
            reflector: self.name.clone(),
            problem,
            message: cause.to_string().into(),
            retry_in: None,
            cause: Some(cause),
        });
    }

    fn report(&self, error: &ReflectorError) {
        log::error(error, self.machine.status());
        for hook in &self.hooks {
            if let Err(panic) = guarded(|| hook(error)) {
                tracing::error!(%panic, "Error hook panicked");
            }
        }
    }
}

fn version<K>(item: &Result<Decoded<K>, DecodeError>) -> ResourceVersion {
    let identity = match item {
        Ok(decoded) => Some(&decoded.identity),
        Err(error) => error.identity(),
    };
    identity.map_or_else(ResourceVersion::none, |identity| identity.stamp.version.clone())
}

/// An error and what is behind it, in one line.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        // Writing to a string cannot fail.
        let _ = write!(text, ": {error}");
        source = error.source();
    }
    text
}
