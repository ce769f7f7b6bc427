//! A watch that is begun again until it cannot be.

mod machine;

use std::{
    error::Error,
    fmt,
    hash::{BuildHasher, Hasher, RandomState},
    sync::Arc,
    task::Poll,
};

use informer_core::{
    BoxFuture, Classify, Clock, DecodeError, Decoded, Feed, ListerWatcher, ResourceVersion, Watched,
};

use crate::{
    Options,
    race::{Alarm, First, race},
};
use machine::Machine;

/// One long watch from a version, made of many (client-go `RetryWatcher`).
///
/// Each goes on where the last one ended, at least a second after that one began, and after a failure with backoff. Bookmarks only move the
/// version. It lists nothing, so it ends, with the error, once its version is gone, and when it may not or cannot watch. Of the options
/// `min_watch_timeout`, `backoff` and `seed` count.
///
/// # Cancel safety
/// Dropping the future of [`next`](Feed::next) loses no event.
pub struct RetryWatch<L: ListerWatcher, C: Clock> {
    source: Arc<L>,
    clock: C,
    machine: Machine,
    alarm: Alarm<C>,
    stage: Stage<L>,
}

enum Stage<L: ListerWatcher> {
    Waiting,
    Opening(BoxFuture<'static, Result<L::Watch, L::Error>>),
    Open(L::Watch),
    Over,
}

impl<L: ListerWatcher, C: Clock> RetryWatch<L, C> {
    /// A watch of what happens after `version`.
    ///
    /// # Errors
    /// When the version is empty or 0: a watch from there begins with what exists, and what of it was missed could not be told.
    pub fn new(
        source: L,
        version: impl Into<ResourceVersion>,
        clock: C,
        options: &Options,
    ) -> Result<Self, NoVersion> {
        let version = version.into();
        if version.is_none() || version.as_str() == "0" {
            return Err(NoVersion);
        }
        let seed = options
            .seed
            .unwrap_or_else(|| RandomState::new().build_hasher().finish());
        Ok(Self {
            source: Arc::new(source),
            machine: Machine::new(version, options, seed, clock.now()),
            alarm: Alarm::new(clock.clone()),
            clock,
            stage: Stage::Waiting,
        })
    }

    /// The version from which it would go on.
    #[must_use]
    pub fn version(&self) -> &ResourceVersion {
        self.machine.version()
    }

    fn received(&mut self, event: &Watched<L::Object>) {
        let version = match event {
            Watched::Upsert(_, item) | Watched::Delete(item) => version(item),
            Watched::Bookmark { at, .. } => Some(at),
            Watched::Odd(_) => None,
        };
        if let Some(version) = version {
            self.machine.received(self.clock.now(), version);
        }
    }

    fn ended(&mut self) {
        self.stage = Stage::Waiting;
        self.machine.ended(self.clock.now());
    }

    /// The error, if it is the end.
    fn failed(&mut self, error: L::Error) -> Option<L::Error> {
        let goes_on = self
            .machine
            .failed(self.clock.now(), error.class(), error.retry_after());
        if goes_on {
            tracing::debug!(%error, "Watch failed, beginning anew");
            self.stage = Stage::Waiting;
            return None;
        }
        self.stage = Stage::Over;
        Some(error)
    }
}

impl<L: ListerWatcher, C: Clock> fmt::Debug for RetryWatch<L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryWatch")
            .field("version", self.machine.version())
            .finish_non_exhaustive()
    }
}

impl<L, C> Feed for RetryWatch<L, C>
where
    L: ListerWatcher + 'static,
    C: Clock,
{
    type Event = Watched<L::Object>;
    type Error = L::Error;

    async fn next(&mut self) -> Option<Result<Self::Event, Self::Error>> {
        loop {
            match &mut self.stage {
                Stage::Over => return None,
                Stage::Waiting => {
                    let at = self.machine.opens_at();
                    if self.clock.now() < at {
                        self.clock.sleep_until(at).await;
                    }
                    let request = self.machine.open(self.clock.now());
                    let source = self.source.clone();
                    self.stage = Stage::Opening(Box::pin(async move { source.watch(request).await }));
                }
                Stage::Opening(opening) => {
                    self.alarm.set(self.machine.ends_at());
                    match race(opening, &mut self.alarm, |_| Poll::Pending).await {
                        First::Done(Ok(watch)) => self.stage = Stage::Open(watch),
                        First::Done(Err(error)) => {
                            if let Some(error) = self.failed(error) {
                                return Some(Err(error));
                            }
                        }
                        _ => self.ended(),
                    }
                }
                Stage::Open(watch) => {
                    self.alarm.set(self.machine.ends_at());
                    match race(watch.next(), &mut self.alarm, |_| Poll::Pending).await {
                        First::Done(Some(Ok(event))) => {
                            self.received(&event);
                            if !matches!(event, Watched::Bookmark { .. }) {
                                return Some(Ok(event));
                            }
                        }
                        First::Done(Some(Err(error))) => {
                            if let Some(error) = self.failed(error) {
                                return Some(Err(error));
                            }
                        }
                        _ => self.ended(),
                    }
                }
            }
        }
    }
}

fn version<K>(item: &Result<Decoded<K>, DecodeError>) -> Option<&ResourceVersion> {
    let identity = match item {
        Ok(decoded) => Some(&decoded.identity),
        Err(error) => error.identity(),
    };
    identity.map(|identity| &identity.stamp.version)
}

/// A watch cannot be retried from no version, nor from version 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoVersion;

impl fmt::Display for NoVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a retried watch needs a version to begin after, other than 0")
    }
}

impl Error for NoVersion {}
