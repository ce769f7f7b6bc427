//! CF-01: added, still queued or in hand, gone at relist (kubernetes#115658).

use informer_core::{Cause, Delta, DeltaQueue, DeltaSink};
use informer_deltafifo::{Coalescing, Options};

use crate::support::{K, Known, Q, delete, list, pop, upsert};

/// Drains the queue into the store, and counts the deletes.
fn drain(queue: &mut Coalescing<Q, K>, known: &Known) -> usize {
    let mut n_deletes = 0;
    while let Some(batch) = pop(queue, 1) {
        for delta in &batch.deltas {
            n_deletes += usize::from(matches!(delta, Delta::Delete { .. }));
            known.apply(delta);
        }
        queue.settle(Vec::new());
    }
    n_deletes
}

fn synced() -> (Coalescing<Q, K>, Known) {
    let known = Known::default();
    let mut queue = Coalescing::new(known.shared(), Options::default());
    queue.push(list([], "1"));
    drain(&mut queue, &known);
    (queue, known)
}

#[test]
fn cf_01_a_queued_add_that_the_relist_does_not_hold_is_deleted_once() {
    let (mut queue, known) = synced();
    queue.push(upsert("o@5", Cause::Added));
    queue.push(list([], "9"));
    queue.push(list([], "10"));
    assert_eq!(drain(&mut queue, &known), 1);
    assert_eq!(known.show(), "[]");
    queue.push(list([], "11"));
    assert_eq!(drain(&mut queue, &known), 0, "deleted again");
}

#[test]
fn cf_01_add_delete_add_that_the_relist_does_not_hold_ends_deleted() {
    let (mut queue, known) = synced();
    queue.push(upsert("o@5", Cause::Added));
    queue.push(delete("o@6", true));
    queue.push(upsert("o@7", Cause::Added));
    queue.push(list([], "9"));
    assert_eq!(drain(&mut queue, &known), 2);
    assert_eq!(known.show(), "[]");
}

#[test]
fn cf_01_an_add_in_hand_that_the_relist_does_not_hold_is_deleted() {
    let (mut queue, known) = synced();
    queue.push(upsert("o@5", Cause::Added));
    let batch = pop(&mut queue, 1).unwrap();
    // The store does not know it yet, and the queue has it no more.
    queue.push(list([], "9"));
    batch.deltas.iter().for_each(|delta| known.apply(delta));
    queue.settle(Vec::new());
    assert_eq!(informer_core::Store::len(&known), 1);
    assert_eq!(drain(&mut queue, &known), 1);
    assert_eq!(known.show(), "[]");
}

#[test]
fn cf_01_an_add_that_failed_and_is_not_in_the_relist_ends_deleted() {
    let (mut queue, known) = synced();
    queue.push(upsert("o@5", Cause::Added));
    let batch = pop(&mut queue, 1).unwrap();
    queue.push(list([], "9"));
    queue.settle(batch.deltas);
    drain(&mut queue, &known);
    assert_eq!(known.show(), "[]");
}

#[test]
fn cf_01_an_update_being_spread_that_the_relist_does_not_hold_is_deleted() {
    let (mut queue, known) = synced();
    queue.push(upsert("o@5", Cause::Added));
    queue.push(upsert("o@6", Cause::Modified));
    let batch = pop(&mut queue, 1).unwrap();
    queue.push(list([], "9"));
    batch.deltas.iter().for_each(|delta| known.apply(delta));
    queue.settle(Vec::new());
    assert_eq!(drain(&mut queue, &known), 1);
    assert_eq!(known.show(), "[]");
}
