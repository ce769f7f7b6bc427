//! The queue in order, as client-go tests its `RealFIFO` (`the_real_fifo_test.go`).

use super::holds_on_both_sides;

/// One delta for each event, whatever its key. (client-go `TestRealFIFO_basic`)
#[test]
fn every_event_is_handed_out_in_the_order_of_its_arrival() {
    holds_on_both_sides("every_event_is_handed_out_in_the_order_of_its_arrival");
}

/// An object is deleted and another of its name is listed: both are told, in that order. (client-go `TestRealFIFO_replaceWithDeleteDeltaIn`)
#[test]
fn a_delete_that_waits_stays_in_front_of_the_list() {
    holds_on_both_sides("a_delete_that_waits_stays_in_front_of_the_list");
}

/// Nothing merges. (client-go `TestRealFIFO_addUpdate`)
#[test]
fn an_update_follows_its_add() {
    holds_on_both_sides("an_update_follows_its_add");
}

/// A delete is handed out whether or not anybody knows the object. (client-go `TestRealFIFO_enqueueingNoLister`, `TestRealFIFO_enqueueingWithLister`)
#[test]
fn nothing_is_merged_and_nothing_left_out() {
    holds_on_both_sides("nothing_is_merged_and_nothing_left_out");
}

/// An object that comes and goes while it waits is told twice. (client-go `TestRealFIFO_DeleteExistingNonPropagated`)
#[test]
fn a_delete_is_handed_out_after_its_add() {
    holds_on_both_sides("a_delete_is_handed_out_after_its_add");
}

/// An add that waits and a list of the same object. (client-go `TestRealFIFO_addReplace`)
#[test]
fn a_list_follows_what_was_added_before() {
    holds_on_both_sides("a_list_follows_what_was_added_before");
}

/// A key that comes again does not take later ones of other keys with it. (client-go `TestRealFIFO_detectLineJumpers`)
#[test]
fn nothing_overtakes() {
    holds_on_both_sides("nothing_overtakes");
}

/// A resync is told where it was asked for: it carries no object that could be older than the update in front of it. (client-go `TestRealFIFO_Resync`, `TestRealFIFO_UpdateResyncRace`)
#[test]
fn a_resync_keeps_its_place() {
    holds_on_both_sides("a_resync_keeps_its_place");
}

/// Whatever is in the list. (client-go `TestRealFIFO_ReplaceAtomic`)
#[test]
fn a_list_is_one_delta() {
    holds_on_both_sides("a_list_is_one_delta");
}

/// Events in front of it, and behind it. (client-go `TestRealFIFO_ReplaceAtomicPop`)
#[test]
fn a_list_is_handed_out_alone_and_in_its_place() {
    holds_on_both_sides("a_list_is_handed_out_alone_and_in_its_place");
}

/// Handed out alone. (client-go `TestRealFIFO_ResyncAtomic`)
#[test]
fn a_resync_is_one_delta() {
    holds_on_both_sides("a_resync_is_one_delta");
}

/// A source that begins with an event has no list to wait for. (client-go `TestRealFIFO_HasSynced`)
#[test]
fn synced_with_the_first_event() {
    holds_on_both_sides("synced_with_the_first_event");
}

/// An empty list is a list. (client-go `TestRealFIFO_HasSynced`)
#[test]
fn synced_when_an_empty_list_was_processed() {
    holds_on_both_sides("synced_when_an_empty_list_was_processed");
}

/// Not when it was popped, and the deletions that follow from it are part of it. (client-go `TestRealFIFO_HasSynced`, `TestRealFIFO_HasSyncedCorrectOnDeletion`)
#[test]
fn synced_when_the_list_was_processed() {
    holds_on_both_sides("synced_when_the_list_was_processed");
}

/// A key that comes again begins the next batch, wherever it stands. (client-go `TestRealFIFO_PopMultipleDeltaInBatch`)
#[test]
fn the_keys_of_a_batch_are_distinct() {
    holds_on_both_sides("the_keys_of_a_batch_are_distinct");
}

/// Three updates, two at a time. (client-go `TestRealFIFO_PopMultipleDeltaInBatch`)
#[test]
fn a_batch_is_no_larger_than_allowed() {
    holds_on_both_sides("a_batch_is_no_larger_than_allowed");
}

/// What came after it is not initial. (client-go `TestRealFIFO_PopMultipleDeltaInBatch`)
#[test]
fn the_initial_list_shares_no_batch() {
    holds_on_both_sides("the_initial_list_shares_no_batch");
}
