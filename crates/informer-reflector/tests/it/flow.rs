//! The driver: what it asks for, what it hands over, when it reads.

use std::{sync::Arc, time::Duration};

use informer_core::{Cause, Clock, FailureClass, Identity, SourceError, Watched};
use informer_reflector::{FirstVersion, ListWatch, Phase, Start, feed};

use crate::rig::{
    Answer, Object, Rig, Step, added, bookmark, deleted, end, error, expired, initial_end, item, modified,
    object, page, whole,
};

#[test]
fn lists_in_pages_and_watches() {
    let mut rig = Rig::new();
    rig.source
        .list(Answer::Open(vec![item("a@1"), page("3", Some("t1"))]))
        .list(Answer::Open(vec![item("b@2"), end("3")]))
        .watch(Answer::Open(vec![
            added("c@4"),
            modified("a@5"),
            deleted("b@6"),
            bookmark("9"),
        ]));
    rig.start();
    rig.assert_requests(&["list -/500/", "list -/500/t1", "watch 3"]);
    rig.assert_taken(&[
        "Replace@3 [a@1, b@2]",
        "Added c@4",
        "Modified a@5",
        "Deleted b@6",
        "Bookmark@9",
    ]);
    assert!(rig.errors().is_empty());
}

/// client-go `TestReflectorListAndWatch`, the streaming half.
#[test]
fn streams_the_list_and_goes_on_with_the_stream() {
    let mut rig = Rig::streaming();
    rig.source.watch(Answer::Open(vec![
        added("a@1"),
        added("b@2"),
        added("c@3"),
        modified("a@4"),
        deleted("b@5"),
    ]));
    rig.start();
    rig.assert_taken(&[]);
    rig.send([initial_end("5"), added("d@6")]);
    rig.assert_requests(&["stream -"]);
    rig.assert_taken(&["Replace@5 [a@1, c@3, a@4]", "Added d@6"]);
    rig.send([Step::End]);
    rig.assert_requests(&["stream -", "watch 6"]);
}

/// client-go `TestReflectorExpiredExactResourceVersion`, `TestReflectorFullListIfExpired`, `TestReflectorFullListIfTooLarge`.
#[test]
fn each_request_asks_for_what_was_seen() {
    for class in [FailureClass::Expired, FailureClass::VersionTooLarge] {
        let mut rig = Rig::new();
        rig.options.first_version = FirstVersion::Any;
        rig.source
            .list(whole("a@1", "10"))
            .watch(Answer::Open(vec![expired()]))
            .list(Answer::Fail(error(class)))
            .list(whole("a@1", "20"))
            .watch(Answer::Open(vec![expired()]))
            .list(whole("a@1", "30"));
        rig.start();
        rig.pass(1.0);
        rig.pass(2.0);
        rig.assert_requests(&[
            "list 0/500/",
            "watch 10",
            "list 10/0/",
            "list -/500/",
            "watch 20",
            "list 20/0/",
            "watch 30",
        ]);
        rig.assert_taken(&[
            "Replace@10 [a@1]",
            "Replace@20 [a@1] may rewind",
            "Replace@30 [a@1]",
        ]);
    }
}

/// The same sequence for the same seed, spread by chance, and never sooner than the wait.
#[test]
fn waits_are_spread_and_repeatable() {
    let times = |seed| {
        let mut rig = Rig::new();
        rig.options.backoff.jitter = 1.0;
        rig.options.seed = Some(seed);
        for _ in 0..6 {
            rig.source.list(Answer::Fail(error(FailureClass::Refused)));
        }
        rig.start();
        let mut waits = Vec::new();
        for _ in 0..5 {
            let before = rig.source.requests().len();
            let mut waited = 0_u32;
            while rig.source.requests().len() == before {
                rig.advance(0.01);
                waited += 1;
            }
            waits.push(waited);
        }
        waits
    };
    let waits = times(1);
    assert_eq!(waits, times(1));
    assert_ne!(waits, times(2));
    for (wait, least) in waits.iter().zip([80, 160, 320, 640, 1280]) {
        assert!((least..=2 * least + 1).contains(wait), "{waits:?}");
    }
}

