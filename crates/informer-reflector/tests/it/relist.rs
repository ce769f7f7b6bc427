//! A relist that is asked for from outside, in each phase.

use informer_core::FailureClass;
use informer_reflector::Phase;

use crate::rig::{Answer, Rig, added, error, modified, whole};

#[test]
fn a_watch_is_given_up_for_a_relist_that_is_asked_for() {
    let mut rig = Rig::new();
    rig.source
        .list(whole("a@1", "10"))
        .watch(Answer::Open(vec![]))
        .list(whole("a@1", "12"))
        .watch(Answer::Open(vec![]));
    rig.start();
    rig.relist();
    rig.relist();
    assert_eq!(rig.source.open(), 0);
    assert_eq!(rig.status().get().phase, Phase::BackingOff);
    rig.pass(1.0);
    rig.assert_requests(&["list -/500/", "watch 10", "list 10/0/", "watch 12"]);
    rig.assert_taken(&["Replace@10 [a@1]", "Replace@12 [a@1]"]);
    let status = rig.status().get();
    assert_eq!((status.relists, status.failures), (1, 0));
    assert!(rig.errors().is_empty());
}

#[test]
fn it_is_heard_while_a_watch_is_being_opened_and_while_the_sink_is_full() {
    for full in [false, true] {
        let mut rig = Rig::new();
        rig.sink.fill(full);
        let watch = if full {
            Answer::Open(vec![added("b@2")])
        } else {
            Answer::Hang
        };
        rig.source
            .list(whole("a@1", "1"))
            .watch(watch)
            .list(whole("a@1", "3"));
        rig.start();
        rig.relist();
        rig.pass(1.0);
        rig.assert_taken(&["Replace@1 [a@1]", "Replace@3 [a@1]"]);
    }
}

#[test]
fn a_list_under_way_is_what_was_asked_for() {
    let mut rig = Rig::new();
    rig.source.list(Answer::Hang);
    rig.start();
    rig.relist();
    rig.pass(1.0);
    rig.assert_requests(&["list -/500/"]);
}

#[test]
fn it_takes_the_place_of_a_watch_that_waits_to_be_opened_again() {
    let mut rig = Rig::new();
    rig.source
        .list(whole("a@1", "10"))
        .watch(Answer::Fail(error(FailureClass::Throttled)))
        .list(whole("a@1", "12"));
    rig.start();
    rig.relist();
    rig.pass(1.0);
    rig.assert_requests(&["list -/500/", "watch 10", "list 10/0/", "watch 12"]);
}

#[test]
fn events_that_never_cease_do_not_hold_it_up() {
    let mut rig = Rig::new();
    rig.source
        .list(whole("a@1", "1"))
        .watch(Answer::Open(vec![]))
        .list(whole("a@999", "999"));
    rig.start();
    // They are there in the moment of the wish, and would be read first.
    rig.source.send((2..1_000).map(|at| modified(&format!("a@{at}"))));
    rig.relist();
    assert!(
        rig.source.unread() > 0,
        "what was not read yet comes with the list"
    );
    rig.pass(1.0);
    rig.assert_requests(&["list -/500/", "watch 1", "list 2/0/", "watch 999"]);
}
