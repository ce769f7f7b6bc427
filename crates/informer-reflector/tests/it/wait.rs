//! Waiting until a reflector is in sync, and the reason when it is not.

use std::{
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use informer_core::{Clock, FailureClass};
use informer_reflector::{NotSynced, Phase, Status, StatusReader};

use crate::rig::{Answer, Rig, error, expired, whole};

/// Waits so many seconds of the rig's clock.
fn wait(rig: &mut Rig, reader: &mut StatusReader, seconds: f64) -> Result<Status, NotSynced> {
    let mut waiting = pin!(reader.wait_synced(Duration::from_secs_f64(seconds)));
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..1000 {
        if let Poll::Ready(outcome) = waiting.as_mut().poll(&mut cx) {
            return outcome;
        }
        rig.advance(0.1);
    }
    panic!("a wait that never ends");
}

/// kube-rs case A13: it never hangs, and the reflector goes on trying.
#[test]
fn the_error_tells_a_forbidden_kind_from_one_that_takes_its_time() {
    for (class, text) in [
        (FailureClass::Forbidden, "forbidden"),
        (FailureClass::NotFound, "not found"),
        (FailureClass::Unauthorized, "unauthorized"),
    ] {
        let mut rig = Rig::new();
        for _ in 0..3 {
            rig.source.list(Answer::Fail(error(class)));
        }
        rig.start();
        let mut reader = rig.status();
        let refused = wait(&mut rig, &mut reader, 2.0).unwrap_err();
        assert_eq!(refused.class(), Some(class));
        assert!(!refused.is_stopped());
        assert_eq!(
            refused.to_string(),
            format!(
                "foos (Foo) is not in sync after 2s: backing off, after list failed: the server said: {text}"
            )
        );
        rig.source.list(whole("a@1", "1"));
        let status = wait(&mut rig, &mut reader, 10.0).unwrap();
        assert!(status.synced && status.lists >= 3);
    }
}

#[test]
fn one_that_only_takes_its_time_says_so() {
    let mut rig = Rig::new();
    rig.source.list(Answer::Hang);
    rig.start();
    let mut reader = rig.status();
    let slow = wait(&mut rig, &mut reader, 1.0).unwrap_err();
    assert_eq!(slow.class(), None);
    assert_eq!(slow.to_string(), "foos (Foo) is not in sync after 1s: listing");
    assert_eq!(slow.status().phase, Phase::Listing);
}

#[test]
fn a_stop_ends_the_wait_at_once() {
    let mut rig = Rig::new();
    rig.source.list(Answer::Fail(error(FailureClass::Forbidden)));
    rig.start();
    let mut reader = rig.status();
    rig.stop();
    let gone = wait(&mut rig, &mut reader, 1000.0).unwrap_err();
    assert!(gone.is_stopped());
    assert_eq!(gone.class(), Some(FailureClass::Forbidden));
    assert_eq!(
        gone.to_string(),
        "foos (Foo) stopped before it was in sync, after list failed: the server said: forbidden"
    );
}

/// What was asked, bytes, versions received and in use, and for how long the source was not followed.
#[test]
fn the_status_tells_how_far_it_is() {
    let mut rig = Rig::new();
    rig.source
        .list(whole("a@1 b@2", "2"))
        .watch(Answer::Hang)
        .watch(Answer::Open(vec![crate::rig::added("c@3")]));
    rig.sink.apply("2");
    rig.start();
    let status = rig.status().get();
    assert_eq!(status.tried.as_ref().unwrap().to_string(), "watch at version 2");
    assert_eq!(status.bytes, 300);
    assert_eq!(status.applied.as_ref().unwrap().as_str(), "2");
    assert_eq!(status.lag(rig.clock.now()), Some(Duration::ZERO));
    rig.advance(5.0);
    // The watch was asked for and is not open.
    let status = rig.status().get();
    assert_eq!(status.lag(rig.clock.now()), Some(Duration::from_secs(5)));

    rig.pass(700.0);
    let status = rig.status().get();
    assert_eq!(status.version.as_str(), "3");
    assert_eq!(status.bytes, 400);
    assert_eq!(status.lag(rig.clock.now()), Some(Duration::ZERO));

    rig.source.list(Answer::Fail(error(FailureClass::Forbidden)));
    rig.send([expired()]);
    rig.advance(1.0);
    let status = rig.status().get();
    assert_eq!(status.lag(rig.clock.now()), Some(Duration::from_secs(1)));
    let trouble = status.trouble().unwrap();
    assert_eq!(trouble.class(), Some(FailureClass::Forbidden));
    assert_eq!(
        trouble.to_string(),
        "list at version 3 failed: the server said: forbidden"
    );
    assert!(status.next_attempt.unwrap() > rig.clock.now());
    rig.stop();
    rig.clock.advance(Duration::from_secs(9));
    let status = rig.status().get();
    assert_eq!(status.lag(rig.clock.now()), Some(Duration::from_secs(10)));
}

#[test]
fn there_is_no_lag_before_there_is_something_to_be_late_with() {
    let mut rig = Rig::new();
    rig.source.list(Answer::Hang);
    rig.start();
    assert_eq!(rig.status().get().lag(rig.clock.now()), None);
}
