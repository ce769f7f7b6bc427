//! The store and its indices, as client-go tests its own (`store_test.go`, `thread_safe_store_test.go`, `index_test.go`).

use super::holds_on_both_sides;

/// One by one, and all at once. (client-go `TestCache`)
#[test]
fn what_is_added_is_read_until_it_is_deleted() {
    holds_on_both_sides("what_is_added_is_read_until_it_is_deleted");
}

/// The values that it lists are those that lead somewhere. (client-go `TestIndex`, `TestGetIndexFuncValues`)
#[test]
fn an_index_leads_to_the_objects_of_each_value() {
    holds_on_both_sides("an_index_leads_to_the_objects_of_each_value");
}

/// Also when they change, and when it goes. (client-go `TestMultiIndexKeys`)
#[test]
fn an_object_stands_under_each_of_its_values() {
    holds_on_both_sides("an_object_stands_under_each_of_its_values");
}

/// It is no longer listed. (client-go `TestThreadSafeStoreDeleteRemovesEmptySetsFromIndex`)
#[test]
fn a_value_without_objects_is_gone() {
    holds_on_both_sides("a_value_without_objects_is_gone");
}

/// Only the deleted one is taken out. (client-go `TestThreadSafeStoreAddKeepsNonEmptySetPostDeleteFromIndex`)
#[test]
fn a_value_with_other_objects_stays() {
    holds_on_both_sides("a_value_with_other_objects_stays");
}

/// Added beside others, and taken away from among them. (client-go `TestThreadSafeStoreIndexingFunctionsWithMultipleValues`)
#[test]
fn values_come_and_go_one_by_one() {
    holds_on_both_sides("values_come_and_go_one_by_one");
}

/// Of an object, of a delete, of a batch, of a list; a delete that nobody saw has none. (client-go `TestThreadSafeStoreRV`)
#[test]
fn the_applied_version_is_that_of_the_last_write() {
    holds_on_both_sides("the_applied_version_is_that_of_the_last_write");
}

/// And applies the rest. (client-go `TestCacheTransactionShouldIndexErrors`, `TestProcessDeltasInBatch`)
#[test]
fn a_batch_tells_what_could_not_be_applied() {
    holds_on_both_sides("a_batch_tells_what_could_not_be_applied");
}
