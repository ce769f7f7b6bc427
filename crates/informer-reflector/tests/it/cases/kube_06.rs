//! kube-rs case A6: the watch that resumed still asked for initial events.

use crate::rig::{Answer, Rig, Step, added, initial_end, modified};

#[test]
fn kube_06_a_resumed_watch_asks_for_no_initial_events() {
    let mut rig = Rig::streaming();
    rig.source
        .watch(Answer::Open(vec![added("a@3"), initial_end("5"), Step::End]))
        .watch(Answer::Open(vec![modified("a@8"), Step::End]));
    rig.start();
    rig.assert_requests(&["stream -", "watch 5", "watch 8"]);
}
