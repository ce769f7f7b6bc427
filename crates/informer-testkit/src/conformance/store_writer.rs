//! The suite for [`StoreWriter`](informer_core::StoreWriter): what a commit does with each delta.
//!
//! Each check is a short story of commits, made in the store under test and in a plain map that follows the rules one by one; after each
//! commit it compares what was told, what is read, the indices, the applied version, and what was left in the batch. Changes are compared
//! key by key: the contract says nothing of an order across keys.
//!
//! ```
//! use informer_store::{Indexers, indexed};
//! use informer_testkit::conformance::store_writer;
//!
//! let report = store_writer::Suite::new("informer-store", |indices| {
//!     let add = |all: Indexers<_>, (name, function)| all.with_shared(name, function);
//!     indexed(indices.into_iter().fold(Indexers::new(), add)).expect("no index is there twice")
//! })
//! .run();
//! report.assert_conforms();
//! ```

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use informer_core::{Batch, Cause, Change, Delta, Entry, Stamp, Store, StoreWriter};

use super::{
    Indices, Refusal, Report, Samples, Things,
    check::{self, Check, Outcome, Plain, Scope, checks, ensure, scoped},
    reference::Reference,
    rig::{Instance, StoreRig, bookmark, deleted, list, modified, same, same_all, same_told, scanned},
    samples::{entry, reborn},
};
use crate::Rng;

/// Checks the writer of a store.
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
        let mut report = Report::new(&self.subject, "StoreWriter");
        check::run(&mut report, &self.rig, all(), &self.scope);
        report
    }
}

impl<S: Samples> fmt::Debug for Suite<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suite")
            .field("subject", &self.subject)
            .finish_non_exhaustive()
    }
}

fn all<S: Samples>() -> Vec<Check<Plain<StoreRig<S>>>> {
    checks! {
        directed a_new_key: "An upsert of a key that is not there is stored and told as `Added`, initial if the batch is.";
        directed another_version: "Another version of the same object is stored and told as `Updated`, whose `old` is what was stored.";
        directed another_uid: "Another uid is another object: it is stored and told as `Removed`, not observed, then `Added`.";
        directed the_stored_stamp: "An upsert of the stored stamp changes nothing and tells nobody, except that `Cause::Sync` is told as `Resynced`.";
        directed without_a_version: "Where objects have no version, the same allocation is the same state, and any other is another.";
        directed a_sync: "A `Cause::Sync` repeats what is stored and brings nothing back.";
        directed a_delete: "A delete takes the entry out and tells `Removed`, with the last state that the delta brings, else with what was stored.";
        directed a_delete_of_nothing: "A delete of a key that is not there tells nothing.";
        directed a_delete_of_another: "A delete of another uid takes the entry out as well, and tells what was stored, not observed.";
        directed unreadable: "`Unreadable` turns the entry stale and tells nobody; the next state that can be read ends that.";
        directed a_list: "A `Replace` takes the difference: `Removed`, not observed, for what is not in it, and each item as an upsert.";
        directed a_list_again: "What a `Replace` does not change it does not tell.";
        directed a_key_twice: "Of two items of one key in a `Replace` the later one counts.";
        directed a_list_with_gaps: "What a `Replace` could not read stays and turns stale.";
        directed a_resync: "A `Resync` tells `Resynced` for each entry.";
        directed a_bookmark: "A `Bookmark` moves the applied version alone.";
        directed applied_follows: "The applied version follows `Replace` and `Bookmark`, and, where the batch is in order, upserts by the watch, observed deletes and what could not be read.";
        directed applied_by_marks_alone: "Where the batch is not in order, only `Replace` and `Bookmark` move the applied version.";
        directed applied_goes_forward: "It moves only forward, unless a `Replace` or `Bookmark` may rewind.";
        directed applied_without_order: "Of two versions that cannot be compared the later one to come counts, and an empty one changes nothing.";
        directed refused_by_error: "A delta that cannot be applied changes nothing, stays in the batch, and the rest is applied.";
        directed refused_by_panic: "A delta that cannot be applied changes nothing, stays in the batch, and the rest is applied.";
        directed refused_in_a_list: "An item of a `Replace` that cannot be applied leaves the old state, which turns stale, and stays in the batch as an upsert.";
        directed all_at_once: "Applies the deltas of a batch in one step, visible to readers all at once, and appends what changed.";
        directed appends: "Applies the deltas of a batch in one step, visible to readers all at once, and appends what changed.";
        random as_the_rules_say: "Drains from `batch` what it applied.";
    }
}

