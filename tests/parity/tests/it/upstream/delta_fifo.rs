//! The coalescing queue, as client-go tests its `DeltaFIFO` (`delta_fifo_test.go`).

use super::holds_on_both_sides;

/// And each with all that happened to it. (client-go `TestDeltaFIFO_basic`)
#[test]
fn keys_come_in_the_order_of_their_first_event() {
    holds_on_both_sides("keys_come_in_the_order_of_their_first_event");
}

/// An object is deleted and another of its name is listed. (client-go `TestDeltaFIFO_replaceWithDeleteDeltaIn`)
#[test]
fn a_delete_and_a_list_of_one_key_come_together() {
    holds_on_both_sides("a_delete_and_a_list_of_one_key_come_together");
}

/// Added, added and deleted, added and updated, none of them in the list. (client-go `TestDeltaFIFOW_ReplaceMakesDeletionsForObjectsOnlyInQueue`)
#[test]
fn what_only_waits_and_is_not_listed_is_deleted() {
    holds_on_both_sides("what_only_waits_and_is_not_listed_is_deleted");
}

/// And a delete joins both. (client-go `TestDeltaFIFO_addUpdate`)
#[test]
fn an_update_joins_its_add() {
    holds_on_both_sides("an_update_joins_its_add");
}

/// It neither waits nor is known. (client-go `TestDeltaFIFO_enqueueingNoLister`)
#[test]
fn a_delete_of_what_nobody_heard_of_is_dropped() {
    holds_on_both_sides("a_delete_of_what_nobody_heard_of_is_dropped");
}

/// Though nothing of it waits. (client-go `TestDeltaFIFO_enqueueingWithLister`)
#[test]
fn a_delete_of_what_is_known_is_handed_out() {
    holds_on_both_sides("a_delete_of_what_is_known_is_handed_out");
}

/// Though the object is not known yet. (client-go `TestDeltaFIFO_DeleteExistingNonPropagated`)
#[test]
fn a_delete_joins_the_add_that_waits() {
    holds_on_both_sides("a_delete_joins_the_add_that_waits");
}

/// An add that waits and a list of the same object. (client-go `TestDeltaFIFO_addReplace`)
#[test]
fn a_list_joins_what_waits() {
    holds_on_both_sides("a_list_joins_what_waits");
}

/// A delta for each object. (client-go `TestDeltaFIFO_Resync`)
#[test]
fn a_resync_repeats_what_is_known() {
    holds_on_both_sides("a_resync_repeats_what_is_known");
}

/// Known, known and already deleted in the queue, known and newer in the queue, and only in the queue: each once, with the last state there is. (client-go `TestDeltaFIFO_ReplaceMakesDeletions`, `TestDeltaFIFO_ReplaceMakesDeletionsReplaced`)
#[test]
fn a_list_deletes_what_it_does_not_hold() {
    holds_on_both_sides("a_list_deletes_what_it_does_not_hold");
}

/// What is known is older than what waits. (client-go `TestDeltaFIFO_UpdateResyncRace`)
#[test]
fn a_resync_skips_what_waits() {
    holds_on_both_sides("a_resync_skips_what_waits");
}

/// Three are known, one of them is listed. (client-go `TestDeltaFIFO_HasSyncedCorrectOnDeletion`)
#[test]
fn deletions_of_the_first_list_count_for_its_sync() {
    holds_on_both_sides("deletions_of_the_first_list_count_for_its_sync");
}

/// And one that waits already takes its new deltas along. (client-go `TestDeltaFIFO_detectLineJumpers`)
#[test]
fn a_key_that_comes_again_waits_behind_the_others() {
    holds_on_both_sides("a_key_that_comes_again_waits_behind_the_others");
}

/// A source that begins with an event has no list to wait for. (client-go `TestDeltaFIFO_HasSynced`)
#[test]
fn old_synced_with_the_first_event() {
    holds_on_both_sides("old_synced_with_the_first_event");
}

/// There is nothing to wait for. (client-go `TestDeltaFIFO_HasSynced`)
#[test]
fn old_synced_with_an_empty_list() {
    holds_on_both_sides("old_synced_with_an_empty_list");
}

/// Keys count, not objects: one of them is listed twice. (client-go `TestDeltaFIFO_HasSynced`)
#[test]
fn old_synced_when_every_key_of_the_list_was_popped() {
    holds_on_both_sides("old_synced_when_every_key_of_the_list_was_popped");
}
