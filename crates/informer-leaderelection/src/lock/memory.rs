//! `MemoryLock`: a lock within one process, for tests and for programs without a cluster.

use std::{
    collections::VecDeque,
    future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use informer_core::ResourceVersion;

use super::{Lock, LockError};
use crate::{Observed, Record};

/// A lock in memory. Clones share it. The next requests can be made to [go wrong](Self::then).
#[derive(Debug, Clone, Default)]
pub struct MemoryLock {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    stored: Option<Observed>,
    version: u64,
    mishaps: VecDeque<Mishap>,
    always: Option<Mishap>,
    requests: Vec<&'static str>,
}

/// What befalls a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mishap {
    /// None.
    Fine,
    /// It fails and has no effect.
    Fail,
    /// It never answers and has no effect.
    Hang,
    /// It has its effect and never answers.
    LoseAnswer,
    /// It fails as a conflict and has no effect.
    Conflict,
}

impl MemoryLock {
    /// A lock that nobody holds and that is not there yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Befalls the request after those that were given before.
    pub fn then(&self, mishap: Mishap) {
        self.lock().mishaps.push_back(mishap);
    }

    /// Befalls all requests from now on, after those given by [`then`](Self::then); `None` for an end of it.
    pub fn always(&self, mishap: Option<Mishap>) {
        self.lock().always = mishap;
    }

    /// What is stored.
    #[must_use]
    pub fn stored(&self) -> Option<Observed> {
        self.lock().stored.clone()
    }

    /// Stores a record as if somebody else had written it, or removes the lock.
    pub fn put(&self, record: Option<Record>) {
        self.lock().put(record);
    }

    /// Takes the names of the requests since the last call: `get`, `create`, `update`.
    pub fn take_requests(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.lock().requests)
    }

    async fn request<R>(
        &self,
        name: &'static str,
        act: impl FnOnce(&mut State) -> Result<R, LockError> + Send,
    ) -> Result<R, LockError> {
        // Not over an await point: what the server does is one step.
        let outcome = {
            let mut state = self.lock();
            state.requests.push(name);
            let mishap = state.mishaps.pop_front().or(state.always).unwrap_or(Mishap::Fine);
            match mishap {
                Mishap::Fine => Some(act(&mut state)),
                Mishap::Fail => Some(Err(LockError::other("out of order"))),
                Mishap::Conflict => Some(Err(LockError::conflict("the record has been modified"))),
                Mishap::Hang => None,
                Mishap::LoseAnswer => {
                    let _lost = act(&mut state);
                    None
                }
            }
        };
        match outcome {
            Some(outcome) => outcome,
            None => future::pending().await,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn put(&mut self, record: Option<Record>) -> Option<Observed> {
        self.version += 1;
        let version = ResourceVersion::new(self.version.to_string());
        self.stored = record.map(|record| Observed { record, version });
        self.stored.clone()
    }
}

impl Lock for MemoryLock {
    async fn get(&self) -> Result<Option<Observed>, LockError> {
        self.request("get", |state| Ok(state.stored.clone())).await
    }

    async fn create(&self, record: Record) -> Result<Observed, LockError> {
        self.request("create", |state| {
            if state.stored.is_some() {
                return Err(LockError::conflict("the record exists already"));
            }
            state
                .put(Some(record))
                .ok_or_else(|| LockError::other("the record was not stored"))
        })
        .await
    }

    async fn update(&self, record: Record, at: ResourceVersion) -> Result<Observed, LockError> {
        self.request("update", |state| {
            match &state.stored {
                None => return Err(LockError::other("there is no record")),
                Some(stored) if stored.version != at => {
                    return Err(LockError::conflict("the record has been modified"));
                }
                Some(_) => {}
            }
            state
                .put(Some(record))
                .ok_or_else(|| LockError::other("the record was not stored"))
        })
        .await
    }

    fn describe(&self) -> String {
        "memory".to_owned()
    }
}
