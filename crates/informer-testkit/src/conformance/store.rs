//! The suite for [`Store`](informer_core::Store) and [`Snapshot`](informer_core::Snapshot): the readers' side of a cache.
//!
//! It fills the store through its [`StoreWriter`](informer_core::StoreWriter), whose own rules [`store_writer`](super::store_writer)
//! checks, and looks whether what it reads fits: at one point in time, in order, by index, while somebody writes, and whether those who
//! wait are woken.
//!
//! ```
//! use informer_store::{Indexers, indexed};
//! use informer_testkit::conformance::store;
//!
//! let report = store::Suite::new("informer-store", |indices| {
//!     let add = |all: Indexers<_>, (name, function)| all.with_shared(name, function);
//!     indexed(indices.into_iter().fold(Indexers::new(), add)).expect("no index is there twice")
//! })
//! .run();
//! report.assert_conforms();
//! ```

use std::{
    ops::ControlFlow,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
};

use informer_core::{Batch, Entry, ResourceVersion, Snapshot, Store, StoreExt, StoreWriter};

use super::{
    Indices, Report, Samples, Things,
    check::{self, Check, Outcome, Plain, Scope, checks, ensure, scoped},
    probe::{Wakes, elsewhere},
    rig::{StoreRig, agrees, bookmark, deleted, indexed, list, modified, same_all, scanned},
};
use crate::Rng;

/// Checks the readers' side of a store.
pub struct Suite<S: Samples = Things> {
    subject: String,
    rig: StoreRig<S>,
    scope: Scope,
}

impl Suite {
    /// For a store that takes any key and object. `make` makes an empty one with these index functions: its writer and a reader.
    pub fn new<W, R>(
        subject: &str,
        make: impl Fn(Indices<<Things as Samples>::Object>) -> (W, R) + 'static,
    ) -> Self
    where
        W: StoreWriter<<Things as Samples>::Key, <Things as Samples>::Object> + 'static,
        R: Store<<Things as Samples>::Key, <Things as Samples>::Object> + 'static,
    {
        Self::over(Things, subject, make)
    }
}

impl<S: Samples> Suite<S> {
    /// For a store of these keys and objects.
    pub fn over<W, R>(
        samples: S,
        subject: &str,
        make: impl Fn(Indices<S::Object>) -> (W, R) + 'static,
    ) -> Self
    where
        W: StoreWriter<S::Key, S::Object> + 'static,
        R: Store<S::Key, S::Object> + 'static,
    {
        Self {
            subject: subject.to_owned(),
            rig: StoreRig::new(samples, make),
            scope: Scope::default(),
        }
    }

    /// The store has no indices: it is made with none.
    #[must_use]
    pub fn without_indices(mut self) -> Self {
        self.rig.indexed = false;
        self
    }

    scoped!();

    /// Runs the checks.
    pub fn run(&self) -> Report {
        let mut report = Report::new(&self.subject, "Store and Snapshot");
        check::run(&mut report, &self.rig, all(), &self.scope);
        report
    }
}

impl<S: Samples> std::fmt::Debug for Suite<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Suite")
            .field("subject", &self.subject)
            .finish_non_exhaustive()
    }
}

fn all<S: Samples>() -> Vec<Check<Plain<StoreRig<S>>>> {
    checks! {
        directed empty_at_first: "The version up to which the source's changes are in it; empty before the first list.";
        directed everything_is_found: "All entries in key order, from one snapshot.";
        directed the_object_itself: "One object as it is held: key, stamp, and the object, allocated once and shared.";
        directed a_snapshot_stays: "The state now, which stays as it is however long it is held.";
        random one_state_for_every_query: "Several queries on it see the same state.";
        directed a_scan_begins_behind: "Visits entries in key order, from behind `after`, until `visit` breaks.";
        directed a_visit_breaks: "Visits the entries under a value of an index, in key order, until `visit` breaks.";
        directed an_index_forgets: "The entries under a value of an index, in key order, from one snapshot.";
        directed values_are_folded: "Duplicates are folded; no value at all leaves the object out of the index.";
        directed an_unknown_index: "When there is no such index; the error names those that exist.";
        directed the_length: "Objects in it.";
        directed a_reader_does_not_wait: "Never waits for the writer, nor makes it wait.";
        directed a_writer_does_not_wait: "Never waits for the writer, nor makes it wait.";
        directed whoever_waits_is_woken: "Ready once the applied version differs from `seen`; else the waker is kept until the next commit.";
        directed a_version_is_waited_for: "Waits until the store has applied `version` or a later one.";
        directed nothing_torn_is_seen: "One point in time of a store, however long it is held.";
    }
}

