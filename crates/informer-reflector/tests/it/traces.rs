//! The machine's rules, one script each. `UPDATE_TRACES=1` writes down what the machine does; read the difference before you keep it.

use crate::script;

informer_testkit::traces! {
    script::run =>
    list_then_watch
    list_pages
    list_page_size
    list_page_size_by_option
    list_page_size_without_cache
    list_token_expired
    list_token_repeated
    list_without_version
    list_cut
    list_fails
    list_brings_nothing
    relist_after_expired_watch
    relist_refused_as_expired
    relist_wanted
    relist_refused_as_too_large
    quorum_list_refused
    watch_ends_quietly
    watch_too_short
    watch_only_repeats
    watch_fails_open
    watch_cut
    watch_throttled
    watch_unauthorized
    watch_forbidden
    watch_internal_error
    watch_internal_error_retried
    watch_outlives_its_timeout
    watch_holds_back_versions
    watch_bookmarks
    watch_odd
    watch_opaque_versions
    backoff_grows
    backoff_resets_on_health
    retry_after_is_a_minimum
    resync
    resync_cancelled
    resync_fails
    resync_never
    resync_while_waiting
    stream
    stream_changes_before_the_end
    stream_resumes_as_watch
    stream_unsupported
    stream_fails_otherwise
    stream_throttled
    stream_refused_connection
    stream_cut
    stream_cut_with_the_list
    stream_ends_at_once
    stream_late
    stream_never_ends
    stream_hangs
    stream_version_expired
    stream_end_without_version
    stream_after_expired_watch
}
