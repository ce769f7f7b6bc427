//! `DeltaQueue`.

use std::{
    collections::BTreeMap,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use conformance_tests::{Line, Numbers, Sections};
use informer_core::{Batch, Cause, Closed, Delta, DeltaQueue, DeltaSink, ObjectKey, Stamp, Store};
use informer_deltafifo::{Coalescing, InOrder, Options};
use informer_testkit::conformance::{Thing, delta_queue::Suite};

use crate::wrong::{all_catch, caught};

type Q = ObjectKey;
type K = Thing;

pub(crate) fn in_order() -> Suite {
    Suite::new("InOrder", |_| InOrder::new(Options::default()))
}

fn coalescing() -> Suite {
    Suite::new("Coalescing", |known| Coalescing::new(known, Options::default()))
}

#[test]
fn ours_conforms_in_order() {
    in_order().seeds(0..200).run().assert_conforms();
    let small = |_| InOrder::new(Options::new(2, 5));
    let small = Suite::new("InOrder in small batches", small).pushes_back_by(5);
    small.run().assert_conforms();
    let numbers = Suite::over(
        Numbers,
        "InOrder of numbers",
        |_| InOrder::new(Options::default()),
    );
    numbers.run().assert_conforms();
}

#[test]
fn ours_conforms_coalescing() {
    coalescing().seeds(0..200).run().assert_conforms();
    let small = |known| Coalescing::new(known, Options::new(2, 5));
    let small = Suite::new("Coalescing in small batches", small).pushes_back_by(5);
    small.run().assert_conforms();
    let numbers = |known| Coalescing::new(known, Options::default());
    Suite::over(Numbers, "Coalescing of numbers", numbers)
        .run()
        .assert_conforms();
}

#[test]
fn a_line_conforms() {
    let line = Suite::new("Line", |_| Line::new(7)).pushes_back_by(7);
    line.run().assert_conforms();
}

#[test]
fn one_that_sorts_by_key_conforms() {
    let sections = Suite::new("Sections", |known| Sections::new(known, 20)).pushes_back_by(20);
    sections.run().assert_conforms();
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    SyncedAtFirst,
    IgnoresMax,
    PopsTwice,
    SaysNothingIsInitial,
    NewestFirst,
    SaysInOrder,
    KeepsTheNewest,
    CountsPops,
    SyncedByNothing,
    ListsEndIt,
    FailuresCount,
    DropsFailed,
    KeepsMoot,
    HasNoLength,
    NeverFull,
    FullForEver,
    KeepsWakers,
    DropsWhenFull,
    SaysClosed,
    KnowsByKey,
    DropsResyncs,
    DropsBookmarks,
    NeverRewinds,
    DropsGaps,
    DropsDeletes,
    MergesAcrossLists,
}

const WRONG: [(Fault, &str); 28] = [
    (Fault::SyncedAtFirst, "nothing_waits_at_first"),
    (Fault::IgnoresMax, "at_most_so_many"),
    (Fault::PopsTwice, "keys_are_distinct"),
    (Fault::PopsTwice, "about_the_whole_alone"),
    (Fault::SaysNothingIsInitial, "initial_and_later_apart"),
    (Fault::NewestFirst, "the_order_of_a_key"),
    (Fault::SaysInOrder, "in_the_order_of_the_source"),
    (Fault::KeepsTheNewest, "nothing_is_left_out"),
    (Fault::CountsPops, "not_before_it_is_settled"),
    (Fault::SyncedByNothing, "an_empty_list_syncs"),
    (Fault::ListsEndIt, "synced_for_good"),
    (Fault::FailuresCount, "a_failure_keeps_nobody_unsynced"),
    (Fault::DropsFailed, "failed_comes_again"),
    (Fault::KeepsMoot, "moot_does_not"),
    (Fault::HasNoLength, "len_is_what_waits"),
    (Fault::NeverFull, "pushes_back"),
    (Fault::FullForEver, "ready_again"),
    (Fault::KeepsWakers, "keeps_no_waker"),
    (Fault::DropsWhenFull, "push_when_not_ready"),
    (Fault::SaysClosed, "nobody_reads"),
    (Fault::KnowsByKey, "known_is_exact"),
    (Fault::DropsResyncs, "a_resync_repeats"),
    (Fault::DropsBookmarks, "a_bookmark_arrives"),
    (Fault::NeverRewinds, "a_list_may_rewind"),
    (Fault::DropsGaps, "a_list_meets_what_waits"),
    (Fault::DropsDeletes, "the_store_follows"),
    (Fault::SaysInOrder, "the_store_follows"),
    (Fault::MergesAcrossLists, "the_store_follows"),
];

/// A queue with a fault. Only where the fault asks for it is there more in it than ours.
struct Bent {
    queue: Box<dyn DeltaQueue<Q, K>>,
    fault: Fault,
    known: Arc<dyn Store<Q, K>>,
    /// For those that hold things themselves.
    held: Vec<Delta<Q, K>>,
    wakers: Vec<Waker>,
    flag: bool,
}

fn bent(fault: Fault) -> impl Fn(Arc<dyn Store<Q, K>>) -> Bent {
    move |known| {
        let queue: Box<dyn DeltaQueue<Q, K>> = match fault {
            Fault::SaysInOrder => Box::new(Sections::new(known.clone(), 100)),
            _ => Box::new(InOrder::new(Options::new(1000, 100))),
        };
        Bent {
            queue,
            fault,
            known,
            held: Vec::new(),
            wakers: Vec::new(),
            flag: false,
        }
    }
}

impl DeltaSink<Q, K> for Bent {
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Closed>> {
        let ready = self.queue.poll_ready(cx);
        match self.fault {
            Fault::NeverFull => return Poll::Ready(Ok(())),
            Fault::FullForEver => {
                self.flag |= ready.is_pending();
                if self.flag {
                    return Poll::Pending;
                }
            }
            Fault::KeepsWakers if ready.is_pending() => self.wakers.push(cx.waker().clone()),
            _ => {}
        }
        ready
    }

    fn push(&mut self, mut delta: Delta<Q, K>) {
        match (self.fault, &mut delta) {
            (Fault::DropsResyncs, Delta::Resync)
            | (Fault::DropsBookmarks, Delta::Bookmark { .. })
            | (Fault::DropsDeletes, Delta::Delete { .. }) => return,
            (Fault::NeverRewinds, Delta::Replace { may_rewind, .. }) => *may_rewind = false,
            (Fault::DropsGaps, Delta::Replace { unreadable, .. }) => unreadable.clear(),
            (Fault::DropsWhenFull, _) if self.queue.len() >= 100 => return,
            (Fault::NewestFirst | Fault::KeepsTheNewest | Fault::MergesAcrossLists, _) => {
                if self.fault == Fault::KeepsTheNewest {
                    self.held
                        .retain(|it| it.key().is_none() || it.key() != delta.key());
                }
                // A later list takes the place of an earlier one, and what was between them goes on.
                if self.fault == Fault::MergesAcrossLists
                    && let Delta::Replace { .. } = delta
                    && let Some(before) = self
                        .held
                        .iter_mut()
                        .find(|it| matches!(it, Delta::Replace { .. }))
                {
                    *before = delta;
                    return;
                }
                self.held.push(delta);
                return;
            }
            _ => {}
        }
        self.queue.push(delta);
    }

    fn poll_closed(&mut self, _: &mut Context<'_>) -> Poll<()> {
        match self.fault {
            Fault::SaysClosed => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }

    fn known(&self, key: &Q, _: &Stamp) -> Option<Arc<K>> {
        match self.fault {
            Fault::KnowsByKey => self.known.get(key).map(|it| it.object),
            _ => None,
        }
    }
}

impl Bent {
    fn moves_on(&mut self) {
        if self.fault == Fault::NewestFirst {
            self.held.reverse();
        }
        self.held.drain(..).for_each(|delta| self.queue.push(delta));
    }
}

impl DeltaQueue<Q, K> for Bent {
    fn pop_into(&mut self, batch: &mut Batch<Q, K>, max: usize) -> usize {
        self.moves_on();
        let max = if self.fault == Fault::IgnoresMax {
            1000
        } else {
            max
        };
        let mut n = self.queue.pop_into(batch, max);
        if self.fault == Fault::PopsTwice && n < max {
            n += self.queue.pop_into(batch, max - n);
        }
        match self.fault {
            Fault::SaysNothingIsInitial => batch.initial = false,
            Fault::SaysInOrder => batch.in_order = true,
            Fault::CountsPops => self.flag |= n > 0,
            _ => {}
        }
        n
    }

    fn settle(&mut self, failed: Vec<Delta<Q, K>>) {
        match self.fault {
            Fault::SyncedByNothing => self.flag = true,
            Fault::FailuresCount => self.flag |= failed.is_empty() && self.queue.is_empty(),
            _ => {}
        }
        if self.fault == Fault::KeepsMoot {
            let mut waiting = Batch::default();
            while self.queue.pop_into(&mut waiting, 1000) > 0 {}
            self.queue.settle(Vec::new());
            failed
                .into_iter()
                .chain(waiting.deltas)
                .for_each(|delta| self.queue.push(delta));
            return;
        }
        self.queue.settle(if self.fault == Fault::DropsFailed {
            Vec::new()
        } else {
            failed
        });
    }

    fn has_synced(&self) -> bool {
        match self.fault {
            Fault::SyncedAtFirst => true,
            Fault::CountsPops | Fault::SyncedByNothing => self.flag,
            Fault::FailuresCount => self.flag && self.queue.has_synced(),
            Fault::ListsEndIt => self.queue.has_synced() && self.queue.is_empty(),
            _ => self.queue.has_synced(),
        }
    }

    fn len(&self) -> usize {
        match self.fault {
            // Keys that wait, not deltas.
            Fault::HasNoLength => usize::from(!self.queue.is_empty()),
            _ => self.queue.len() + self.held.len(),
        }
    }
}

#[test]
fn wrong_ones_are_found_out() {
    for (fault, check) in WRONG {
        let suite = Suite::new(&format!("{fault:?}"), bent(fault)).only(check);
        caught(check, &suite.run());
    }
    all_catch(&in_order().run(), &WRONG.map(|(_, check)| check));
}

/// What our coalescing queue once did: it called what came later initial.
#[test]
fn one_that_mixes_initial_and_later_is_found_out() {
    struct Mixing(BTreeMap<Q, Vec<Delta<Q, K>>>, bool, bool);

    impl DeltaSink<Q, K> for Mixing {
        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Closed>> {
            Poll::Ready(Ok(()))
        }

        fn push(&mut self, delta: Delta<Q, K>) {
            match delta {
                Delta::Replace { items, .. } => {
                    self.1 = true;
                    items
                        .into_iter()
                        .for_each(|item| self.push(Delta::Upsert(item, Cause::Listed)));
                }
                delta => {
                    if let Some(key) = delta.key().cloned() {
                        self.0.entry(key).or_default().push(delta);
                    }
                }
            }
        }
    }

    impl DeltaQueue<Q, K> for Mixing {
        fn pop_into(&mut self, batch: &mut Batch<Q, K>, max: usize) -> usize {
            (batch.initial, batch.in_order) = (!self.2, false);
            for deltas in self.0.values_mut().take(max) {
                batch.deltas.push(deltas.remove(0));
            }
            self.0.retain(|_, deltas| !deltas.is_empty());
            batch.deltas.len()
        }

        fn settle(&mut self, _: Vec<Delta<Q, K>>) {
            self.2 |= self.1 && self.0.is_empty();
        }

        fn has_synced(&self) -> bool {
            self.2
        }

        fn len(&self) -> usize {
            self.0.values().map(Vec::len).sum()
        }
    }

    let check = "initial_and_later_apart";
    let suite = Suite::new("Mixing", |_| Mixing(BTreeMap::new(), false, false)).only(check);
    caught(check, &suite.run());
}
