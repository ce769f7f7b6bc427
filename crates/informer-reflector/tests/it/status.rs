//! What can be read of a running reflector.

use std::task::{Context, Poll, Waker};

use informer_core::{Classify, FailureClass, SourceError};
use informer_reflector::{Phase, Problem};

use crate::rig::{Answer, Rig, added, bookmark, error, expired, whole};

#[test]
fn tells_phase_error_and_next_attempt() {
    let mut rig = Rig::new();
    rig.source
        .list(Answer::Fail(error(FailureClass::Forbidden)))
        .list(Answer::Fail(error(FailureClass::Forbidden)))
        .list(whole("a@1 b@2", "2"))
        .watch(Answer::Open(vec![added("c@3"), bookmark("8")]));
    rig.start();
    let status = rig.status().get();
    assert_eq!(status.phase, Phase::BackingOff);
    assert_eq!((status.synced, status.failures, status.lists), (false, 1, 1));
    let last = status.last_error.unwrap();
    assert_eq!(last.problem, Problem::List(FailureClass::Forbidden));
    assert_eq!(&*last.message, "the server said: forbidden");
    let next = status.next_attempt.unwrap();
    assert_eq!(
        next - status.since.unwrap(),
        std::time::Duration::from_millis(800)
    );

    rig.pass(1.0);
    assert_eq!(rig.status().get().failures, 2);
    rig.pass(2.0);
    let status = rig.status().get();
    assert_eq!(status.phase, Phase::Watching);
    assert_eq!((status.synced, status.failures), (true, 0));
    assert_eq!((status.lists, status.watches, status.relists), (3, 1, 0));
    assert_eq!((status.objects, status.events), (3, 1));
    assert_eq!(status.version.as_str(), "8");
    assert_eq!(status.next_attempt, None);
    assert!(status.last_error.is_some(), "it stays readable");
    assert!(status.last_success.is_some());
}

#[test]
fn counts_relists() {
    let mut rig = Rig::new();
    rig.source
        .list(whole("a@1", "1"))
        .watch(Answer::Open(vec![expired()]))
        .list(whole("a@1", "5"));
    rig.start();
    rig.pass(1.0);
    let status = rig.status().get();
    assert_eq!((status.relists, status.lists, status.watches), (1, 2, 2));
    assert!(rig.errors().is_empty(), "an expired watch is nobody's fault");
}

#[test]
fn readers_are_woken_by_what_matters() {
    let mut rig = Rig::new();
    rig.source.list(whole("a@1", "1")).watch(Answer::Open(vec![]));
    let mut cx = Context::from_waker(Waker::noop());
    rig.start();
    let mut reader = rig.status();
    let Poll::Ready(first) = reader.poll_changed(&mut cx) else {
        panic!("the first look is never late");
    };
    assert_eq!(first.phase, Phase::Watching);
    assert!(reader.poll_changed(&mut cx).is_pending());
    rig.send([added("b@2"), added("c@3")]);
    assert!(
        reader.poll_changed(&mut cx).is_pending(),
        "progress alone wakes nobody"
    );
    assert_eq!(reader.get().events, 2);
    rig.stop();
    let Poll::Ready(last) = reader.poll_changed(&mut cx) else {
        panic!("the end is of note");
    };
    assert_eq!((last.phase, last.events), (Phase::Stopped, 2));
}

/// Waiting for a status needs no runtime, and ends when it is reached.
#[test]
fn wait_until_returns_the_wanted_status() {
    let mut rig = Rig::new();
    rig.source.list(Answer::Fail(error(FailureClass::Forbidden)));
    rig.start();
    let mut reader = rig.status();
    let mut wait = std::pin::pin!(reader.wait_until(|status| status.synced));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(wait.as_mut().poll(&mut cx).is_pending());
    rig.source.list(whole("a@1", "1"));
    rig.pass(1.0);
    let Poll::Ready(status) = wait.as_mut().poll(&mut cx) else {
        panic!("it is synced");
    };
    assert!(status.synced);
}

#[test]
fn an_error_tells_its_cause_and_the_wait() {
    #[derive(Debug)]
    struct Outer(std::io::Error);
    impl std::fmt::Display for Outer {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("request failed")
        }
    }
    impl std::error::Error for Outer {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            Some(&self.0)
        }
    }
    let cause = Outer(std::io::Error::other("wire cut"));
    let mut rig = Rig::new();
    rig.source.list(Answer::Fail(
        SourceError::new(FailureClass::Throttled, cause)
            .with_retry_after(Some(std::time::Duration::from_secs(4))),
    ));
    rig.start();
    let error = rig.last_error();
    assert_eq!(error.to_string(), "foos: list failed: request failed");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "wire cut");
    assert_eq!(error.class(), Some(FailureClass::Throttled));
    assert_eq!(error.retry_in(), Some(std::time::Duration::from_secs(4)));
    assert_eq!(error.reflector(), "foos");
    let cause = error.cause().unwrap().downcast_ref::<SourceError>().unwrap();
    assert_eq!(cause.class(), FailureClass::Throttled);
    let last = rig.status().get().last_error.unwrap();
    assert_eq!(&*last.message, "request failed: wire cut");
}

#[test]
fn a_panicking_hook_is_contained() {
    let mut rig = Rig::new();
    rig.source
        .list(Answer::Fail(error(FailureClass::Forbidden)))
        .list(whole("a@1", "1"));
    let reflector = informer_reflector::Reflector::new(
        rig.source.clone(),
        informer_core::NamespaceName,
        rig.sink.clone(),
        rig.clock.clone(),
        rig.options.clone(),
    )
    .on_error(|_| panic!("a bad hook"));
    let mut run = std::pin::pin!(reflector.run());
    let mut cx = Context::from_waker(Waker::noop());
    assert!(run.as_mut().poll(&mut cx).is_pending());
    rig.pass(1.0);
    assert!(run.as_mut().poll(&mut cx).is_pending());
    rig.assert_taken(&["Replace@1 [a@1]"]);
}