type BatchOf<S> = Batch<<S as Samples>::Key, <S as Samples>::Object>;
type DeltaOf<S> = Delta<<S as Samples>::Key, <S as Samples>::Object>;
type EntryOf<S> = Entry<<S as Samples>::Key, <S as Samples>::Object>;

/// A store under test and what it must be.
struct Both<'a, S: Samples> {
    tested: Instance<'a, S>,
    wanted: Reference<S::Key, S::Object>,
    /// Objects for which an index function fails.
    refused: Vec<Arc<S::Object>>,
    indexed: bool,
}

impl<'a, S: Samples> Both<'a, S> {
    fn new(rig: &'a StoreRig<S>) -> Self {
        Self {
            tested: rig.fresh(),
            wanted: Reference::new(),
            refused: Vec::new(),
            indexed: rig.indexed,
        }
    }

    fn entry(&self, n: u32, state: u32, version: &str) -> EntryOf<S> {
        entry(self.tested.samples, n, state, version)
    }

    /// An entry that an index function refuses, where there is such an object.
    fn refused(&mut self, n: u32, version: &str, how: Refusal) -> Option<EntryOf<S>> {
        let object = Arc::new(self.tested.samples.refused(n, how)?);
        self.refused.push(object.clone());
        Some(Entry::new(
            self.tested.samples.key(n),
            Stamp::new(version, format!("uid-{n}")),
            object,
        ))
    }

    /// Commits one delta, in order and not initial.
    fn commit(&mut self, delta: DeltaOf<S>) -> Outcome {
        self.commit_batch(Batch::of(delta, false))
    }

    fn commit_batch(&mut self, batch: BatchOf<S>) -> Outcome {
        let story = format!(
            "commit of {:?}{}{}",
            batch.deltas,
            if batch.initial { ", initial" } else { "" },
            if batch.in_order { "" } else { ", not in order" }
        );
        let mut theirs = Batch {
            deltas: batch.deltas.clone(),
            ..Batch::default()
        };
        (theirs.initial, theirs.in_order) = (batch.initial, batch.in_order);
        let mut mine = batch;
        let (told, result) = self.tested.commit_batch(&mut theirs);
        let (refused, indexed) = (&self.refused, self.indexed);
        let accepts = |object: &Arc<S::Object>| !indexed || !refused.iter().any(|it| Arc::ptr_eq(it, object));
        let wanted = self.wanted.commit(&mut mine, &accepts);

        ensure!(
            same_told(&told, &wanted),
            "{story} told {told:?} instead of {wanted:?}"
        );
        ensure!(
            same_left(&theirs.deltas, &mine.deltas),
            "{story} left {:?} in the batch instead of {:?}",
            theirs.deltas,
            mine.deltas
        );
        let mut failed: Vec<&S::Key> = mine.deltas.iter().filter_map(Delta::key).collect();
        failed.sort();
        match result {
            Ok(()) => ensure!(
                failed.is_empty(),
                "{story} is no error, though {failed:?} could not be applied"
            ),
            Err(error) => {
                ensure!(!error.failed.is_empty(), "{story} is an error that names nothing");
                let mut named: Vec<&S::Key> = error.failed.iter().map(|it| &it.key).collect();
                named.sort();
                ensure!(
                    named == failed,
                    "{story} is an error about {named:?} instead of {failed:?}"
                );
                let names: BTreeSet<&str> = self.tested.indices.iter().map(|(name, _)| &**name).collect();
                let unknown = error
                    .failed
                    .iter()
                    .find(|it| it.index.as_ref().is_none_or(|it| !names.contains(&**it)));
                ensure!(
                    unknown.is_none(),
                    "{story} failed by an index function, but the error says {unknown:?}"
                );
            }
        }
        let snapshot = self.tested.store.snapshot();
        let (stored, wanted) = (scanned(&*snapshot, None), self.entries());
        ensure!(
            same_all(&stored, &wanted),
            "after a {story} the store holds {stored:?} instead of {wanted:?}"
        );
        ensure!(
            *snapshot.applied() == self.wanted.applied,
            "after a {story} it has applied {:?} instead of {:?}",
            snapshot.applied(),
            self.wanted.applied
        );
        self.tested
            .agrees(&*snapshot)
            .map_err(|seen| format!("after a {story}: {seen}"))
    }

