//! What a controller watches, as its handles and its driver see it.

use std::{collections::BTreeMap, sync::Arc};

use tokio::task::AbortHandle;

use super::Shared;
use crate::{
    Request, RunError, Source, SourceStatus, WatchId,
    contain::contained,
    error::RunErrorKind,
    source::{OnStop, Trouble},
};

/// Everything that is watched, by the order in which it was added.
pub(crate) struct Watches<R> {
    all: BTreeMap<WatchId, Watched<R>>,
    last_id: u64,
}

struct Watched<R> {
    name: Arc<str>,
    state: State<R>,
    optional: bool,
    trouble: Option<Trouble>,
    on_stop: Option<OnStop>,
    run: Option<AbortHandle>,
    /// What it runs panicked, and is run again soon.
    panicked: Option<Arc<str>>,
}

enum State<R> {
    /// Not started.
    New(Box<dyn Source<R>>),
    /// Started, and not in sync.
    Waiting,
    Synced,
    Failed(Arc<str>),
}

impl<R> Default for Watches<R> {
    fn default() -> Self {
        Self {
            all: BTreeMap::new(),
            last_id: 0,
        }
    }
}

impl<R> Watches<R> {
    pub(crate) fn add(&mut self, source: Box<dyn Source<R>>) -> WatchId {
        self.last_id += 1;
        let id = WatchId(self.last_id);
        let watched = Watched {
            name: source.name(),
            state: State::New(source),
            optional: false,
            trouble: None,
            on_stop: None,
            run: None,
            panicked: None,
        };
        self.all.insert(id, watched);
        id
    }
}

impl<R: Request> Shared<R> {
    /// Adds a source, to a controller that runs or will.
    pub(crate) fn watch(&self, source: Box<dyn Source<R>>) -> Result<WatchId, RunError> {
        let id = {
            let mut work = self.work();
            if work.ended {
                drop(work);
                return Err(self.error(RunErrorKind::Ended));
            }
            work.watches.add(source)
        };
        self.tell_watches();
        Ok(id)
    }

    /// Ends a source: no request comes from it after this. Whether there was one.
    pub(crate) fn unwatch(&self, id: WatchId) -> bool {
        let watched = self.work().watches.all.remove(&id);
        let found = watched.is_some();
        if let Some(watched) = watched {
            watched.end();
            self.tell_watches();
        }
        found
    }

    /// Ends all sources.
    pub(crate) fn unwatch_all(&self) {
        let all = std::mem::take(&mut self.work().watches.all);
        all.into_values().for_each(Watched::end);
        self.tell_watches();
    }

    /// A source that nobody has started yet.
    pub(crate) fn next_new(&self) -> Option<(WatchId, Box<dyn Source<R>>)> {
        let mut work = self.work();
        let (id, watched) = work
            .watches
            .all
            .iter_mut()
            .find(|(_, watched)| matches!(watched.state, State::New(_)))?;
        match std::mem::replace(&mut watched.state, State::Waiting) {
            State::New(source) => Some((*id, source)),
            _ => None,
        }
    }

    /// A source has begun. `false`: it was ended meanwhile, and is to be dropped.
    pub(crate) fn began(
        &self,
        id: WatchId,
        optional: bool,
        trouble: Trouble,
        on_stop: OnStop,
        run: Option<AbortHandle>,
    ) -> bool {
        let mut work = self.work();
        let Some(watched) = work.watches.all.get_mut(&id) else {
            drop(work);
            if let Some(run) = run {
                run.abort();
            }
            drop(on_stop);
            return false;
        };
        watched.optional = optional;
        watched.trouble = Some(trouble);
        watched.on_stop = Some(on_stop);
        watched.run = run;
        true
    }

    /// A source is in sync, or never will be. What has failed stays so.
    pub(crate) fn settled(&self, id: WatchId, result: Result<(), Arc<str>>) {
        if let Some(watched) = self.work().watches.all.get_mut(&id)
            && !matches!(watched.state, State::Failed(_))
        {
            watched.state = match result {
                Ok(()) => State::Synced,
                Err(why) => State::Failed(why),
            };
        }
        self.tell_watches();
    }

    /// What a source runs panicked, or is run again.
    pub(crate) fn set_panicked(&self, id: WatchId, why: Option<Arc<str>>) {
        if let Some(watched) = self.work().watches.all.get_mut(&id) {
            watched.panicked = why;
        }
    }

    pub(crate) fn is_watched(&self, id: WatchId) -> bool {
        self.work().watches.all.contains_key(&id)
    }

    /// Waits until a source is in sync.
    pub(crate) async fn watch_synced(&self, id: WatchId) -> Result<(), RunError> {
        let mut changed = self.watches_changed.subscribe();
        loop {
            changed.borrow_and_update();
            let failed = match self.work().watches.all.get(&id) {
                None => return Err(self.error(RunErrorKind::Ended)),
                Some(watched) => match &watched.state {
                    State::Synced => return Ok(()),
                    State::Failed(why) => Some((watched.name.clone(), why.clone())),
                    State::New(_) | State::Waiting => None,
                },
            };
            if let Some((name, why)) = failed {
                return Err(self.error(RunErrorKind::Source(name, (&*why).into())));
            }
            // The sender lives as long as `self`.
            let _ = changed.changed().await;
        }
    }

    /// The sources that a controller which starts waits for, and why each is not in sync, where it knows.
    pub(crate) fn not_synced(&self) -> Vec<(Arc<str>, Option<String>)> {
        let waiting: Vec<(_, Option<String>, Option<Trouble>)> = {
            let work = self.work();
            let required = work.watches.all.values().filter(|watched| !watched.optional);
            required
                .filter(|watched| !matches!(watched.state, State::Synced))
                .map(|watched| match &watched.state {
                    State::Failed(why) => (watched.name.clone(), Some(why.to_string()), None),
                    _ => {
                        let why = watched.panicked.as_ref().map(ToString::to_string);
                        (watched.name.clone(), why, watched.trouble.clone())
                    }
                })
                .collect()
        };
        // Foreign code, asked outside the lock.
        waiting
            .into_iter()
            .map(|(name, why, trouble)| (name, why.or_else(|| asked(trouble))))
            .collect()
    }

    pub(crate) fn source_status(&self) -> Vec<SourceStatus> {
        let all: Vec<_> = {
            let work = self.work();
            let status = |(id, watched): (&WatchId, &Watched<R>)| {
                let (synced, failed) = match &watched.state {
                    State::New(_) | State::Waiting => (false, watched.panicked.clone()),
                    State::Synced => (true, watched.panicked.clone()),
                    State::Failed(why) => (false, Some(why.clone())),
                };
                let status = SourceStatus {
                    id: *id,
                    name: watched.name.clone(),
                    synced,
                    optional: watched.optional,
                    trouble: failed,
                };
                (status, watched.trouble.clone())
            };
            work.watches.all.iter().map(status).collect()
        };
        all.into_iter()
            .map(|(mut status, trouble)| {
                if status.trouble.is_none() {
                    status.trouble = asked(trouble).map(Into::into);
                }
                status
            })
            .collect()
    }

    pub(crate) fn tell_watches(&self) {
        self.watches_changed.send_modify(|_| ());
    }
}

/// Foreign code: what it says of itself.
fn asked(trouble: Option<Trouble>) -> Option<String> {
    let ask = trouble?;
    contained(|| ask()).unwrap_or_else(|panic| Some(format!("it panicked when it was asked: {panic}")))
}

impl<R> Watched<R> {
    fn end(self) {
        if let Some(run) = self.run {
            run.abort();
        }
        drop(self.on_stop);
    }
}
