//! WP-01: a 410 hidden inside a 200 response.

use crate::rig::{Answer, Rig, expired, whole};

#[test]
fn wp_01_a_410_in_the_stream_leads_to_one_relist() {
    let mut rig = Rig::new();
    rig.source
        .list(whole("a@10", "10"))
        .watch(Answer::Open(vec![expired()]))
        .list(whole("a@30 b@31", "31"))
        .watch(Answer::Open(vec![]));
    rig.start();
    rig.pass(5.0);
    rig.assert_requests(&["list -/500/", "watch 10", "list 10/0/", "watch 31"]);
    rig.assert_taken(&["Replace@10 [a@10]", "Replace@31 [a@30, b@31]"]);
    assert!(rig.is_running());
    assert!(rig.status().get().synced);
}
