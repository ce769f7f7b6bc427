//! What the handles, the candidate and the driver of a manager share: the machine under one lock.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use informer_core::{BoxClock, Clock};
use tokio::sync::{Notify, watch};

use crate::{
    AddError, Controllers, Group, Runnable,
    machine::{Action, Id, Input, Machine, Options, Reason},
};

pub(crate) struct Shared {
    state: Mutex<State>,
    /// The driver has something to do.
    pub(crate) wake: Notify,
    pub(crate) leading: watch::Sender<bool>,
    pub(crate) clock: BoxClock,
    /// The name of the election.
    pub(crate) election: Option<Arc<str>>,
    /// Tells of every step that others may wait for.
    pub(crate) steps: watch::Sender<u64>,
}

struct State {
    machine: Machine,
    slots: BTreeMap<Id, Slot>,
}

/// A runnable that has not ended.
pub(crate) struct Slot {
    pub(crate) name: Arc<str>,
    pub(crate) group: Group,
    pub(crate) controllers: Option<Arc<dyn Controllers>>,
    /// Until it is launched.
    runnable: Option<Box<dyn Runnable>>,
}

impl Shared {
    pub(crate) fn new(options: Options, clock: BoxClock, election: Option<Arc<str>>) -> Self {
        Self {
            state: Mutex::new(State {
                machine: Machine::new(options),
                slots: BTreeMap::new(),
            }),
            wake: Notify::new(),
            leading: watch::Sender::new(false),
            clock,
            election,
            steps: watch::Sender::new(0),
        }
    }

    pub(crate) fn add(&self, runnable: Box<dyn Runnable>) -> Result<(), AddError> {
        let (name, group) = (runnable.name(), runnable.group());
        let controllers = runnable.controllers();
        let mut state = self.state();
        if state.slots.values().any(|slot| slot.name == name) {
            return Err(AddError::Duplicate(name));
        }
        let Ok(id) = state.machine.add(group) else {
            return Err(AddError::Stopping(name));
        };
        let slot = Slot {
            name,
            group,
            controllers,
            runnable: Some(runnable),
        };
        state.slots.insert(id, slot);
        drop(state);
        self.wake.notify_one();
        Ok(())
    }

    /// Begins to remove what has this name. Whether there is such a thing.
    pub(crate) fn remove(&self, name: &str) -> Option<Id> {
        let now = self.clock.now();
        let mut state = self.state();
        let id = state
            .slots
            .iter()
            .find_map(|(&id, slot)| (*slot.name == *name).then_some(id))?;
        state.machine.remove(now, id);
        if !state.machine.knows(id) {
            state.slots.remove(&id);
        }
        drop(state);
        self.wake.notify_one();
        Some(id)
    }

    pub(crate) fn has(&self, id: Id) -> bool {
        self.state().slots.contains_key(&id)
    }

    pub(crate) fn names(&self) -> Vec<(Arc<str>, Group)> {
        let state = self.state();
        let slots = state.slots.values();
        slots.map(|slot| (slot.name.clone(), slot.group)).collect()
    }

    pub(crate) fn input(&self, input: Input) {
        let now = self.clock.now();
        self.with(|machine| machine.handle_input(now, input));
        self.wake.notify_one();
    }

    pub(crate) fn with<T>(&self, body: impl FnOnce(&mut Machine) -> T) -> T {
        body(&mut self.state().machine)
    }

    /// Whether everything was started, except what waits for an election, and nothing stops.
    pub(crate) fn is_ready(&self) -> Result<(), String> {
        self.with(|machine| {
            if machine.reason().is_some() {
                Err("stopping".to_owned())
            } else if machine.is_started() {
                Ok(())
            } else {
                let waits = machine.waits_for();
                Err(waits.map_or_else(
                    || "not run".to_owned(),
                    |group| format!("starting: waits for {group}"),
                ))
            }
        })
    }

    pub(crate) fn poll_action(&self) -> Option<Action> {
        self.with(Machine::poll_action)
    }

    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        self.with(|machine| machine.poll_timeout())
    }

    /// The runnable itself, to the driver, once.
    pub(crate) fn take(&self, id: Id) -> Option<(Arc<str>, Box<dyn Runnable>)> {
        let mut state = self.state();
        let slot = state.slots.get_mut(&id)?;
        Some((slot.name.clone(), slot.runnable.take()?))
    }

    pub(crate) fn slot<T>(&self, id: Id, read: impl FnOnce(&Slot) -> T) -> Option<T> {
        self.state().slots.get(&id).map(read)
    }

    /// What is read of each runnable that has not ended, in the order in which they were added.
    pub(crate) fn slots<T>(&self, read: impl Fn(&Slot) -> Option<T>) -> Vec<T> {
        self.state().slots.values().filter_map(read).collect()
    }

    /// A runnable ended: forgets it, and says why the manager stops, if it does.
    pub(crate) fn ended(&self, id: Id, failed: bool) -> (Option<Reason>, Option<Slot>) {
        let now = self.clock.now();
        let mut state = self.state();
        let before = state.machine.reason();
        state.machine.handle_input(now, Input::Ended { id, failed });
        let reason = state.machine.reason().filter(|_| before.is_none());
        (reason, state.slots.remove(&id))
    }

    /// Wakes whoever waits for a step.
    pub(crate) fn step(&self) {
        self.steps.send_modify(|steps| *steps += 1);
    }

    /// Waits until this is so.
    pub(crate) async fn until(&self, mut is_so: impl FnMut() -> bool) {
        let mut steps = self.steps.subscribe();
        // The sender lives as long as `self`.
        let _ = steps.wait_for(|_| is_so()).await;
    }

    /// No code of the user's runs under this lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared")
            .field("runnables", &self.names())
            .finish_non_exhaustive()
    }
}