    fn entries(&self) -> Vec<EntryOf<S>> {
        self.wanted.entries.values().cloned().collect()
    }

    /// With the first `n` objects, listed at version 10.
    fn filled(rig: &'a StoreRig<S>, n: u32) -> Outcome<Self> {
        let mut both = Self::new(rig);
        let items = (0..n).map(|n| both.entry(n, 0, &format!("{}", n + 1)));
        let items = list(items.collect(), "10");
        both.commit(items)?;
        Ok(both)
    }
}

/// What failed, in any order.
fn same_left<Q: Ord, K>(a: &[Delta<Q, K>], b: &[Delta<Q, K>]) -> bool {
    let is = |a: &Delta<Q, K>, b: &Delta<Q, K>| match (a, b) {
        (Delta::Upsert(a, c), Delta::Upsert(b, d)) => same(a, b) && c == d,
        _ => false,
    };
    a.len() == b.len() && a.iter().all(|a| b.iter().any(|b| is(a, b)))
}

fn a_new_key<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::new(rig);
    both.commit_batch(Batch::of(modified(both.entry(0, 0, "1")), true))?;
    both.commit_batch(Batch::of(
        Delta::Upsert(both.entry(1, 0, "2"), Cause::Added),
        false,
    ))?;
    both.commit_batch(Batch::of(
        Delta::Upsert(both.entry(2, 0, "3"), Cause::Listed),
        true,
    ))?;
    both.commit_batch(Batch::of(list(vec![both.entry(3, 0, "4")], "5"), true))?;
    both.commit_batch(Batch::of(list(vec![both.entry(4, 0, "4")], "6"), false))
}

fn another_version<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    both.commit(modified(both.entry(0, 1, "11")))?;
    both.commit(Delta::Upsert(both.entry(0, 2, "12"), Cause::Added))?;
    both.commit_batch(Batch::of(modified(both.entry(0, 3, "13")), true))?;
    // An older version is another, too: the source knows what it says.
    both.commit(modified(both.entry(0, 4, "12")))
}

fn another_uid<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    both.commit(modified(reborn(&rig.samples, 0, 1, "11")))?;
    both.commit(list(
        vec![reborn(&rig.samples, 0, 1, "11"), reborn(&rig.samples, 1, 0, "12")],
        "12",
    ))?;
    // The same version of another life.
    both.commit(modified(both.entry(1, 0, "12")))?;
    // Without a uid there is nothing to tell them apart.
    let mut nameless = both.entry(1, 2, "14");
    nameless.stamp.uid = "".into();
    both.commit(modified(nameless))?;
    both.commit(modified(both.entry(1, 3, "15")))
}

fn the_stored_stamp<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    // Another copy, and other contents, which nobody must look at.
    both.commit(modified(both.entry(0, 0, "1")))?;
    both.commit(Delta::Upsert(both.entry(0, 3, "1"), Cause::Added))?;
    both.commit(Delta::Upsert(both.entry(1, 0, "2"), Cause::Listed))?;
    both.commit(Delta::Upsert(both.entry(1, 0, "2"), Cause::Sync))
}

fn without_a_version<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::new(rig);
    let first = both.entry(0, 0, "");
    both.commit(modified(first.clone()))?;
    both.commit(modified(first.clone()))?;
    both.commit(modified(both.entry(0, 1, "")))?;
    both.commit(list(vec![first.clone()], ""))?;
    both.commit(list(vec![first], ""))
}

fn a_sync<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    let old = both.entry(0, 0, "1");
    both.commit(modified(both.entry(0, 1, "11")))?;
    both.commit(Delta::Upsert(old, Cause::Sync))?;
    both.commit(deleted(both.entry(1, 0, "12")))?;
    both.commit(Delta::Upsert(both.entry(1, 0, "2"), Cause::Sync))
}

fn a_delete<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 3)?;
    both.commit(deleted(both.entry(0, 3, "11")))?;
    let without_last = |n, version: &str, observed| Delta::Delete {
        key: rig.samples.key(n),
        stamp: Stamp::new(version, format!("uid-{n}")),
        last: None,
        observed,
    };
    both.commit(without_last(1, "12", true))?;
    both.commit(without_last(2, "13", false))?;
    both.commit(modified(both.entry(0, 0, "14")))
}

