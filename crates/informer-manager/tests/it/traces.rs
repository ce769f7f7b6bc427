//! The machine's rules, one script each. `UPDATE_TRACES=1` writes down what the machine does; read the difference before you keep it.

use crate::script;

informer_testkit::traces! {
    script::run =>
    stop_before_start
    t01_groups_start_in_order
    t01_groups_with_an_election
    t02_a_failure_stops_all
    t02_done_is_no_failure
    t03_added_while_running
    t03_joins_the_group_that_is_waited_for
    t03_removed_before_its_turn
    t03_removed_while_running
    t04_grace_is_over
    t04_lease_is_given_back_late
    t04_stuck_on_its_thread
    t04_without_end
    t04_zero_grace
    t05_stop_while_a_cache_is_stuck
    t06_a_stuck_cache_is_named
    t06_a_stuck_cache_may_end_the_manager
    t07_lost_lease
    t07_lost_while_stopping
    t07_the_candidate_ends_by_itself
    t07_the_candidate_fails
    t08_a_stop_before_leadership
    t11_a_second_signal
    t11_a_second_signal_while_resigning
}
