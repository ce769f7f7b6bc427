//! WP-12: the server refuses the streaming list. How the reflector falls back is its own; here is what it is told.

use informer_core::{
    Classify,
    FailureClass::{self, *},
    ListerWatcher, WatchRequest,
};

use crate::{
    scripted::{run, status},
    sources::source,
};

fn refused(code: u16, initial_events: bool) -> (FailureClass, String) {
    let (log, source) = source([status(code, "")]);
    let mut request = WatchRequest::default();
    request.initial_events = initial_events;
    let class = run(source.watch(request)).unwrap_err().class();
    (class, log.requests().remove(0))
}

#[test]
fn wp_12_a_refused_streaming_list_is_unsupported() {
    for (code, class) in [
        (422, Unsupported),
        (400, Unsupported),
        (405, Unsupported),
        (501, Unsupported),
        (403, Forbidden),
        (429, Throttled),
    ] {
        assert_eq!(refused(code, true).0, class, "{code}");
    }
}

#[test]
fn wp_12_a_plain_watch_carries_nothing_of_it() {
    let (class, request) = refused(422, false);
    assert_eq!(class, Transient);
    assert_eq!(request, "GET /apis/example.com/v1/foos?watch=true");
}
