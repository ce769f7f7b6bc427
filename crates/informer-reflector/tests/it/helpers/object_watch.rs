//! One object, followed.

use informer_core::{FailureClass, ObjectKey};
use informer_reflector::{ObjectWatch, Phase};

use super::wait;
use crate::rig::{Answer, Object, Rig, Step, added, deleted, error, expired, modified, whole};

fn watch(rig: &Rig) -> ObjectWatch<Object> {
    let key = ObjectKey::namespaced("ns", "a");
    ObjectWatch::new(rig.source.clone(), key, rig.clock.clone(), rig.options.clone())
}

/// The next state within so many seconds, as text.
fn state(rig: &Rig, watch: &mut ObjectWatch<Object>, seconds: u32) -> Option<String> {
    let state = wait(&rig.clock, seconds, watch.next())?;
    Some(state.map_or_else(|| "absent".to_owned(), |entry| entry.object.to_string()))
}

#[test]
fn tells_each_state_and_absence_in_turn() {
    let rig = Rig::new();
    rig.source.list(whole("b@1", "1")).watch(Answer::Open(vec![
        added("a@2"),
        modified("a@3"),
        modified("b@4"),
        deleted("a@5"),
    ]));
    let mut watch = watch(&rig);
    for wanted in ["absent", "a@2", "a@3", "absent"] {
        assert_eq!(state(&rig, &mut watch, 0).as_deref(), Some(wanted));
    }
    assert_eq!(state(&rig, &mut watch, 1), None);
    assert_eq!(watch.status().get().phase, Phase::Watching);
}

#[test]
fn survives_every_failure() {
    let rig = Rig::new();
    rig.source
        .list(Answer::Fail(error(FailureClass::Forbidden)))
        .list(whole("a@1", "1"))
        .watch(Answer::Fail(error(FailureClass::Refused)))
        .watch(Answer::Open(vec![modified("a@2"), expired()]))
        .list(whole("a@2", "9"))
        .watch(Answer::Open(vec![Step::Fail(error(FailureClass::Internal))]))
        .list(whole("", "12"));
    let mut watch = watch(&rig);
    assert_eq!(state(&rig, &mut watch, 60).as_deref(), Some("a@1"));
    assert_eq!(state(&rig, &mut watch, 60).as_deref(), Some("a@2"));
    // The same state again is no state.
    assert_eq!(state(&rig, &mut watch, 60).as_deref(), Some("absent"));
}

/// Its watch is not read on while a state waits to be told.
#[test]
fn a_slow_reader_holds_up_the_watch() {
    let rig = Rig::new();
    rig.source.list(whole("a@1", "1")).watch(Answer::Open(
        (2..50).map(|at| modified(&format!("a@{at}"))).collect(),
    ));
    let mut watch = watch(&rig);
    assert_eq!(state(&rig, &mut watch, 0).as_deref(), Some("a@1"));
    assert_eq!(state(&rig, &mut watch, 0).as_deref(), Some("a@2"));
    assert!(rig.source.unread() > 40, "{} unread", rig.source.unread());
    for at in 3..50 {
        assert_eq!(
            state(&rig, &mut watch, 0).as_deref(),
            Some(format!("a@{at}").as_str())
        );
    }
}

/// Another object of the same name is another object.
#[test]
fn a_recreated_object_was_absent_in_between() {
    use informer_core::{Cause, Decoded, Stamp, Watched};

    let rig = Rig::new();
    let recreated = Decoded {
        identity: informer_core::Identity {
            stamp: Stamp::new("7", "another"),
            ..crate::rig::identity("a", "7")
        },
        object: "a@7".to_owned(),
    };
    rig.source
        .list(whole("a@1", "1"))
        .watch(Answer::Open(vec![Step::Event(Watched::Upsert(
            Cause::Modified,
            Ok(recreated),
        ))]));
    let mut watch = watch(&rig);
    for wanted in ["a@1", "absent", "a@7"] {
        assert_eq!(state(&rig, &mut watch, 0).as_deref(), Some(wanted));
    }
}

#[test]
fn dropping_the_wait_loses_no_state() {
    let rig = Rig::new();
    rig.source.list(whole("a@1", "1")).watch(Answer::Open(vec![]));
    let mut watch = watch(&rig);
    assert_eq!(state(&rig, &mut watch, 0).as_deref(), Some("a@1"));
    for at in 2..6 {
        assert_eq!(state(&rig, &mut watch, 0), None);
        rig.source.send([modified(&format!("a@{at}"))]);
        assert_eq!(
            state(&rig, &mut watch, 0).as_deref(),
            Some(format!("a@{at}").as_str())
        );
    }
    drop(watch);
    assert_eq!(rig.source.open(), 0);
}

/// An object that cannot be read is there all the same.
#[test]
fn an_unreadable_state_is_not_absence() {
    let rig = Rig::new();
    rig.source
        .list(whole("a@1", "1"))
        .watch(Answer::Open(vec![expired()]))
        .list(Answer::Open(vec![
            crate::rig::bad_item("a@2"),
            crate::rig::end("2"),
        ]))
        .watch(Answer::Open(vec![modified("a@3")]));
    let mut watch = watch(&rig);
    assert_eq!(state(&rig, &mut watch, 0).as_deref(), Some("a@1"));
    assert_eq!(state(&rig, &mut watch, 5).as_deref(), Some("a@3"));
}
