//! `StoreWriter`.

use conformance_tests::{Ledger, Numbers, shelf};
use informer_core::{Batch, Cause, Change, CommitError, Delta, Entry, ObjectKey, Store, StoreWriter};
use informer_store::{Reader, Writer};
use informer_testkit::conformance::{Indices, Thing, store_writer::Suite};

use crate::{
    store::sides,
    wrong::{all_catch, caught},
};

type Q = ObjectKey;
type K = Thing;

pub(crate) fn ours() -> Suite {
    Suite::new("informer-store", sides)
}

#[test]
fn ours_conforms() {
    ours().seeds(0..200).run().assert_conforms();
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

/// A writer that does something else.
struct Twisted {
    inner: Inner,
    twist: Twist,
}

struct Inner {
    writer: Writer<Q, K>,
    reader: Reader<Q, K>,
    indices: Indices<K>,
}

type Deltas = Batch<Q, K>;
type Changes = Vec<Change<Q, K>>;
type Committed = Result<(), CommitError<Q>>;
type Twist = fn(&mut Inner, &mut Deltas, &mut Changes) -> Committed;

impl StoreWriter<Q, K> for Twisted {
    fn commit(&mut self, batch: &mut Deltas, changes: &mut Changes) -> Committed {
        (self.twist)(&mut self.inner, batch, changes)
    }
}

fn twisted(twist: Twist) -> impl Fn(Indices<K>) -> (Twisted, Reader<Q, K>) {
    move |indices| {
        let (writer, reader) = sides(indices.clone());
        let inner = Inner {
            writer,
            reader: reader.clone(),
            indices,
        };
        (Twisted { inner, twist }, reader)
    }
}

impl Inner {
    /// Commits after the deltas were changed.
    fn before(
        &mut self,
        batch: &mut Deltas,
        changes: &mut Changes,
        change: impl Fn(&Self, &mut Delta<Q, K>),
    ) -> Committed {
        let mut deltas = std::mem::take(&mut batch.deltas);
        deltas.iter_mut().for_each(|delta| change(self, delta));
        batch.deltas = deltas;
        self.writer.commit(batch, changes)
    }

    /// Commits without these deltas.
    fn without(
        &mut self,
        batch: &mut Deltas,
        changes: &mut Changes,
        is_left_out: impl Fn(&Self, &Delta<Q, K>) -> bool,
    ) -> Committed {
        let mut deltas = std::mem::take(&mut batch.deltas);
        deltas.retain(|delta| !is_left_out(self, delta));
        batch.deltas = deltas;
        self.writer.commit(batch, changes)
    }

    /// Commits and changes what is told.
    fn after(
        &mut self,
        batch: &mut Deltas,
        changes: &mut Changes,
        change: impl FnOnce(&mut Changes),
    ) -> Committed {
        let mut told = Vec::new();
        let result = self.writer.commit(batch, &mut told);
        change(&mut told);
        changes.append(&mut told);
        result
    }

    fn stored(&self, delta: &Delta<Q, K>) -> Option<Entry<Q, K>> {
        self.reader.get(delta.key()?)
    }
}

fn told_as_initial(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    batch.initial = !batch.initial;
    inner.writer.commit(batch, changes)
}

fn updates_are_adds(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    inner.after(batch, changes, |told| {
        for change in told {
            if let Change::Updated { new, .. } = change {
                *change = Change::Added {
                    new: new.clone(),
                    initial: false,
                };
            }
        }
    })
}

fn another_life_is_an_update(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    inner.after(batch, changes, |told| {
        let mut merged: Changes = Vec::new();
        for change in told.drain(..) {
            match (merged.last(), change) {
                (Some(Change::Removed { last, .. }), Change::Added { new, .. }) if last.key == new.key => {
                    let old = last.clone();
                    merged.pop();
                    merged.push(Change::Updated { old, new });
                }
                (_, change) => merged.push(change),
            }
        }
        *told = merged;
    })
}

fn the_same_is_told(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    let is_same = |delta: &Delta<Q, K>, stored: &Entry<Q, K>| matches!(delta, Delta::Upsert(new, Cause::Modified | Cause::Added) if new.stamp == stored.stamp);
    for delta in &batch.deltas {
        if let Some(stored) = inner.stored(delta).filter(|stored| is_same(delta, stored)) {
            changes.push(Change::Updated {
                old: stored.clone(),
                new: stored,
            });
        }
    }
    inner.writer.commit(batch, changes)
}

fn no_version_is_the_same_version(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    inner.without(batch, changes, |inner, delta| {
        matches!(delta, Delta::Upsert(new, _) if new.stamp.version.is_none()) && inner.stored(delta).is_some()
    })
}

fn a_sync_is_an_upsert(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    inner.before(batch, changes, |_, delta| {
        if let Delta::Upsert(_, cause @ Cause::Sync) = delta {
            *cause = Cause::Modified;
        }
    })
}

fn the_last_state_is_ignored(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    inner.before(batch, changes, |_, delta| {
        if let Delta::Delete { last, .. } = delta {
            *last = None;
        }
    })
}

fn the_end_of_nothing_is_told(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    for delta in &batch.deltas {
        if let (
            Delta::Delete {
                key,
                stamp,
                last: Some(last),
                observed,
            },
            None,
        ) = (delta, inner.stored(delta))
        {
            changes.push(Change::Removed {
                last: Entry::new(key.clone(), stamp.clone(), last.clone()),
                observed: *observed,
            });
        }
    }
    inner.writer.commit(batch, changes)
}

fn the_end_of_another_is_ignored(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    inner.without(batch, changes, |inner, delta| {
        match (delta, inner.stored(delta)) {
            (Delta::Delete { stamp, .. }, Some(stored)) => !stored.stamp.same_object(stamp),
            _ => false,
        }
    })
}

fn what_cannot_be_read_is_ignored(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    inner.without(batch, changes, |_, delta| {
        matches!(delta, Delta::Unreadable { .. })
    })
}

fn a_list_removes_nothing(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    inner.before(batch, changes, |inner, delta| {
        if let Delta::Replace { items, .. } = delta {
            let missing = inner.reader.list().into_iter();
            let missing: Vec<_> = missing
                .filter(|it| !items.iter().any(|item| item.key == it.key))
                .collect();
            items.extend(missing);
        }
    })
}

fn a_list_tells_everything(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    for delta in &batch.deltas {
        let Delta::Replace { items, .. } = delta else {
            continue;
        };
        for item in items {
            let stored = inner
                .reader
                .get(&item.key)
                .filter(|stored| stored.stamp == item.stamp);
            changes.extend(stored.map(|stored| Change::Updated {
                old: stored.clone(),
                new: stored,
            }));
        }
    }
    inner.writer.commit(batch, changes)
}

fn the_first_of_a_key_counts(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    inner.before(batch, changes, |_, delta| {
        if let Delta::Replace { items, .. } = delta {
            items.reverse();
        }
    })
}

fn gaps_are_absent(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    inner.before(batch, changes, |_, delta| {
        if let Delta::Replace { unreadable, .. } = delta {
            unreadable.clear();
        }
    })
}

fn a_resync_forgets_one(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    let is_resync = matches!(batch.deltas[..], [Delta::Resync]);
    inner.after(batch, changes, |told| {
        if is_resync {
            told.pop();
        }
    })
}

fn bookmarks_are_ignored(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    inner.without(batch, changes, |_, delta| matches!(delta, Delta::Bookmark { .. }))
}

fn never_in_order(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    batch.in_order = false;
    inner.writer.commit(batch, changes)
}

fn always_in_order(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    batch.in_order = true;
    inner.writer.commit(batch, changes)
}

fn always_rewinds(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    inner.before(batch, changes, |_, delta| {
        if let Delta::Replace { may_rewind, .. } | Delta::Bookmark { may_rewind, .. } = delta {
            *may_rewind = true;
        }
    })
}

fn only_numbers_are_applied(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    inner.without(
        batch,
        changes,
        |_, delta| matches!(delta, Delta::Bookmark { at, .. } if at.compare(at).is_err()),
    )
}

fn a_failure_is_swallowed(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    let _ = inner.writer.commit(batch, changes);
    batch.deltas.clear();
    Ok(())
}

fn a_panic_goes_through(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    for delta in &batch.deltas {
        if let Delta::Upsert(entry, _) = delta {
            for (_, function) in &inner.indices {
                let _ = function.values(&entry.object, &mut |_| {});
            }
        }
    }
    inner.writer.commit(batch, changes)
}

fn what_failed_is_dropped(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    let result = inner.writer.commit(batch, changes);
    batch.deltas.clear();
    result
}

fn piece_by_piece(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    for delta in &batch.deltas {
        let Delta::Replace { items, .. } = delta else {
            continue;
        };
        for item in items {
            let piece = Delta::Upsert(item.clone(), Cause::Listed);
            inner
                .writer
                .commit(&mut Batch::of(piece, batch.initial), changes)?;
        }
    }
    inner.writer.commit(batch, changes)
}

fn begins_anew(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    changes.clear();
    inner.writer.commit(batch, changes)
}

fn takes_nothing_out(inner: &mut Inner, batch: &mut Deltas, changes: &mut Changes) -> Committed {
    let deltas = batch.deltas.clone();
    let result = inner.writer.commit(batch, changes);
    batch.deltas = deltas;
    result
}

const WRONG: [(Twist, &str); 26] = [
    (told_as_initial, "a_new_key"),
    (updates_are_adds, "another_version"),
    (another_life_is_an_update, "another_uid"),
    (the_same_is_told, "the_stored_stamp"),
    (no_version_is_the_same_version, "without_a_version"),
    (a_sync_is_an_upsert, "a_sync"),
    (the_last_state_is_ignored, "a_delete"),
    (the_end_of_nothing_is_told, "a_delete_of_nothing"),
    (the_end_of_another_is_ignored, "a_delete_of_another"),
    (what_cannot_be_read_is_ignored, "unreadable"),
    (a_list_removes_nothing, "a_list"),
    (a_list_tells_everything, "a_list_again"),
    (the_first_of_a_key_counts, "a_key_twice"),
    (gaps_are_absent, "a_list_with_gaps"),
    (a_resync_forgets_one, "a_resync"),
    (bookmarks_are_ignored, "a_bookmark"),
    (never_in_order, "applied_follows"),
    (always_in_order, "applied_by_marks_alone"),
    (always_rewinds, "applied_goes_forward"),
    (only_numbers_are_applied, "applied_without_order"),
    (a_failure_is_swallowed, "refused_by_error"),
    (a_panic_goes_through, "refused_by_panic"),
    (what_failed_is_dropped, "refused_in_a_list"),
    (piece_by_piece, "all_at_once"),
    (begins_anew, "appends"),
    (takes_nothing_out, "as_the_rules_say"),
];

#[test]
fn wrong_ones_are_found_out() {
    for (twist, check) in WRONG {
        caught(check, &Suite::new(check, twisted(twist)).only(check).run());
    }
    all_catch(&ours().run(), &WRONG.map(|(_, check)| check));
}

/// The random check alone finds most of them.
#[test]
fn chance_finds_them_too() {
    let found = WRONG.iter().filter(|(twist, _)| {
        let suite = Suite::new("twisted", twisted(*twist)).only("as_the_rules_say");
        !suite.run().conforms()
    });
    let n_found = found.count();
    assert!(
        n_found >= 22,
        "of {} wrong ones chance finds {n_found}",
        WRONG.len()
    );
}
