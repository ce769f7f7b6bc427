//! WP-13: the streaming list is accepted, and its end marker never sent.

use crate::rig::{Answer, Rig, added, bookmark, whole};

#[test]
fn wp_13_gives_up_streaming_and_lists() {
    let mut rig = Rig::streaming();
    rig.source
        .watch(Answer::Open(vec![added("a@1"), added("b@2"), bookmark("3")]))
        .list(whole("a@1 b@2", "3"))
        .watch(Answer::Open(vec![]));
    rig.start();
    rig.pass(29.0);
    rig.assert_requests(&["stream -"]);
    rig.assert_taken(&[]);
    assert!(!rig.status().get().synced);
    rig.pass(1.5);
    rig.assert_requests(&["stream -", "list -/500/", "watch 3"]);
    rig.assert_taken(&["Replace@3 [a@1, b@2]"]);
    assert_eq!(rig.source.open(), 1, "the stream was closed");
}
