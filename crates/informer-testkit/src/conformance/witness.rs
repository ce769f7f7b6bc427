//! `Witness`: a handler that checks who tells it of changes.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use informer_core::{Change, Entry, EventHandler, Key, Stamp, Store};

use super::{Finding, Report};

const CHAIN: &str = "Per key they form a gapless forward chain.";
const STORE_FIRST: &str = "a store that it reads shows that change or a later state";

/// A handler that checks what it is told, for who calls handlers: an informer or pump of one's own. Clones witness the same.
///
/// It checks that changes of a key form a gapless forward chain, that what did not change is not told, that another uid comes as `Removed`
/// and `Added`, and, if it [reads the store](Self::reading), that the store has a change before the handler hears of it.
///
/// ```
/// # use std::sync::Arc;
/// # use informer_core::{Batch, Cause, Delta, Entry, EventHandler, Stamp, StoreWriter};
/// # use informer_store::{Indexers, indexed};
/// use informer_testkit::conformance::Witness;
///
/// # let (mut writer, reader) = indexed::<&'static str, ()>(Indexers::new())?;
/// let witness = Witness::new().reading(Arc::new(reader));
/// let mut handler = witness.clone();
/// // Whatever calls handlers calls this one.
/// # let mut changes = Vec::new();
/// # let entry = Entry::new("a", Stamp::new("1", "uid"), Arc::new(()));
/// # writer.commit(&mut Batch::of(Delta::Upsert(entry, Cause::Added), false), &mut changes)?;
/// # changes.iter().for_each(|change| handler.on_change(change));
///
/// assert_eq!(witness.n_heard(), 1);
/// witness.report("my pump").assert_conforms();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Witness<Q, K> {
    heard: Arc<Mutex<Heard<Q, K>>>,
    store: Option<Arc<dyn Store<Q, K>>>,
}

struct Heard<Q, K> {
    current: BTreeMap<Q, Entry<Q, K>>,
    n_heard: usize,
    findings: Vec<Finding>,
}

impl<Q: Key, K: Send + Sync + 'static> Witness<Q, K> {
    /// One that has heard of nothing.
    #[must_use]
    pub fn new() -> Self {
        Self {
            heard: Arc::new(Mutex::new(Heard {
                current: BTreeMap::new(),
                n_heard: 0,
                findings: Vec::new(),
            })),
            store: None,
        }
    }

    /// The same, which looks into this store whenever it is told of a change.
    #[must_use]
    pub fn reading(mut self, store: Arc<dyn Store<Q, K>>) -> Self {
        self.store = Some(store);
        self
    }

    /// How many changes it heard of.
    #[must_use]
    pub fn n_heard(&self) -> usize {
        self.lock().n_heard
    }

    /// What it must hold true now, in key order.
    #[must_use]
    pub fn current(&self) -> Vec<Entry<Q, K>> {
        self.lock().current.values().cloned().collect()
    }

    /// What it found of whoever calls it.
    pub fn report(&self, subject: &str) -> Report {
        let mut report = Report::new(subject, "caller of an EventHandler");
        report.checked("a_gapless_chain", CHAIN);
        if self.store.is_some() {
            report.checked("the_store_first", STORE_FIRST);
        }
        self.lock()
            .findings
            .iter()
            .for_each(|it| report.found(it.clone()));
        report
    }

    fn lock(&self) -> MutexGuard<'_, Heard<Q, K>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Q: Key, K: Send + Sync + 'static> Default for Witness<Q, K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Q, K> Clone for Witness<Q, K> {
    fn clone(&self) -> Self {
        Self {
            heard: self.heard.clone(),
            store: self.store.clone(),
        }
    }
}

impl<Q, K> fmt::Debug for Witness<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Witness").finish_non_exhaustive()
    }
}

impl<Q: Key, K: Send + Sync + 'static> EventHandler<Q, K> for Witness<Q, K> {
    fn on_change(&mut self, change: &Change<Q, K>) {
        let behind = self.store.as_ref().and_then(|store| behind(&**store, change));
        let mut heard = self.lock();
        heard.n_heard += 1;
        let broken = heard.follow(change);
        heard.note("a_gapless_chain", CHAIN, broken);
        heard.note("the_store_first", STORE_FIRST, behind);
    }
}

impl<Q: Key, K> Heard<Q, K> {
    /// What is wrong with the change after those before it.
    fn follow(&mut self, change: &Change<Q, K>) -> Option<String> {
        let key = change.key().clone();
        let current = self.current.get(&key);
        let follows = match (change, current) {
            (Change::Added { .. }, current) => current.is_none(),
            (Change::Updated { old, new }, Some(current)) => {
                same_but_for_staleness(old, current)
                    && old.stamp.same_object(&new.stamp)
                    && !same_state(old, new)
            }
            (Change::Removed { last, .. }, Some(current)) => last.stamp.same_object(&current.stamp),
            (Change::Resynced { current: repeated }, Some(current)) => {
                same_but_for_staleness(repeated, current)
            }
            (_, None) => false,
        };
        let seen = (!follows).then(|| format!("{change:?} came when the last state was {current:?}"));
        match change {
            Change::Added { new, .. } | Change::Updated { new, .. } => {
                self.current.insert(key, new.clone());
            }
            Change::Removed { .. } => {
                self.current.remove(&key);
            }
            Change::Resynced { .. } => {}
        }
        seen
    }

    fn note(&mut self, check: &'static str, rule: &'static str, detail: Option<String>) {
        // The first says it; what follows from it would only repeat.
        if let Some(detail) = detail
            && !self.findings.iter().any(|it| it.check == check)
        {
            self.findings.push(Finding {
                check,
                rule,
                detail,
                seed: None,
            });
        }
    }
}

fn same_state<Q, K>(a: &Entry<Q, K>, b: &Entry<Q, K>) -> bool {
    a.stamp == b.stamp && (!a.stamp.version.is_none() || Arc::ptr_eq(&a.object, &b.object))
}

/// Staleness comes and goes silently.
fn same_but_for_staleness<Q: PartialEq, K>(a: &Entry<Q, K>, b: &Entry<Q, K>) -> bool {
    a.key == b.key && a.stamp == b.stamp && Arc::ptr_eq(&a.object, &b.object)
}

/// What the store lacks of a change that somebody is told of.
fn behind<Q: Key, K>(store: &dyn Store<Q, K>, change: &Change<Q, K>) -> Option<String> {
    let stored = store.get(change.key());
    let behind = match (change, &stored) {
        // Gone or reborn since: a later state.
        (Change::Added { new, .. } | Change::Updated { new, .. }, Some(stored)) => {
            older(&stored.stamp, &new.stamp, false)
        }
        (Change::Removed { last, .. }, Some(stored)) => older(&stored.stamp, &last.stamp, true),
        _ => false,
    };
    behind.then(|| format!("told of {change:?}, it reads {stored:?} in the store"))
}

/// Whether a stored state of the same object is older than a stamp, or as old where that counts.
fn older(stored: &Stamp, told: &Stamp, or_equal: bool) -> bool {
    let same_life = !stored.uid.is_empty() && stored.uid == told.uid;
    let order = stored.version.compare(&told.version);
    same_life && order.is_ok_and(|order| order.is_lt() || (or_equal && order.is_eq()))
}