fn a_delete_of_nothing<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 1)?;
    both.commit(deleted(both.entry(5, 0, "11")))?;
    both.commit(deleted(both.entry(0, 0, "12")))?;
    both.commit(deleted(both.entry(0, 0, "13")))
}

fn a_delete_of_another<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    both.commit(deleted(reborn(&rig.samples, 0, 3, "11")))?;
    both.commit(Delta::Delete {
        key: rig.samples.key(1),
        stamp: Stamp::new("12", "another"),
        last: None,
        observed: false,
    })
}

fn unreadable<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 3)?;
    let unreadable = |n, version: &str| Delta::Unreadable {
        key: rig.samples.key(n),
        stamp: Stamp::new(version, format!("uid-{n}")),
    };
    for n in [0, 0, 1, 2, 7] {
        both.commit(unreadable(n, &format!("{}", 11 + n)))?;
    }
    // The stored state again, another state, another life.
    both.commit(modified(both.entry(0, 0, "1")))?;
    both.commit(modified(both.entry(1, 1, "20")))?;
    both.commit(modified(reborn(&rig.samples, 2, 1, "21")))
}

fn a_list<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 4)?;
    both.commit(list(
        vec![
            both.entry(5, 0, "12"),
            both.entry(2, 0, "3"),
            both.entry(1, 1, "11"),
        ],
        "13",
    ))?;
    both.commit(list(Vec::new(), "14"))
}

fn a_list_again<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 4)?;
    let copies = |both: &Both<'_, S>| (0..4).map(|n| both.entry(n, 0, &format!("{}", n + 1))).collect();
    both.commit(list(copies(&both), "20"))?;
    both.commit(Delta::Replace {
        items: copies(&both),
        unreadable: Vec::new(),
        at: "15".into(),
        may_rewind: true,
    })
}

fn a_key_twice<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    let twice = vec![
        both.entry(0, 2, "12"),
        both.entry(1, 0, "2"),
        both.entry(0, 1, "11"),
    ];
    both.commit(list(twice, "13"))?;
    let twice = vec![both.entry(0, 2, "12"), both.entry(0, 1, "11")];
    both.commit(list(twice, "14"))
}

fn a_list_with_gaps<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 4)?;
    both.commit(Delta::Replace {
        items: vec![both.entry(1, 1, "11"), both.entry(2, 0, "3")],
        // One that is stored, one that was read as well, one that nobody knows.
        unreadable: vec![rig.samples.key(0), rig.samples.key(1), rig.samples.key(8)],
        at: "12".into(),
        may_rewind: false,
    })
}

fn a_resync<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 4)?;
    both.commit(Delta::Resync)?;
    both.commit(deleted(both.entry(2, 0, "11")))?;
    both.commit(Delta::Resync)?;
    both.commit(list(Vec::new(), "12"))?;
    both.commit(Delta::Resync)
}

fn a_bookmark<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    both.commit(bookmark("20"))?;
    both.commit(bookmark("20"))?;
    both.commit(bookmark("21"))
}

/// One delta of each sort, at growing versions.
fn one_of_each<S: Samples>(rig: &StoreRig<S>, from: u32) -> Vec<DeltaOf<S>> {
    let version = |n: u32| format!("{}", from + n);
    let unread = Delta::Unreadable {
        key: rig.samples.key(2),
        stamp: Stamp::new(&*version(2), "uid-2"),
    };
    let concluded = Delta::Delete {
        key: rig.samples.key(3),
        stamp: Stamp::new(&*version(3), "uid-3"),
        last: None,
        observed: false,
    };
    vec![
        modified(entry(&rig.samples, 0, 1, &version(0))),
        deleted(entry(&rig.samples, 1, 0, &version(1))),
        unread,
        concluded,
        Delta::Upsert(entry(&rig.samples, 4, 1, &version(4)), Cause::Listed),
        Delta::Upsert(entry(&rig.samples, 0, 1, &version(5)), Cause::Sync),
        Delta::Resync,
        bookmark(&version(6)),
        list(vec![entry(&rig.samples, 0, 2, &version(7))], &version(8)),
    ]
}

fn applied_follows<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 6)?;
    for delta in one_of_each(rig, 20) {
        both.commit(delta)?;
    }
    // All of a batch, in their order.
    let mut both = Both::filled(rig, 6)?;
    let deltas = one_of_each(rig, 20).into_iter().take(5).collect();
    both.commit_batch(Batch {
        deltas,
        initial: false,
        in_order: true,
    })
}

