//! kube-rs case A13: who waited for a forbidden kind waited for ever.

use std::{
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use informer_core::FailureClass;

use crate::rig::{Answer, Rig, error};

#[test]
fn kube_13_the_wait_ends_with_the_cause_and_the_reflector_goes_on() {
    let mut rig = Rig::new();
    for _ in 0..20 {
        rig.source.list(Answer::Fail(error(FailureClass::Forbidden)));
    }
    rig.start();
    let mut reader = rig.status();
    let mut cx = Context::from_waker(Waker::noop());
    let refused = {
        let mut wait = pin!(reader.wait_synced(Duration::from_secs(3)));
        assert!(wait.as_mut().poll(&mut cx).is_pending());
        rig.pass(2.9);
        assert!(wait.as_mut().poll(&mut cx).is_pending());
        rig.pass(0.2);
        match wait.as_mut().poll(&mut cx) {
            Poll::Ready(outcome) => outcome.unwrap_err(),
            Poll::Pending => panic!("the deadline has passed"),
        }
    };
    assert_eq!(refused.class(), Some(FailureClass::Forbidden));
    let before = rig.source.requests().len();
    rig.pass(60.0);
    assert!(rig.source.requests().len() > before);
}
