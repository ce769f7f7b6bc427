//! Tests of client-go's reflector that nothing else here pins; `tests/UPSTREAM.md` lists them all.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use informer_core::{Delta, FailureClass};
use informer_reflector::{
    Options, Problem, Start,
    machine::{Action, Input, Machine},
};

use crate::{
    rig::{Answer, Object, Rig, Step, added, bookmark, deleted, error, expired, item, modified, page, whole},
    script::epoch,
};

/// `TestReflectorListAndWatchWithErrors`: whatever fails, the copy goes on where it was.
#[test]
fn errors_of_list_and_watch_leave_the_copy_as_it_was() {
    let mut rig = Rig::new();
    rig.source
        .list(whole("", "1"))
        .watch(Answer::Open(vec![added("foo@2"), added("bar@3"), expired()]))
        .list(whole("foo@2 bar@3", "3"))
        .watch(Answer::Open(vec![deleted("foo@4"), added("qux@5"), expired()]))
        .list(Answer::Fail(error(FailureClass::Internal)))
        .list(whole("bar@3 qux@5", "5"))
        .watch(Answer::Fail(error(FailureClass::Internal)))
        .list(whole("bar@3 qux@5", "5"))
        .watch(Answer::Open(vec![added("baz@6")]));
    rig.start();
    rig.pass(60.0);
    rig.assert_taken(&[
        "Replace@1 []",
        "Added foo@2",
        "Added bar@3",
        "Replace@3 [foo@2, bar@3]",
        "Deleted foo@4",
        "Added qux@5",
        "Replace@5 [bar@3, qux@5]",
        "Replace@5 [bar@3, qux@5]",
        "Added baz@6",
    ]);
    let problems = rig.errors();
    assert_eq!(
        problems,
        [
            "foos: list failed: the server said: internal",
            "foos: watch failed: the server said: internal"
        ]
    );
}

/// `TestCloseWatchChannelOnError`: a watch that brought an error is closed, before anything else is done.
#[test]
fn an_error_in_the_stream_closes_it() {
    for class in [
        FailureClass::Internal,
        FailureClass::Expired,
        FailureClass::Throttled,
    ] {
        let mut rig = Rig::new();
        rig.source.list(whole("", "1")).watch(Answer::Open(vec![]));
        rig.start();
        assert_eq!(rig.source.open(), 1);
        rig.send([Step::Fail(error(class))]);
        assert_eq!(rig.source.open(), 0, "{class}");
    }
}

/// `TestReflectorResourceVersionUpdate`: list, event, bookmark and delete each move the version.
#[test]
fn every_version_is_received() {
    let mut rig = Rig::new();
    rig.source.list(whole("", "10")).watch(Answer::Open(vec![]));
    rig.start();
    let mut versions = vec![rig.status().get().version.to_string()];
    for step in [added("a@10"), modified("a@20"), bookmark("30"), deleted("a@40")] {
        rig.send([step]);
        versions.push(rig.status().get().version.to_string());
    }
    assert_eq!(versions, ["10", "10", "20", "30", "40"]);
}

/// `TestWatchTimeout`.
#[test]
fn a_watch_is_asked_to_end_between_the_minimum_and_twice_that() {
    for (minimum, least) in [(0, 300), (1, 300), (1800, 1800)] {
        for seed in 0..50 {
            let mut options = Options::default();
            options.start = Start::List;
            options.min_watch_timeout = Duration::from_secs(minimum);
            let now = epoch();
            let mut machine = Machine::new(options, seed, now);
            machine.handle_input(now, Input::Opened);
            machine.handle_input(
                now,
                Input::ListEnd {
                    at: "10".into(),
                    token: None,
                },
            );
            let watch = std::iter::from_fn(|| machine.poll_action()).find_map(|action| match action {
                Action::OpenWatch(request) => Some(request),
                _ => None,
            });
            let asked = watch.unwrap().timeout.unwrap().as_secs();
            assert!((least..=2 * least).contains(&asked), "{asked} for {minimum}");
        }
    }
}

/// `TestNewReflectorWithCustomBackoff`.
#[test]
fn the_backoff_can_be_chosen() {
    let mut rig = Rig::new();
    rig.options.backoff.initial = Duration::from_secs(1);
    rig.options.backoff.factor = 3.0;
    rig.options.backoff.cap = Duration::from_secs(10);
    for _ in 0..6 {
        rig.source.list(Answer::Fail(error(FailureClass::Refused)));
    }
    rig.start();
    let mut waits = Vec::new();
    for _ in 0..5 {
        let wait = rig.last_error().retry_in().unwrap();
        waits.push(wait.as_secs());
        rig.advance(wait.as_secs_f64());
    }
    assert_eq!(waits, [1, 3, 9, 10, 10]);
}

/// `TestReflectorReplacesStoreOnUnsafeDelete`: an object that the server could not read any more was deleted there, which the watch can only
/// tell as an error. The list that follows takes it out of the copy.
#[test]
fn an_unsafe_delete_is_found_by_the_list() {
    let mut rig = Rig::new();
    rig.source
        .list(whole("foo1@1 foo2@2 foo3@3", "3"))
        .watch(Answer::Open(vec![
            added("foo@4"),
            Step::Fail(error(FailureClass::Internal)),
        ]))
        .list(whole("foo1@1 foo2@2 foo3@3", "5"));
    rig.start();
    rig.pass(1.0);
    rig.assert_taken(&[
        "Replace@3 [foo1@1, foo2@2, foo3@3]",
        "Added foo@4",
        "Replace@5 [foo1@1, foo2@2, foo3@3]",
    ]);
    assert_eq!(rig.last_error().problem(), Problem::Watch(FailureClass::Internal));
    assert_eq!(rig.status().get().version.as_str(), "5");
}

/// `TestReflectorListExtract`: one object that is kept does not keep its page.
#[test]
fn an_object_that_stays_holds_no_other() {
    let mut rig = Rig::new();
    rig.source
        .list(Answer::Open(vec![item("a@1"), item("b@2"), page("9", Some("t"))]))
        .list(Answer::Open(vec![item("c@3"), item("d@4"), page("9", None)]));
    rig.start();
    let mut kept: Option<Arc<Object>> = None;
    let mut others: Vec<Weak<Object>> = Vec::new();
    rig.sink.with(|deltas| {
        let Delta::Replace { items, .. } = &deltas[0] else {
            panic!("the first is the whole state")
        };
        kept = Some(items[1].object.clone());
        others = items
            .iter()
            .filter(|entry| *entry.object != "b@2")
            .map(|entry| Arc::downgrade(&entry.object))
            .collect();
    });
    rig.sink.forget();
    assert_eq!(others.len(), 3);
    assert!(others.iter().all(|other| other.upgrade().is_none()));
    assert_eq!(kept.as_deref().map(String::as_str), Some("b@2"));
    assert!(rig.is_running());
}
