//! WP-07: initial events come in no order; versions are opaque.

use informer_core::FailureClass;

use crate::rig::{Answer, Rig, Step, added, error, initial_end, modified, whole};

#[test]
fn wp_07_resumes_at_the_end_marker_whatever_came_before() {
    let mut rig = Rig::streaming();
    rig.source.watch(Answer::Open(vec![
        added("z@900"),
        added("b@20"),
        added("c@700"),
        initial_end("950"),
        Step::Fail(error(FailureClass::Transient)),
    ]));
    rig.start();
    rig.assert_requests(&["stream -", "watch 950"]);
    rig.assert_taken(&["Replace@950 [z@900, b@20, c@700]"]);
}

#[test]
fn wp_07_a_stream_cut_before_its_end_is_begun_anew() {
    let mut rig = Rig::streaming();
    rig.source
        .watch(Answer::Open(vec![
            added("z@900"),
            added("b@20"),
            Step::Fail(error(FailureClass::Transient)),
        ]))
        .watch(Answer::Open(vec![added("b@20"), initial_end("950")]));
    rig.start();
    rig.assert_requests(&["stream -", "stream -"]);
    rig.assert_taken(&["Replace@950 [b@20]"]);
}

#[test]
fn wp_07_versions_are_sent_back_byte_for_byte() {
    let mut rig = Rig::new();
    rig.source
        .list(whole("a@r-01", "r-7f"))
        .watch(Answer::Open(vec![modified("a@R-02 "), Step::End]));
    rig.start();
    rig.assert_requests(&["list -/500/", "watch r-7f", "watch R-02 "]);
}