fn applied_by_marks_alone<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 6)?;
    for delta in one_of_each(rig, 20) {
        both.commit_batch(Batch {
            deltas: vec![delta],
            initial: false,
            in_order: false,
        })?;
    }
    Ok(())
}

fn applied_goes_forward<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    let rewind = |at: &str| Delta::Bookmark {
        at: at.into(),
        may_rewind: true,
    };
    both.commit(modified(both.entry(0, 1, "9")))?;
    both.commit(bookmark("9"))?;
    both.commit(list(vec![both.entry(0, 2, "8")], "8"))?;
    both.commit(bookmark("100"))?;
    both.commit(bookmark("99"))?;
    both.commit(rewind("50"))?;
    both.commit(bookmark("49"))?;
    both.commit(Delta::Replace {
        items: vec![both.entry(1, 1, "30")],
        unreadable: Vec::new(),
        at: "40".into(),
        may_rewind: true,
    })?;
    both.commit(modified(both.entry(1, 2, "41")))
}

fn applied_without_order<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut both = Both::filled(rig, 2)?;
    for at in ["abc", "", "aaa", "7", "", "007", "6"] {
        both.commit(bookmark(at))?;
        both.commit(modified(both.entry(0, 1, at)))?;
    }
    Ok(())
}

fn refused_by_error<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    refused(rig, Refusal::Error)
}

fn refused_by_panic<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    refused(rig, Refusal::Panic)
}

fn refused<S: Samples>(rig: &StoreRig<S>, how: Refusal) -> Outcome {
    let mut both = Both::filled(rig, 3)?;
    let (Some(first), Some(second)) = (both.refused(0, "11", how), both.refused(7, "12", how)) else {
        return Ok(());
    };
    let deltas = vec![
        modified(both.entry(1, 1, "13")),
        modified(first),
        modified(both.entry(8, 0, "14")),
        Delta::Upsert(second, Cause::Added),
        deleted(both.entry(2, 0, "15")),
    ];
    both.commit_batch(Batch {
        deltas,
        initial: false,
        in_order: true,
    })?;
    // Nothing is left of it: the store goes on.
    both.commit(modified(both.entry(0, 2, "16")))?;
    both.commit(modified(both.entry(7, 2, "17")))
}

fn refused_in_a_list<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    for how in [Refusal::Error, Refusal::Panic] {
        let mut both = Both::filled(rig, 3)?;
        let (Some(known), Some(unknown)) = (both.refused(0, "11", how), both.refused(7, "12", how)) else {
            return Ok(());
        };
        let items = vec![both.entry(1, 1, "13"), known, unknown, both.entry(8, 1, "14")];
        both.commit_batch(Batch::of(list(items, "20"), true))?;
        both.commit(modified(both.entry(0, 3, "21")))?;
    }
    Ok(())
}

fn all_at_once<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(3)?;
    let before = scanned(&*instance.store.snapshot(), None);
    let seen: Arc<Mutex<Vec<Vec<EntryOf<S>>>>> = Arc::default();
    let (store, notes) = (instance.store.clone(), seen.clone());
    instance.during_a_commit(move || {
        let store = store.clone();
        let read = super::probe::elsewhere(move || scanned(&*store.snapshot(), None));
        // One that waits for the end of the commit sees no part of it.
        notes.lock().unwrap_or_else(PoisonError::into_inner).extend(read);
    });
    let items = [7, 8, 9].map(|n| instance.entry(n, 1, "11"));
    instance.commit(list(items.to_vec(), "12"))?;
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    match seen.iter().find(|seen| !same_all(seen, &before)) {
        None => Ok(()),
        Some(seen) => Err(format!(
            "during a commit, a reader saw {seen:?} instead of what was before, {before:?}"
        )),
    }
}

fn appends<S: Samples>(rig: &StoreRig<S>) -> Outcome {
    let mut instance = rig.filled(1)?;
    let mut changes = vec![Change::Resynced {
        current: instance.entry(5, 0, "5"),
    }];
    let mut batch = Batch::of(modified(instance.entry(0, 1, "11")), false);
    let result = instance.writer.commit(&mut batch, &mut changes);
    ensure!(
        result.is_ok() && batch.is_empty(),
        "a commit failed that must not: {result:?}"
    );
    ensure!(
        matches!(changes[..], [Change::Resynced { .. }, Change::Updated { .. }]),
        "changes held one, a commit told one more, and now they are {changes:?}"
    );
    let result = instance.writer.commit(&mut batch, &mut changes);
    ensure!(
        result.is_ok() && changes.len() == 2,
        "a commit of nothing told {changes:?}"
    );
    Ok(())
}

