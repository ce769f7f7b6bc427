//! `Store` and `Snapshot`.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::ControlFlow,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    task::{Context, Poll, Waker},
};

use conformance_tests::{Ledger, Numbers, shelf};
use informer_core::{
    Batch, Change, CommitError, Entry, ObjectKey, ResourceVersion, Snapshot, Store, StoreWriter, UnknownIndex,
};
use informer_store::{Indexers, Reader, Writer, indexed};
use informer_testkit::conformance::{Indices, Thing, store::Suite};

use crate::wrong::{all_catch, caught};

type Q = ObjectKey;
type K = Thing;

pub(crate) fn sides<Q2: informer_core::Key, K2: Send + Sync + 'static>(
    indices: Indices<K2>,
) -> (Writer<Q2, K2>, Reader<Q2, K2>) {
    let add = |all: Indexers<K2>, (name, function)| all.with_shared(name, function);
    indexed(indices.into_iter().fold(Indexers::new(), add)).unwrap()
}

pub(crate) fn ours() -> Suite {
    Suite::new("informer-store", sides)
}

#[test]
fn ours_conforms() {
    ours().run().assert_conforms();
    ours().without_indices().run().assert_conforms();
    Suite::over(Numbers, "informer-store of numbers", sides)
        .run()
        .assert_conforms();
}

#[test]
fn maps_that_are_copied_conform() {
    Suite::new("Shelf", shelf).run().assert_conforms();
}

#[test]
fn a_vector_conforms() {
    Suite::over(Numbers, "Ledger", Ledger::open)
        .run()
        .assert_conforms();
}

/// What is wrong with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    AppliesZeroAtFirst,
    ForgetsTheFirst,
    Copies,
    IsAlive,
    HasAnOldIndex,
    BeginsAtTheKey,
    SortsByText,
    NeverBreaks,
    KeepsOldValues,
    TellsTwice,
    KnowsEveryIndex,
    CountsCommits,
    LocksOutReaders,
    LocksOutTheWriter,
    KeepsOneWaker,
    KeepsNoWaker,
}

const WRONG: [(Fault, &str); 17] = [
    (Fault::AppliesZeroAtFirst, "empty_at_first"),
    (Fault::ForgetsTheFirst, "everything_is_found"),
    (Fault::SortsByText, "everything_is_found"),
    (Fault::Copies, "the_object_itself"),
    (Fault::IsAlive, "a_snapshot_stays"),
    (Fault::HasAnOldIndex, "one_state_for_every_query"),
    (Fault::BeginsAtTheKey, "a_scan_begins_behind"),
    (Fault::NeverBreaks, "a_visit_breaks"),
    (Fault::KeepsOldValues, "an_index_forgets"),
    (Fault::TellsTwice, "values_are_folded"),
    (Fault::KnowsEveryIndex, "an_unknown_index"),
    (Fault::CountsCommits, "the_length"),
    (Fault::LocksOutReaders, "a_reader_does_not_wait"),
    (Fault::LocksOutTheWriter, "a_writer_does_not_wait"),
    (Fault::KeepsOneWaker, "whoever_waits_is_woken"),
    (Fault::KeepsNoWaker, "a_version_is_waited_for"),
    (Fault::IsAlive, "nothing_torn_is_seen"),
];

/// A store with a fault.
#[derive(Clone)]
struct Skewed {
    store: Reader<Q, K>,
    fault: Fault,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    lock: Mutex<()>,
    first: OnceLock<Arc<dyn Snapshot<Q, K>>>,
    waker: Mutex<Option<Waker>>,
    n_commits: Mutex<usize>,
}

struct View {
    inner: Arc<dyn Snapshot<Q, K>>,
    of: Skewed,
    copies: BTreeMap<Q, Entry<Q, K>>,
}

struct SkewedWriter {
    writer: Writer<Q, K>,
    of: Skewed,
}

