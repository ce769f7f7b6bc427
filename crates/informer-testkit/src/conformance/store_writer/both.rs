//! A store under test beside a plain one.

use std::{collections::BTreeSet, sync::Arc};

use informer_core::{Batch, Delta, Entry, Stamp, Store};

use crate::conformance::{
    Refusal, Samples,
    check::{Outcome, ensure},
    reference::Reference,
    rig::{Instance, StoreRig, list, same, same_all, same_told, scanned},
    samples::entry,
};

pub(super) type BatchOf<S> = Batch<<S as Samples>::Key, <S as Samples>::Object>;

pub(super) type DeltaOf<S> = Delta<<S as Samples>::Key, <S as Samples>::Object>;

pub(super) type EntryOf<S> = Entry<<S as Samples>::Key, <S as Samples>::Object>;

/// A store under test and what it must be.
pub(super) struct Both<'a, S: Samples> {
    pub(super) tested: Instance<'a, S>,
    pub(super) wanted: Reference<S::Key, S::Object>,
    /// Objects for which an index function fails.
    pub(super) refused: Vec<Arc<S::Object>>,
    pub(super) indexed: bool,
}

impl<'a, S: Samples> Both<'a, S> {
    pub(super) fn new(rig: &'a StoreRig<S>) -> Self {
        Self {
            tested: rig.fresh(),
            wanted: Reference::new(),
            refused: Vec::new(),
            indexed: rig.indexed,
        }
    }

    pub(super) fn entry(&self, n: u32, state: u32, version: &str) -> EntryOf<S> {
        entry(self.tested.samples, n, state, version)
    }

    /// An entry that an index function refuses, where there is such an object.
    pub(super) fn refused(&mut self, n: u32, version: &str, how: Refusal) -> Option<EntryOf<S>> {
        let object = Arc::new(self.tested.samples.refused(n, how)?);
        self.refused.push(object.clone());
        Some(Entry::new(
            self.tested.samples.key(n),
            Stamp::new(version, format!("uid-{n}")),
            object,
        ))
    }

    /// Commits one delta, in order and not initial.
    pub(super) fn commit(&mut self, delta: DeltaOf<S>) -> Outcome {
        self.commit_batch(Batch::of(delta, false))
    }

    pub(super) fn commit_batch(&mut self, batch: BatchOf<S>) -> Outcome {
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

    pub(super) fn entries(&self) -> Vec<EntryOf<S>> {
        self.wanted.entries.values().cloned().collect()
    }

    /// With the first `n` objects, listed at version 10.
    pub(super) fn filled(rig: &'a StoreRig<S>, n: u32) -> Outcome<Self> {
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
