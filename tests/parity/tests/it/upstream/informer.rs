//! Informers, as client-go tests its own (`shared_informer_test.go`, `controller_test.go`).

use super::holds_on_both_sides;

/// From one state to the next, and to the end. (client-go `TestUpdate`)
#[test]
fn every_update_leads_forward() {
    holds_on_both_sides("every_update_leads_forward");
}

/// With the store as the list is, for every one of the events. (client-go `TestReplaceEvents`)
#[test]
fn a_list_tells_what_vanished_then_the_rest() {
    holds_on_both_sides("a_list_tells_what_vanished_then_the_rest");
    holds_on_both_sides("a_list_tells_what_vanished_then_the_rest_spread");
    holds_on_both_sides("a_list_tells_what_vanished_then_the_rest_old");
}

/// The watch broke, and its history is gone. (client-go `TestResetWatch`)
#[test]
fn a_relist_tells_what_was_missed() {
    holds_on_both_sides("a_relist_tells_what_was_missed");
    holds_on_both_sides("a_relist_tells_what_was_missed_spread");
    holds_on_both_sides("a_relist_tells_what_was_missed_old");
}

/// Of events and of lists. (client-go `TestStoreResourceVersion`)
#[test]
fn the_store_has_the_version_of_what_it_was_told() {
    holds_on_both_sides("the_store_has_the_version_of_what_it_was_told");
}

/// And one that is there follows. (client-go `TestIndexer`)
#[test]
fn an_index_that_comes_late_is_complete_at_once() {
    holds_on_both_sides("an_index_that_comes_late_is_complete_at_once");
}

/// One event was lost, and one object was made unseen. (client-go `TestSharedInformerWatchDisruption`)
#[test]
fn a_disruption_tells_what_changed() {
    holds_on_both_sides("a_disruption_tells_what_changed");
}

/// Store, indices and handlers see what it left. (client-go `TestTransformingInformer`, `TestTransformingInformerRace`, `TestSharedInformerTransformer`)
#[test]
fn a_transform_comes_before_everything() {
    holds_on_both_sides("a_transform_comes_before_everything");
}

/// However many there are, and each leaves alone. (client-go `TestSharedInformerMultipleRegistration`)
#[test]
fn handlers_each_hear_everything() {
    holds_on_both_sides("handlers_each_hear_everything");
}

/// And may be removed again. (client-go `TestSharedInformerRemoveHandler`, `TestRemovingRemovedSharedInformer`)
#[test]
fn a_removed_handler_hears_nothing_more() {
    holds_on_both_sides("a_removed_handler_hears_nothing_more");
}

/// That call, and none after it. (client-go `TestRemoveWhileActive`, `TestRemoveEventHandler_SynchronousShutdown`)
#[test]
fn a_handler_that_is_removed_while_it_is_called_ends_its_call() {
    holds_on_both_sides("a_handler_that_is_removed_while_it_is_called_ends_its_call");
}

/// What waited for the first one is no matter of the second. (client-go `TestAddWhileActive`)
#[test]
fn a_late_handler_is_synced_when_its_last_add_has_returned() {
    holds_on_both_sides("a_late_handler_is_synced_when_its_last_add_has_returned");
}

/// It is refused. (client-go `TestAddOnStoppedSharedInformer`, `TestStateSharedInformer`)
#[test]
fn no_handler_joins_after_the_stop() {
    holds_on_both_sides("no_handler_joins_after_the_stop");
}

/// Nothing comes of it. (client-go `TestRemoveOnStoppedSharedInformer`)
#[test]
fn a_handler_may_leave_after_the_stop() {
    holds_on_both_sides("a_handler_may_leave_after_the_stop");
}

/// One every second, one every three, one never. (client-go `TestListenerResyncPeriods`)
#[test]
fn handlers_are_resynced_at_their_own_periods() {
    holds_on_both_sides("handlers_are_resynced_at_their_own_periods");
}

/// And less than a second is a second. (client-go `TestResyncCheckPeriod`)
#[test]
fn a_handler_shortens_the_check_before_the_start_and_not_after_it() {
    holds_on_both_sides("a_handler_shortens_the_check_before_the_start_and_not_after_it");
}

/// An object that comes to be wanted is added, and one that is wanted no more is deleted with the state that was. (client-go `TestTypedFilteringResourceEventHandler`)
#[test]
fn a_filter_tells_what_enters_and_what_leaves() {
    holds_on_both_sides("a_filter_tells_what_enters_and_what_leaves");
}

/// The change that it panicked at is not told again. (client-go `TestEventPanics`)
#[test]
fn a_handler_that_panics_goes_on_with_the_next_change() {
    holds_on_both_sides("a_handler_that_panics_goes_on_with_the_next_change");
}