fn skewed(fault: Fault) -> impl Fn(Indices<K>) -> (SkewedWriter, Skewed) {
    move |indices| {
        let (writer, store) = sides(indices);
        let of = Skewed {
            store,
            fault,
            shared: Arc::default(),
        };
        (
            SkewedWriter {
                writer,
                of: of.clone(),
            },
            of,
        )
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl StoreWriter<Q, K> for SkewedWriter {
    fn commit(
        &mut self,
        batch: &mut Batch<Q, K>,
        changes: &mut Vec<Change<Q, K>>,
    ) -> Result<(), CommitError<Q>> {
        let of = &self.of;
        let _alone = matches!(of.fault, Fault::LocksOutReaders | Fault::LocksOutTheWriter)
            .then(|| lock(&of.shared.lock));
        *lock(&of.shared.n_commits) += batch.deltas.len();
        let result = self.writer.commit(batch, changes);
        if let Some(waker) = lock(&of.shared.waker).take() {
            waker.wake();
        }
        result
    }
}

impl Store<Q, K> for Skewed {
    fn snapshot(&self) -> Arc<dyn Snapshot<Q, K>> {
        let _alone = (self.fault == Fault::LocksOutReaders).then(|| lock(&self.shared.lock));
        let inner = self.store.snapshot();
        if !inner.is_empty() {
            self.shared.first.get_or_init(|| inner.clone());
        }
        let mut copies = BTreeMap::new();
        if self.fault == Fault::Copies {
            inner.scan(None, &mut |entry| {
                let object = Arc::new(Thing::clone(&entry.object));
                copies.insert(
                    entry.key.clone(),
                    Entry {
                        object,
                        ..entry.clone()
                    },
                );
                ControlFlow::Continue(())
            });
        }
        Arc::new(View {
            inner,
            of: self.clone(),
            copies,
        })
    }

    fn len(&self) -> usize {
        match self.fault {
            Fault::CountsCommits => self.store.len() + *lock(&self.shared.n_commits) - 1,
            _ => self.store.len(),
        }
    }

    fn poll_changed(&self, cx: &mut Context<'_>, seen: &ResourceVersion) -> Poll<()> {
        let changed = *self.store.snapshot().applied() != *seen;
        match self.fault {
            _ if changed => Poll::Ready(()),
            Fault::KeepsNoWaker => Poll::Pending,
            Fault::KeepsOneWaker => {
                *lock(&self.shared.waker) = Some(cx.waker().clone());
                Poll::Pending
            }
            _ => self.store.poll_changed(cx, seen),
        }
    }
}

impl View {
    fn first(&self) -> &dyn Snapshot<Q, K> {
        self.of.shared.first.get().map_or(&*self.inner, |first| &**first)
    }
}

impl Snapshot<Q, K> for View {
    fn get(&self, key: &Q) -> Option<&Entry<Q, K>> {
        match self.of.fault {
            Fault::Copies => self.copies.get(key),
            Fault::ForgetsTheFirst => self.inner.get(key).filter(|entry| entry.key.name() != "thing-0"),
            _ => self.inner.get(key),
        }
    }

    fn scan(&self, after: Option<&Q>, visit: &mut dyn FnMut(&Entry<Q, K>) -> ControlFlow<()>) {
        match self.of.fault {
            Fault::IsAlive => self.of.store.snapshot().scan(after, visit),
            Fault::Copies => {
                let behind = |entry: &&Entry<Q, K>| after.is_none_or(|after| entry.key > *after);
                let _ = self.copies.values().filter(behind).try_for_each(visit);
            }
            Fault::BeginsAtTheKey => {
                if let Some(entry) = after.and_then(|after| self.inner.get(after))
                    && visit(entry).is_break()
                {
                    return;
                }
                self.inner.scan(after, visit);
            }
            Fault::SortsByText => {
                let mut all = Vec::new();
                self.inner.scan(after, &mut |entry| {
                    all.push(entry.clone());
                    ControlFlow::Continue(())
                });
                all.sort_by(|a, b| a.key.as_str().cmp(b.key.as_str()));
                let _ = all.iter().try_for_each(visit);
            }
            Fault::LocksOutTheWriter => {
                let _alone = lock(&self.of.shared.lock);
                self.inner.scan(after, visit);
            }
            _ => self.inner.scan(after, visit),
        }
    }

    fn by_index(
        &self,
        index: &str,
        value: &str,
        visit: &mut dyn FnMut(&Entry<Q, K>) -> ControlFlow<()>,
    ) -> Result<(), UnknownIndex> {
        match self.of.fault {
            Fault::HasAnOldIndex => self.first().by_index(index, value, visit),
            Fault::KnowsEveryIndex => self.inner.by_index(index, value, visit).or(Ok(())),
            Fault::NeverBreaks => self.inner.by_index(index, value, &mut |entry| {
                let _ = visit(entry);
                ControlFlow::Continue(())
            }),
            Fault::TellsTwice => self.inner.by_index(index, value, &mut |entry| {
                let times = entry
                    .object
                    .colors
                    .iter()
                    .filter(|color| **color == value)
                    .count();
                (0..times.max(1)).try_for_each(|_| visit(entry))
            }),
            Fault::KeepsOldValues => {
                // One that stood under the value once stays there.
                let mut told = BTreeSet::new();
                for snapshot in [&*self.inner, self.first()] {
                    snapshot.by_index(index, value, &mut |entry| {
                        if told.insert(entry.key.clone()) {
                            visit(entry)
                        } else {
                            ControlFlow::Continue(())
                        }
                    })?;
                }
                Ok(())
            }
            _ => self.inner.by_index(index, value, visit),
        }
    }

    fn applied(&self) -> &ResourceVersion {
        static ZERO: OnceLock<ResourceVersion> = OnceLock::new();
        if self.of.fault == Fault::AppliesZeroAtFirst && self.inner.applied().is_none() {
            return ZERO.get_or_init(|| "0".into());
        }
        self.inner.applied()
    }
}

#[test]
fn wrong_ones_are_found_out() {
    for (fault, check) in WRONG {
        let report = Suite::new(&format!("{fault:?}"), skewed(fault)).only(check).run();
        caught(check, &report);
    }
    all_catch(&ours().run(), &WRONG.map(|(_, check)| check));
}
