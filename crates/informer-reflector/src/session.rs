//! What a running reflector holds, and what it makes of what the source brings.

use std::{error::Error, fmt::Write, sync::Arc, time::Instant};

use informer_core::{
    Cause, Classify, Clock, DecodeError, Decoded, DeltaSink, FailureClass, KeyFunc, Listed, ListerWatcher,
    ResourceVersion, Watched,
};

use crate::{
    Phase, Problem,
    buffer::Buffer,
    hooks::Hooks,
    ingest::{Held, Ingest, Ingested, Unusable},
    life::Life,
    machine::{Failed, Input, Machine, What},
    open::{Event, Open},
    steps::Steps,
};

/// All but what a pending request borrows.
pub(crate) struct Session<L: ListerWatcher, F: KeyFunc<L::Object>, S, C: Clock> {
    pub(crate) machine: Machine,
    /// Revision of the status that was shown last.
    pub(crate) shown: u64,
    pub(crate) open: Open<L>,
    /// Bytes of what is open that were counted.
    counted: u64,
    ingest: Ingest<L::Object, F>,
    pub(crate) at_hand: Option<Held<F::Key, L::Object>>,
    pub(crate) buffer: Buffer<F::Key, L::Object>,
    /// The error that the machine is being told of.
    pub(crate) cause: Option<Arc<dyn Error + Send + Sync>>,
    /// While a whole state is being taken.
    pub(crate) steps: Option<Steps>,
    pub(crate) sink: S,
    pub(crate) clock: C,
    pub(crate) hooks: Hooks,
    pub(crate) life: Life<C>,
}

impl<L, F, S, C> Session<L, F, S, C>
where
    L: ListerWatcher,
    F: KeyFunc<L::Object>,
    S: DeltaSink<F::Key, L::Object>,
    C: Clock,
{
    pub(crate) fn new(
        machine: Machine,
        ingest: Ingest<L::Object, F>,
        sink: S,
        clock: C,
        hooks: Hooks,
        life: Life<C>,
    ) -> Self {
        Self {
            machine,
            shown: 0,
            open: Open::Nothing,
            counted: 0,
            ingest,
            at_hand: None,
            buffer: Buffer::new(),
            cause: None,
            steps: None,
            sink,
            clock,
            hooks,
            life,
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
        self.count_bytes();
        let input = self.input(now, event);
        self.machine.handle_input(now, input);
        // Events that never cease must not hold up what is due.
        if self.machine.poll_timeout() <= now {
            self.perform();
            self.machine.handle_timeout(now);
        }
    }

    fn count_bytes(&mut self) {
        if let Some(read) = self.open.bytes_read() {
            self.machine.handle_bytes(read.saturating_sub(self.counted));
            self.counted = read;
        }
    }

    fn input(&mut self, now: Instant, event: Event<L>) -> Input {
        let over = matches!(event, Event::Ended | Event::Failed(_) | Event::Panicked(_));
        if let (true, Some(meter)) = (over, &mut self.hooks.meter) {
            meter.watch_over(now, self.machine.status());
        }
        match event {
            Event::ListOpened(list) => self.opened(now, Open::List(list)),
            Event::WatchOpened(watch) => self.opened(now, Open::Watch(watch)),
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
                if let Some(steps) = &mut self.steps {
                    steps.version_read(now);
                }
                Input::ListEnd { at, token }
            }
            Event::Watched(watched) => self.watched(watched),
            Event::Ended => {
                self.open = Open::Nothing;
                Input::Ended
            }
            Event::Failed(error) => {
                let (class, retry_after) = (error.class(), error.retry_after());
                self.failed(class, retry_after, error)
            }
            Event::Panicked(panic) => self.failed(FailureClass::Fatal, None, panic),
        }
    }

    fn opened(&mut self, now: Instant, open: Open<L>) -> Input {
        self.open = open;
        self.counted = 0;
        if let Some(steps) = &mut self.steps {
            steps.listed(now);
        }
        Input::Opened
    }

    fn failed(
        &mut self,
        class: FailureClass,
        retry_after: Option<std::time::Duration>,
        error: impl Error + Send + Sync + 'static,
    ) -> Input {
        self.open = Open::Nothing;
        let message = chain(&error).into();
        self.cause = Some(Arc::new(error));
        Input::Failed(Failed {
            class,
            retry_after,
            message,
        })
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
}

fn version<K>(item: &Result<Decoded<K>, DecodeError>) -> ResourceVersion {
    let identity = match item {
        Ok(decoded) => Some(&decoded.identity),
        Err(error) => error.identity(),
    };
    identity.map_or_else(ResourceVersion::none, |identity| identity.stamp.version.clone())
}

/// An error and what is behind it, in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        // Writing to a string cannot fail.
        let _ = write!(text, ": {error}");
        source = error.source();
    }
    text
}
