//! The machine's rules, one script each. `UPDATE_TRACES=1` writes down what the machine does; read the difference before you keep it.

use crate::script;

informer_testkit::traces! {
    script::run =>
    acquire_absent
    acquire_without_spec
    acquire_released
    acquire_after_silence
    acquire_not_while_renewed
    acquire_other_change
    acquire_without_duration
    acquire_beaten
    acquire_create_beaten
    acquire_own_name
    acquire_read_fails
    acquire_hangs
    acquire_answer_too_late
    acquire_wall_clocks_do_not_count
    acquire_deleted
    acquire_deleted_after_release
    renew_fast
    renew_slow
    renew_fails
    renew_answered_late
    renew_hangs
    renew_paused
    renew_sees_another
    renew_sees_nobody
    renew_deleted
    renew_keeps_fields
    renew_with_another_write
    stop_before_leading
    stop_while_reading
    stop_while_acquiring
    stop_while_acquiring_in_vain
    stop_keeps
    stop_releases
    stop_releases_when_nothing_guards
    stop_during_renewal
    stop_conflicts
    stop_lease_gone
    stop_lease_of_another
    stop_release_fails
    stop_release_hangs
    stop_work_takes_time
    stop_work_does_not_end
    stop_and_lose
    coordinated_absent
    coordinated_given
    coordinated_expired
    coordinated_end_of_term
    coordinated_preferred_before
}
