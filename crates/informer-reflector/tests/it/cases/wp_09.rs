//! WP-09: 429 and 500, in the stream and as HTTP status.

use std::time::Duration;

use informer_core::FailureClass;

use crate::rig::{Answer, Rig, Step, added, error, whole};

#[test]
fn wp_09_throttled_watches_wait_and_do_not_list() {
    let mut rig = Rig::new();
    rig.source
        .list(whole("a@10", "10"))
        .watch(Answer::Fail(
            error(FailureClass::Throttled).with_retry_after(Some(Duration::from_secs(2))),
        ))
        .watch(Answer::Fail(error(FailureClass::Throttled)))
        .watch(Answer::Open(vec![Step::Fail(error(FailureClass::Throttled))]))
        .watch(Answer::Open(vec![Step::Fail(error(FailureClass::Transient))]))
        .watch(Answer::Open(vec![added("b@11")]));
    rig.start();
    rig.pass(1.9);
    assert_eq!(rig.source.requests().len(), 2, "the server asked for two seconds");
    rig.pass(20.0);
    rig.assert_requests(&[
        "list -/500/",
        "watch 10",
        "watch 10",
        "watch 10",
        "watch 10",
        "watch 10",
    ]);
    rig.assert_taken(&["Replace@10 [a@10]", "Added b@11"]);
    assert_eq!(rig.errors().len(), 4);
}

#[test]
fn wp_09_an_internal_error_lists_once() {
    let mut rig = Rig::new();
    rig.source
        .list(whole("a@10", "10"))
        .watch(Answer::Open(vec![Step::Fail(error(FailureClass::Internal))]))
        .list(whole("a@10", "11"))
        .watch(Answer::Open(vec![added("b@12")]));
    rig.start();
    rig.pass(1.0);
    rig.assert_requests(&["list -/500/", "watch 10", "list 10/0/", "watch 11"]);
    assert_eq!(rig.errors(), ["foos: watch failed: the server said: internal"]);
}
