//! WP-12: the server refuses the streaming list.

use informer_core::FailureClass;

use crate::rig::{Answer, Rig, error, expired, whole};

#[test]
fn wp_12_falls_back_to_a_list_in_the_same_attempt() {
    for (class, again) in [
        (FailureClass::Unsupported, "list 6/0/"),
        (FailureClass::Forbidden, "stream 6"),
    ] {
        let mut rig = Rig::streaming();
        rig.source
            .watch(Answer::Fail(error(class)))
            .list(whole("a@5", "6"))
            .watch(Answer::Open(vec![]));
        rig.start();
        rig.assert_requests(&["stream -", "list -/500/", "watch 6"]);
        rig.assert_taken(&["Replace@6 [a@5]"]);
        assert!(rig.errors().is_empty());
        // What it does next time: a refusal is remembered, another failure is not.
        rig.send([expired()]);
        rig.pass(1.0);
        assert_eq!(rig.source.requests()[3], again);
    }
}

#[test]
fn wp_12_throttled_first_and_then_refused() {
    let mut rig = Rig::streaming();
    rig.source
        .watch(Answer::Fail(error(FailureClass::Throttled)))
        .watch(Answer::Fail(error(FailureClass::Unsupported)))
        .list(whole("a@5", "6"));
    rig.start();
    rig.assert_requests(&["stream -"]);
    rig.pass(0.8);
    rig.assert_requests(&["stream -", "stream -", "list -/500/", "watch 6"]);
}