fn empty_at_first<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.fresh();
    let before = instance.store.snapshot();
    ensure!(
        before.applied().is_none(),
        "a new store has applied {:?}",
        before.applied()
    );
    ensure!(
        instance.store.is_empty() && instance.store.list().is_empty(),
        "a new store holds {:?}",
        instance.store.list()
    );
    instance.agrees(&*before)?;
    instance.commit(list(Vec::new(), "7"))?;
    let after = instance.store.snapshot();
    ensure!(
        *after.applied() == ResourceVersion::new("7"),
        "after an empty list at 7 it has applied {:?}",
        after.applied()
    );
    Ok(())
}

fn everything_is_found<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let instance = rig.filled(12)?;
    instance.agrees(&*instance.store.snapshot())?;
    let listed = instance.store.list();
    ensure!(listed.len() == 12, "of twelve objects it lists {}", listed.len());
    for n in 0..12 {
        let key = instance.samples.key(n);
        ensure!(
            instance.store.get(&key).is_some_and(|entry| entry.key == key),
            "{key:?} is in the list but `get` does not find it"
        );
    }
    let absent = instance.samples.key(12);
    ensure!(
        instance.store.get(&absent).is_none(),
        "`get` finds {absent:?}, which is not there"
    );
    Ok(())
}

fn the_object_itself<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.fresh();
    let entry = instance.entry(0, 0, "1");
    instance.commit(list(vec![entry.clone()], "1"))?;
    let got = instance.store.get(&entry.key);
    ensure!(
        got.as_ref()
            .is_some_and(|got| Arc::ptr_eq(&got.object, &entry.object)),
        "the object that went in is not the one that is read: {got:?}"
    );
    ensure!(
        got.is_some_and(|got| got.stamp == entry.stamp && !got.stale),
        "its stamp {:?} is not what is read",
        entry.stamp
    );
    Ok(())
}

fn a_snapshot_stays<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(6)?;
    let held = instance.store.snapshot();
    let before = scanned(&*held, None);
    instance.commit(modified(instance.entry(0, 1, "11")))?;
    instance.commit(deleted(instance.entry(1, 0, "12")))?;
    instance.commit(modified(instance.entry(7, 0, "13")))?;
    instance.commit(list(vec![instance.entry(9, 0, "14")], "14"))?;
    let after = scanned(&*held, None);
    ensure!(
        same_all(&before, &after),
        "a held snapshot had {before:?}; after some commits it has {after:?}"
    );
    ensure!(
        *held.applied() == ResourceVersion::new("10"),
        "a held snapshot had applied 10; after some commits it has applied {:?}",
        held.applied()
    );
    instance.agrees(&*held)
}

fn one_state_for_every_query<S: Samples>(rig: &StoreRig<S>, rng: &mut Rng) -> Outcome {
    let mut instance = rig.fresh();
    let mut held: Vec<(Arc<dyn Snapshot<_, _>>, Vec<Entry<_, _>>)> = Vec::new();
    for version in 1..40 {
        let version = format!("{version}");
        let (n, state) = (small(rng, 12), small(rng, 5));
        let entry = instance.entry(n, state, &version);
        let delta = match rng.index(8) {
            0 | 1 => deleted(entry),
            2 => {
                let some = (0..12).filter(|_| rng.chance(0.5)).collect::<Vec<_>>();
                let items = some.into_iter().map(|n| instance.entry(n, state, &version));
                list(items.collect(), &version)
            }
            3 => bookmark(&version),
            _ => modified(entry),
        };
        instance.commit(delta)?;
        let snapshot = instance.store.snapshot();
        instance.agrees(&*snapshot)?;
        ensure!(
            snapshot.len() == instance.store.len(),
            "the store has {} entries, its snapshot {}",
            instance.store.len(),
            snapshot.len()
        );
        let entries = scanned(&*snapshot, None);
        held.push((snapshot, entries));
        let (old, entries) = &held[rng.index(held.len())];
        ensure!(
            same_all(&scanned(&**old, None), entries),
            "a held snapshot had {entries:?}, and now {:?}",
            scanned(&**old, None)
        );
        instance.agrees(&**old)?;
    }
    Ok(())
}