/// Whatever may come, on few keys, with versions that repeat, go back, and cannot be compared.
fn as_the_rules_say<S: Samples>(rig: &StoreRig<S>, rng: &mut Rng) -> Outcome {
    let mut both = Both::new(rig);
    for at in 1..60 {
        let mut batch = match rng.index(6) {
            0 => Batch::of(random_list(&mut both, rng, at), false),
            1 => Batch::of(
                if rng.chance(0.5) {
                    Delta::Resync
                } else {
                    Delta::Bookmark {
                        at: version(rng, at).as_str().into(),
                        may_rewind: rng.chance(0.2),
                    }
                },
                false,
            ),
            _ => Batch {
                deltas: random_deltas(&mut both, rng, at),
                ..Batch::default()
            },
        };
        batch.initial = rng.chance(0.3);
        batch.in_order = rng.chance(0.7);
        both.commit_batch(batch)?;
    }
    Ok(())
}

fn version(rng: &mut Rng, at: u64) -> String {
    match rng.index(12) {
        0 => String::new(),
        1 => "some-version".to_owned(),
        2 | 3 => format!("{}", 1 + rng.range(0..at)),
        _ => format!("{at}"),
    }
}

fn random_entry<S: Samples>(both: &mut Both<'_, S>, rng: &mut Rng, n: u32, at: u64) -> EntryOf<S> {
    let version = version(rng, at);
    let state = u32::try_from(rng.range(0..5)).unwrap_or(0);
    let stored = both.wanted.entries.get(&both.tested.samples.key(n)).cloned();
    match (rng.index(12), stored) {
        (0, _) => reborn(both.tested.samples, n, state, &version),
        (1, _) => {
            let how = if rng.chance(0.9) {
                Refusal::Error
            } else {
                Refusal::Panic
            };
            let refused = both.refused(n, &version, how);
            refused.unwrap_or_else(|| both.entry(n, state, &version))
        }
        (2, _) => {
            let mut entry = both.entry(n, state, &version);
            entry.stamp.uid = "".into();
            entry
        }
        // The very same, and the same state in another copy.
        (3, Some(stored)) => Entry {
            stale: false,
            ..stored
        },
        (4 | 5, Some(stored)) => Entry::new(
            stored.key,
            stored.stamp,
            Arc::new(both.tested.samples.object(n, state)),
        ),
        _ => both.entry(n, state, &version),
    }
}

fn random_list<S: Samples>(both: &mut Both<'_, S>, rng: &mut Rng, at: u64) -> DeltaOf<S> {
    let (mut items, mut unreadable) = (Vec::new(), Vec::new());
    for n in 0..8 {
        for _ in 0..rng.index(3) {
            items.push(random_entry(both, rng, n, at));
        }
        if rng.chance(0.15) {
            unreadable.push(both.tested.samples.key(n));
        }
    }
    Delta::Replace {
        items,
        unreadable,
        at: version(rng, at).as_str().into(),
        may_rewind: rng.chance(0.2),
    }
}

fn random_deltas<S: Samples>(both: &mut Both<'_, S>, rng: &mut Rng, at: u64) -> Vec<DeltaOf<S>> {
    let mut deltas = Vec::new();
    for n in (0..8).filter(|_| rng.chance(0.4)).collect::<Vec<_>>() {
        let entry = random_entry(both, rng, n, at);
        deltas.push(match rng.index(8) {
            0 => Delta::Unreadable {
                key: entry.key,
                stamp: entry.stamp,
            },
            1 | 2 => Delta::Delete {
                key: entry.key,
                stamp: entry.stamp,
                last: rng.chance(0.5).then_some(entry.object),
                observed: rng.chance(0.7),
            },
            3 => Delta::Upsert(entry, Cause::Sync),
            4 => Delta::Upsert(entry, Cause::Listed),
            5 => Delta::Upsert(entry, Cause::Added),
            _ => Delta::Upsert(entry, Cause::Modified),
        });
    }
    deltas
}
