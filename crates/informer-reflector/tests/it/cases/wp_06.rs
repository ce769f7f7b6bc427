//! WP-06: the version of a bookmark is used when resuming.

use crate::rig::{Answer, Rig, Step, bookmark, whole};

#[test]
fn wp_06_resumes_at_the_bookmark() {
    let mut rig = Rig::new();
    rig.source
        .list(whole("a@10", "10"))
        .watch(Answer::Open(vec![bookmark("500"), Step::End]))
        .watch(Answer::Open(vec![]));
    rig.start();
    rig.assert_requests(&["list -/500/", "watch 10", "watch 500"]);
    assert_eq!(rig.status().get().version.as_str(), "500");
}
