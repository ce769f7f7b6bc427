//! A retried watch (client-go `tools/watch/retrywatcher_test.go`).

use std::time::Duration;

use informer_core::{Cause, Classify, Clock, FailureClass, Feed, SourceError, Watched};
use informer_reflector::RetryWatch;

use super::wait;
use crate::rig::{
    Answer, ManualClock, Rig, Source, Step, added, bookmark, deleted, error, expired, modified, undecodable,
};

fn watch(rig: &Rig, version: &str) -> RetryWatch<Source, ManualClock> {
    RetryWatch::new(rig.source.clone(), version, rig.clock.clone(), &rig.options).unwrap()
}

fn show(event: Option<Result<Watched<String>, SourceError>>) -> String {
    match event {
        None => "end".to_owned(),
        Some(Err(error)) => error.to_string(),
        Some(Ok(Watched::Upsert(Cause::Added, Ok(object)))) => format!("added {}", object.object),
        Some(Ok(Watched::Upsert(_, Ok(object)))) => format!("modified {}", object.object),
        Some(Ok(Watched::Delete(Ok(object)))) => format!("deleted {}", object.object),
        Some(Ok(other)) => format!("{other:?}").split(['(', ' ']).next().unwrap().to_owned(),
    }
}

/// What comes within so many seconds.
fn events(rig: &Rig, watch: &mut RetryWatch<Source, ManualClock>, seconds: u32) -> Vec<String> {
    let mut events = Vec::new();
    while let Some(event) = wait(&rig.clock, seconds, watch.next()) {
        events.push(show(event));
        if events.last().is_some_and(|last| last == "end") {
            break;
        }
    }
    events
}

/// client-go `TestNewRetryWatcher`.
#[test]
fn needs_a_version_to_begin_after() {
    let rig = Rig::new();
    for version in ["", "0"] {
        let refused = RetryWatch::new(rig.source.clone(), version, rig.clock.clone(), &rig.options);
        assert!(refused.unwrap_err().to_string().contains("needs a version"));
    }
}

#[test]
fn goes_on_where_the_last_watch_ended() {
    let rig = Rig::new();
    rig.source
        .watch(Answer::Open(vec![added("a@2"), modified("a@3"), Step::End]))
        .watch(Answer::Open(vec![bookmark("9"), Step::End]))
        .watch(Answer::Open(vec![deleted("a@10")]));
    let mut watch = watch(&rig, "1");
    assert_eq!(
        events(&rig, &mut watch, 5),
        ["added a@2", "modified a@3", "deleted a@10"]
    );
    rig.assert_requests(&["watch 1", "watch 3", "watch 9"]);
    assert_eq!(watch.version().as_str(), "10");
}

/// client-go `NewRetryWatcher`: a second between the beginnings, none where the watch was longer.
#[test]
fn watches_begin_a_second_apart() {
    let rig = Rig::new();
    for _ in 0..20 {
        rig.source.watch(Answer::Open(vec![Step::End]));
    }
    let mut watch = watch(&rig, "1");
    assert!(events(&rig, &mut watch, 5).is_empty());
    let requests = rig.source.requests().len();
    assert!((5..=6).contains(&requests), "{requests}");

    let rig = Rig::new();
    rig.source.watch(Answer::Open(vec![]));
    let mut watch = self::watch(&rig, "1");
    assert!(events(&rig, &mut watch, 5).is_empty());
    rig.source.send([Step::End]);
    assert!(events(&rig, &mut watch, 0).is_empty());
    rig.assert_requests(&["watch 1", "watch 1"]);
}

#[test]
fn retries_what_may_be_gone_next_time() {
    for class in [
        FailureClass::Internal,
        FailureClass::Transient,
        FailureClass::Refused,
        FailureClass::Throttled,
        FailureClass::NotFound,
    ] {
        let rig = Rig::new();
        rig.source
            .watch(Answer::Open(vec![added("a@2"), Step::Fail(error(class))]))
            .watch(Answer::Fail(error(class)))
            .watch(Answer::Open(vec![added("b@3")]));
        let mut watch = watch(&rig, "1");
        assert_eq!(events(&rig, &mut watch, 5), ["added a@2", "added b@3"], "{class}");
        rig.assert_requests(&["watch 1", "watch 2", "watch 2"]);
    }
}

/// client-go ends on 410 within the stream, and retries one at the opening for ever; here both are the end.
#[test]
fn ends_where_there_is_no_going_on() {
    for class in [
        FailureClass::Expired,
        FailureClass::Forbidden,
        FailureClass::Unauthorized,
    ] {
        let text = format!("the server said: {class}");
        let rig = Rig::new();
        rig.source
            .watch(Answer::Open(vec![added("a@2"), Step::Fail(error(class))]));
        let mut within = watch(&rig, "1");
        assert_eq!(events(&rig, &mut within, 1), ["added a@2", &text, "end"]);
        let rig = Rig::new();
        rig.source.watch(Answer::Fail(error(class)));
        let mut opening = watch(&rig, "1");
        assert_eq!(events(&rig, &mut opening, 1), [&text, "end"]);
        assert_eq!(rig.source.open(), 0);
    }
    let rig = Rig::new();
    rig.source.watch(Answer::Open(vec![expired()]));
    let mut watch = watch(&rig, "1");
    let error = wait(&rig.clock, 1, watch.next()).unwrap().unwrap().unwrap_err();
    assert_eq!(error.class(), FailureClass::Expired);
}

#[test]
fn the_server_may_ask_for_more_time() {
    let rig = Rig::new();
    let busy = error(FailureClass::Throttled).with_retry_after(Some(Duration::from_secs(7)));
    rig.source
        .watch(Answer::Fail(busy))
        .watch(Answer::Open(vec![added("a@2")]));
    let mut watch = watch(&rig, "1");
    assert!(wait(&rig.clock, 6, watch.next()).is_none());
    assert_eq!(events(&rig, &mut watch, 2), ["added a@2"]);
}

/// What cannot be decoded is handed on, and its version counts where it is known.
#[test]
fn an_undecodable_object_is_told_and_passed() {
    let rig = Rig::new();
    rig.source
        .watch(Answer::Open(vec![
            Step::Event(Watched::Upsert(Cause::Modified, Err(undecodable("a@5")))),
            Step::Event(Watched::Odd(informer_core::DecodeError::new("no event"))),
            Step::End,
        ]))
        .watch(Answer::Open(vec![]));
    let mut watch = watch(&rig, "1");
    assert_eq!(events(&rig, &mut watch, 2), ["Upsert", "Odd"]);
    rig.assert_requests(&["watch 1", "watch 5"]);
}

/// A connection that died without a word is given up after the time the server should have ended it.
#[test]
fn a_dead_watch_is_begun_again() {
    for answer in [Answer::Hang, Answer::Open(vec![])] {
        let rig = Rig::new();
        rig.source.watch(answer).watch(Answer::Open(vec![added("a@2")]));
        let mut watch = watch(&rig, "1");
        let begun = rig.clock.now();
        assert_eq!(show(wait(&rig.clock, 700, watch.next()).unwrap()), "added a@2");
        let took = (rig.clock.now() - begun).as_secs();
        assert!((330..631).contains(&took), "{took}");
    }
}
