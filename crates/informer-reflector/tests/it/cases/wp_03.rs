//! WP-03: a stale version, but the server just closes without a word.

use crate::rig::{Answer, Rig, Step, whole};

#[test]
fn wp_03_watches_that_bring_nothing_fall_back_to_a_list() {
    let mut rig = Rig::new();
    rig.source.list(whole("a@50", "50"));
    for _ in 0..3 {
        rig.source.watch(Answer::Open(vec![Step::End]));
    }
    rig.source.list(whole("a@90", "90")).watch(Answer::Open(vec![]));
    rig.start();
    rig.pass(10.0);
    rig.assert_requests(&[
        "list -/500/",
        "watch 50",
        "watch 50",
        "watch 50",
        "list 50/0/",
        "watch 90",
    ]);
    rig.assert_taken(&["Replace@50 [a@50]", "Replace@90 [a@90]"]);
}
