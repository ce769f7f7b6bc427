//! kube-rs case A4: a refused streaming list was asked for nineteen times in ten minutes, and never a LIST.

use informer_core::FailureClass;

use crate::rig::{Answer, Rig, error, expired, whole};

#[test]
fn kube_04_a_refused_streaming_list_is_remembered() {
    let mut rig = Rig::streaming();
    rig.source
        .watch(Answer::Fail(error(FailureClass::Unsupported)))
        .list(whole("a@1", "1"))
        .watch(Answer::Open(vec![expired()]))
        .list(whole("a@1", "2"));
    rig.start();
    rig.assert_taken(&["Replace@1 [a@1]"]);
    rig.pass(600.0);
    let streams = rig.source.requests();
    let streams = streams.iter().filter(|it| it.starts_with("stream")).count();
    assert_eq!(streams, 1);
    // The next start tries anew: the server may have been replaced.
    let (source, clock) = (rig.source.clone(), rig.clock.clone());
    let mut next = Rig::streaming();
    (next.source, next.clock) = (source, clock);
    next.start();
    assert!(next.source.requests().last().unwrap().starts_with("stream"));
}