fn a_scan_begins_behind<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(12)?;
    for gone in [3, 4, 8] {
        instance.commit(deleted(instance.entry(gone, 0, &format!("{}", 20 + gone))))?;
    }
    let snapshot = instance.store.snapshot();
    let entries = scanned(&*snapshot, None);
    // Behind a key that is there, and behind one that is not.
    for n in 0..13 {
        let after = instance.samples.key(n);
        let wanted: Vec<_> = entries.iter().filter(|it| it.key > after).cloned().collect();
        let visited = scanned(&*snapshot, Some(&after));
        ensure!(
            same_all(&visited, &wanted),
            "a scan from behind {after:?} visits {visited:?} instead of {wanted:?}"
        );
    }
    let mut n_visited = 0;
    snapshot.scan(None, &mut |_| {
        n_visited += 1;
        if n_visited < 3 {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    ensure!(
        n_visited == 3,
        "a visit broke at the third entry, but {n_visited} were visited"
    );
    Ok(())
}

fn a_visit_breaks<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let instance = rig.filled(12)?;
    let snapshot = instance.store.snapshot();
    for (name, value) in values(&instance.indices, &scanned(&*snapshot, None)) {
        let mut n_visited = 0;
        let visited = snapshot.by_index(&name, &value, &mut |_| {
            n_visited += 1;
            ControlFlow::Break(())
        });
        ensure!(
            visited.is_ok() && n_visited == 1,
            "a visit broke at the first entry under {value:?}, but {n_visited} were visited"
        );
        let found = indexed(&*snapshot, &name, &value)?;
        ensure!(
            found.iter().map(|it| &it.key).is_sorted_by(|a, b| a < b),
            "under {value:?} of {name:?} it visits {found:?}, which is not in key order"
        );
        let provided = instance
            .store
            .by_index(&name, &value)
            .map_err(|error| error.to_string())?;
        ensure!(
            same_all(&found, &provided),
            "`Store::by_index` gives {provided:?}, its snapshot {found:?}"
        );
    }
    Ok(())
}

fn an_index_forgets<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(6)?;
    let before = values(&instance.indices, &instance.store.list());
    for n in 0..6 {
        instance.commit(modified(instance.entry(n, 1, &format!("{}", 20 + n))))?;
        instance.agrees(&*instance.store.snapshot())?;
    }
    for n in 0..6 {
        instance.commit(deleted(instance.entry(n, 1, &format!("{}", 30 + n))))?;
    }
    for (name, value) in before {
        let found = indexed(&*instance.store.snapshot(), &name, &value)?;
        ensure!(
            found.is_empty(),
            "everything is deleted, but {value:?} of {name:?} has {found:?}"
        );
    }
    Ok(())
}

fn values_are_folded<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    // Enough states that some object has a value twice, and some none.
    for state in 0..5 {
        let mut instance = rig.fresh();
        let items = (0..6).map(|n| instance.entry(n, state, "1"));
        let items = list(items.collect(), "1");
        instance.commit(items)?;
        instance.agrees(&*instance.store.snapshot())?;
    }
    Ok(())
}