#[test]
fn does_not_read_the_watch_while_the_sink_is_full() {
    let mut rig = Rig::new();
    rig.source.list(whole("a@1", "1")).watch(Answer::Open(vec![]));
    rig.start();
    rig.sink.fill(true);
    // The event that was already being waited for is handed over: a push is legal also when the sink is full.
    rig.send([added("b@2"), added("c@3"), added("d@4")]);
    assert_eq!(rig.source.unread(), 2);
    rig.assert_taken(&["Replace@1 [a@1]", "Added b@2"]);
    rig.sink.fill(false);
    rig.settle();
    assert_eq!(rig.source.unread(), 0);
    rig.assert_taken(&["Replace@1 [a@1]", "Added b@2", "Added c@3", "Added d@4"]);
}

/// A whole state that was begun is finished, whatever the sink says.
#[test]
fn a_full_sink_does_not_hold_up_a_list() {
    let mut rig = Rig::streaming();
    rig.sink.fill(true);
    rig.source
        .watch(Answer::Open(vec![added("a@1"), initial_end("1"), added("b@2")]));
    rig.start();
    rig.assert_taken(&["Replace@1 [a@1]"]);
    assert_eq!(rig.source.unread(), 1);
}

/// A timeout that changes nothing must not send the request again.
#[test]
fn a_slow_answer_is_waited_for_with_one_request() {
    let mut rig = Rig::streaming();
    rig.options.streaming_wait = Duration::from_secs(60);
    rig.source.watch(Answer::Hang);
    rig.start();
    rig.pass(59.0);
    rig.assert_requests(&["stream -"]);
    rig.source.list(Answer::Hang);
    rig.pass(2.0);
    rig.assert_requests(&["stream -", "list -/500/"]);
    assert_eq!(rig.status().get().phase, Phase::Listing);
}

/// Nor may it forget that it has asked.
#[test]
fn a_slow_answer_is_taken_when_it_comes() {
    let mut rig = Rig::new();
    let clock = rig.clock.clone();
    let source = ListWatch::new(
        |_| async { Err::<feed::IterFeed<std::vec::IntoIter<_>>, _>(error(FailureClass::Forbidden)) },
        move |_| {
            let clock = clock.clone();
            async move {
                clock.sleep_until(clock.now() + Duration::from_secs(25)).await;
                let end = Watched::Bookmark {
                    at: "5".into(),
                    end_of_initial: true,
                };
                Ok::<_, SourceError>(feed::from_iter([
                    Watched::Upsert(Cause::Added, Ok(object("a@1"))),
                    end,
                ]))
            }
        },
    );
    rig.options.start = Start::StreamingList;
    rig.start_from(source);
    rig.pass(24.0);
    rig.assert_taken(&[]);
    rig.pass(1.1);
    rig.assert_taken(&["Replace@5 [a@1]"]);
}

/// Events that never cease must not hold up what is due.
#[test]
fn a_due_timeout_comes_between_events() {
    let mut rig = Rig::new();
    rig.options.resync_period = Some(Duration::from_secs(30));
    let clock = rig.clock.clone();
    rig.transform = Some(Arc::new(move |_: &Identity, _: &mut Object| {
        clock.advance(Duration::from_secs(1));
        Ok(())
    }));
    rig.source
        .list(whole("", "1"))
        .watch(Answer::Open((0..100).map(|n| added(&format!("x@{n}"))).collect()));
    rig.start();
    let resyncs: Vec<usize> = rig
        .sink
        .taken()
        .iter()
        .enumerate()
        .filter_map(|(place, delta)| (delta == "Resync").then_some(place))
        .collect();
    assert_eq!(resyncs, [32, 64, 96]);
}

/// One event must not cost a timer.
#[test]
fn the_timer_is_set_once_for_many_events() {
    let mut rig = Rig::new();
    rig.source.list(whole("", "1")).watch(Answer::Open(vec![]));
    rig.start();
    let before = rig.clock.sleeps();
    for version in 2..100 {
        rig.send([added(&format!("a@{version}"))]);
    }
    assert_eq!(rig.clock.sleeps(), before);
}

/// A source that always has more must let others run.
#[test]
fn yields_between_many_events() {
    let mut rig = Rig::new();
    rig.source.list(whole("", "1")).watch(Answer::Open(vec![]));
    rig.start();
    rig.source
        .send((2..2002).map(|version| added(&format!("a@{version}"))));
    let n_polls = rig.settle();
    assert!((5..50).contains(&n_polls), "{n_polls} polls");
    assert_eq!(rig.sink.with(<[_]>::len), 2001);
}
