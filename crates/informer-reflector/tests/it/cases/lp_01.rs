//! LP-01: paging parameters and the last page.

use crate::rig::{Answer, Rig, end, item, page};

#[test]
fn lp_01_nothing_is_seen_before_the_last_page() {
    for last in [None, Some("")] {
        let mut rig = Rig::new();
        rig.options.page_size = Some(1);
        rig.source
            .list(Answer::Open(vec![item("a@1"), page("9", Some("t1"))]))
            .list(Answer::Open(vec![page("9", Some("t2"))]))
            .list(Answer::Open(vec![item("c@3")]));
        rig.start();
        rig.assert_taken(&[]);
        rig.assert_requests(&["list -/1/", "list -/1/t1", "list -/1/t2"]);
        rig.stop();

        let mut rig = Rig::new();
        rig.options.page_size = Some(1);
        rig.source
            .list(Answer::Open(vec![item("a@1"), page("9", Some("t1"))]))
            .list(Answer::Open(vec![item("b@2"), page("9", Some("t2"))]))
            .list(Answer::Open(vec![item("c@3"), page("9", last)]));
        rig.start();
        rig.assert_taken(&["Replace@9 [a@1, b@2, c@3]"]);
        rig.assert_requests(&["list -/1/", "list -/1/t1", "list -/1/t2", "watch 9"]);
    }
}

/// A page that is newer than the first, as an inconsistent continuation gives: what happened in between is watched again.
#[test]
fn lp_01_the_version_is_that_of_the_first_page() {
    let mut rig = Rig::new();
    rig.source
        .list(Answer::Open(vec![item("a@1"), page("9", Some("t1"))]))
        .list(Answer::Open(vec![item("b@12"), end("12")]));
    rig.start();
    rig.assert_requests(&["list -/500/", "list -/500/t1", "watch 9"]);
}