fn an_unknown_index<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let instance = rig.filled(3)?;
    let mut n_visited = 0;
    let result = instance.store.snapshot().by_index("flavour", "sweet", &mut |_| {
        n_visited += 1;
        ControlFlow::Continue(())
    });
    let Err(error) = result else {
        return Err("asked for an index that it was not made with, it answers without an error".to_owned());
    };
    ensure!(
        n_visited == 0,
        "an index that is not there has {n_visited} entries"
    );
    let said = error.to_string();
    let names = instance
        .indices
        .iter()
        .map(|(name, _)| &**name)
        .chain(["flavour"]);
    for name in names {
        ensure!(said.contains(name), "the error does not name {name:?}: {said}");
    }
    let provided = instance.store.by_index("flavour", "sweet");
    ensure!(
        provided.is_err(),
        "its snapshot says that the index is unknown, the store does not"
    );
    Ok(())
}

fn the_length<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(4)?;
    let mut lengths = vec![instance.store.len()];
    instance.commit(modified(instance.entry(0, 1, "11")))?;
    lengths.push(instance.store.len());
    instance.commit(modified(instance.entry(4, 0, "12")))?;
    lengths.push(instance.store.len());
    instance.commit(deleted(instance.entry(4, 0, "13")))?;
    instance.commit(deleted(instance.entry(4, 0, "14")))?;
    lengths.push(instance.store.len());
    ensure!(
        lengths == [4, 4, 5, 4],
        "after a list of four, an update, an add, and a delete that came twice it has {lengths:?}"
    );
    Ok(())
}

/// Reads from another thread while a commit is under way.
fn a_reader_does_not_wait<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(3)?;
    let read: Arc<Mutex<Vec<Option<usize>>>> = Arc::default();
    let (store, results) = (instance.store.clone(), read.clone());
    instance.during_a_commit(move || {
        let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
        if results.is_empty() {
            let store = store.clone();
            results.push(elsewhere(move || scanned(&*store.snapshot(), None).len()));
        }
    });
    instance.commit_all(vec![
        modified(instance.entry(3, 0, "11")),
        modified(instance.entry(4, 0, "12")),
    ])?;
    let read = read.lock().unwrap_or_else(PoisonError::into_inner);
    match read.first() {
        None | Some(Some(3)) => Ok(()),
        Some(None) => Err("a reader that came during a commit waited for its end".to_owned()),
        Some(Some(n)) => Err(format!(
            "a reader that came during a commit saw {n} of its entries beside the three before"
        )),
    }
}

/// Commits from another thread while a query is under way.
fn a_writer_does_not_wait<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let instance = rig.filled(3)?;
    let (store, entry) = (instance.store.clone(), instance.entry(3, 0, "11"));
    let key = entry.key.clone();
    let snapshot = store.snapshot();
    let mut writer = instance.writer;
    let mut job = Some(move || {
        let mut batch = Batch::of(modified(entry), false);
        writer.commit(&mut batch, &mut Vec::new()).is_ok()
    });
    let mut committed = None;
    snapshot.scan(None, &mut |_| {
        committed = job.take().and_then(elsewhere);
        ControlFlow::Break(())
    });
    ensure!(
        committed == Some(true),
        "a commit that came during a scan waited for its end"
    );
    ensure!(
        store.get(&key).is_some(),
        "what was committed during a scan is not there"
    );
    ensure!(
        snapshot.get(&key).is_none(),
        "what was committed during a scan is in its snapshot"
    );
    Ok(())
}

fn whoever_waits_is_woken<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(1)?;
    let seen = instance.store.snapshot().applied().clone();
    let (wakes, waker) = Wakes::new();
    let (others, other) = Wakes::new();
    let poll = |instance: &super::rig::Instance<'_, S>, waker| {
        instance
            .store
            .poll_changed(&mut Context::from_waker(waker), &seen)
    };
    ensure!(
        instance
            .store
            .poll_changed(&mut Context::from_waker(&waker), &"9".into())
            .is_ready(),
        "it has applied 10, and is not ready for one who has seen 9"
    );
    ensure!(
        poll(&instance, &waker).is_pending(),
        "it is ready for one who has seen what it has applied"
    );
    ensure!(
        poll(&instance, &other).is_pending(),
        "it is ready for a second one who has seen what it has applied"
    );
    instance.commit(bookmark("11"))?;
    ensure!(
        wakes.count() > 0 && others.count() > 0,
        "two waited; after a commit one was woken {} times, the other {}",
        wakes.count(),
        others.count()
    );
    ensure!(
        poll(&instance, &waker).is_ready(),
        "it has applied 11, and is not ready for one who has seen 10"
    );
    let seen = ResourceVersion::new("11");
    let again = instance
        .store
        .poll_changed(&mut Context::from_waker(&waker), &seen);
    ensure!(
        again.is_pending(),
        "it is ready for one who has seen 11, which it has applied"
    );
    let before = wakes.count();
    instance.commit(modified(instance.entry(0, 1, "12")))?;
    ensure!(
        wakes.count() > before,
        "one who waited a second time was not woken by an upsert"
    );
    Ok(())
}

