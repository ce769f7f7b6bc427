//! kube-rs case A8: an expired watch came up as an error of the user's stream, which ended, although the watcher would have recovered.

use crate::rig::{Answer, Rig, added, expired, modified, whole};

#[test]
fn kube_08_who_handles_no_errors_sees_the_later_changes() {
    let mut rig = Rig::new();
    rig.source
        .list(whole("a@1", "1"))
        .watch(Answer::Open(vec![added("b@2"), expired()]))
        .list(whole("a@1 b@2 c@3", "3"))
        .watch(Answer::Open(vec![modified("c@4")]));
    rig.start();
    rig.pass(1.0);
    rig.assert_taken(&[
        "Replace@1 [a@1]",
        "Added b@2",
        "Replace@3 [a@1, b@2, c@3]",
        "Modified c@4",
    ]);
    // What recovers by itself is for the status and the log, not for the error hook.
    assert!(rig.errors().is_empty());
    assert_eq!(rig.status().get().relists, 1);
}
