//! WP-02: the relist is refused too.

use std::time::Duration;

use informer_core::FailureClass;

use crate::rig::{Answer, Rig, error, expired, whole};

#[test]
fn wp_02_a_refused_relist_is_repeated_at_once_without_a_version() {
    for refused in [
        error(FailureClass::Expired),
        error(FailureClass::VersionTooLarge).with_retry_after(Some(Duration::from_secs(1))),
    ] {
        let mut rig = Rig::new();
        rig.source
            .list(whole("a@900", "1000"))
            .watch(Answer::Open(vec![expired()]))
            .list(Answer::Fail(refused))
            .list(whole("a@400", "500"))
            .watch(Answer::Open(vec![expired()]))
            .list(whole("a@400", "500"));
        rig.start();
        rig.pass(0.8);
        rig.assert_requests(&[
            "list -/500/",
            "watch 1000",
            "list 1000/0/",
            "list -/500/",
            "watch 500",
        ]);
        rig.pass(2.0);
        assert_eq!(rig.source.requests()[5], "list 500/0/");
        rig.assert_taken(&[
            "Replace@1000 [a@900]",
            "Replace@500 [a@400] may rewind",
            "Replace@500 [a@400]",
        ]);
    }
}