fn a_version_is_waited_for<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.fresh();
    let (store, version) = (instance.store.clone(), ResourceVersion::new("12"));
    let now = store.snapshot().applied().clone();
    ensure!(
        store
            .poll_changed(&mut Context::from_waker(Waker::noop()), &now)
            .is_pending(),
        "it is ready for one who has seen what it has applied, {now:?}"
    );
    let mut waiting = pin!(store.wait_for(&version));
    let (wakes, waker) = Wakes::new();
    let mut cx = Context::from_waker(&waker);
    for before in ["9", "11"] {
        ensure!(
            waiting.as_mut().poll(&mut cx).is_pending(),
            "it waits for 12, and ends before a commit at {before}"
        );
        let woken = wakes.count();
        instance.commit(list(Vec::new(), before))?;
        ensure!(
            wakes.count() > woken,
            "one who waits for 12 was not woken by a commit at {before}"
        );
    }
    ensure!(
        waiting.as_mut().poll(&mut cx).is_pending(),
        "it waits for 12, and ends at 11"
    );
    let woken = wakes.count();
    instance.commit(bookmark("13"))?;
    ensure!(
        wakes.count() > woken,
        "one who waits for 12 was not woken by a commit at 13"
    );
    match waiting.as_mut().poll(&mut cx) {
        Poll::Ready(Ok(())) => Ok(()),
        other => Err(format!("it waits for 12, and at 13 gives {other:?}")),
    }
}

/// A writer that replaces everything at once, and a reader that must never see two lists in one.
fn nothing_torn_is_seen<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(8)?;
    let (store, indices) = (instance.store.clone(), instance.indices.clone());
    let over = Arc::new(AtomicBool::new(false));
    let stop = over.clone();
    let reader = std::thread::spawn(move || -> Outcome<usize> {
        let mut n_read = 0;
        while !stop.load(Ordering::Acquire) || n_read == 0 {
            let snapshot = store.snapshot();
            let entries = scanned(&*snapshot, None);
            let at = snapshot.applied();
            let torn = at.as_str() != "10" && entries.iter().any(|entry| entry.stamp.version != *at);
            ensure!(
                !torn && entries.len() == 8,
                "while lists of eight were committed, a snapshot at {at:?} had {entries:?}"
            );
            agrees(&*snapshot, &indices)?;
            n_read += 1;
        }
        Ok(n_read)
    });
    let mut outcome = Ok(());
    for at in 100..300 {
        let version = at.to_string();
        let items = (0..8).map(|n| instance.entry(n, at % 5, &version));
        let items = list(items.collect(), &version);
        outcome = outcome.and_then(|()| instance.commit(items).map(drop));
    }
    over.store(true, Ordering::Release);
    match reader.join() {
        Ok(read) => outcome.and_then(|()| read.map(drop)),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Every value of every index that these entries have.
fn values<Q, K>(indices: &Indices<K>, entries: &[Entry<Q, K>]) -> Vec<(Arc<str>, String)> {
    let mut all = Vec::new();
    for (name, function) in indices {
        for entry in entries {
            // One that fails is not in a store, and is looked for elsewhere.
            let _ = function.values(&entry.object, &mut |value| {
                all.push((name.clone(), value.to_owned()))
            });
        }
    }
    all.sort();
    all.dedup();
    all
}

fn small(rng: &mut Rng, below: u64) -> u32 {
    u32::try_from(rng.range(0..below)).unwrap_or(0)
}
