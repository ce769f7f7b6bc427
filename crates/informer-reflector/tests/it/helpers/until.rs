//! Waiting for a condition (client-go `tools/watch/until_test.go`).

use std::time::Duration;

use informer_core::{FailureClass, NamespaceName, ObjectKey};
use informer_reflector::{NotReached, Phase, Seen, until};

use super::wait;
use crate::rig::{Answer, Object, Rig, Step, added, bad_item, deleted, end, error, expired, modified, whole};

fn run<T: Send>(
    rig: &Rig,
    condition: impl FnMut(&Seen<ObjectKey, Object>) -> Option<T> + Send,
) -> Result<T, NotReached> {
    let waiting = until(
        rig.source.clone(),
        NamespaceName,
        rig.clock.clone(),
        rig.options.clone(),
        Duration::from_secs(60),
        condition,
    );
    wait(&rig.clock, 61, waiting).unwrap()
}

fn names(seen: &Seen<ObjectKey, Object>) -> String {
    let names: Vec<&str> = seen.iter().map(|entry| entry.object.as_str()).collect();
    names.join(" ")
}

/// client-go `TestUntilWithSync`, conditions that hold from the start, after an event, and never.
#[test]
fn ends_when_the_condition_gives_an_answer() {
    let rig = Rig::new();
    rig.source
        .list(whole("a@1 b@2", "2"))
        .watch(Answer::Open(vec![added("c@3"), deleted("a@4")]));
    let key = ObjectKey::namespaced("ns", "a");
    let mut asked = Vec::new();
    let left = run(&rig, |seen| {
        asked.push(names(seen));
        seen.get(&key).is_none().then(|| seen.len())
    });
    assert_eq!(left.unwrap(), 2);
    // Never before the whole state was there.
    assert_eq!(asked, ["a@1 b@2", "a@1 b@2 c@3", "b@2 c@3"]);
    assert_eq!(rig.source.open(), 0, "nothing runs on");
}

#[test]
fn a_condition_may_hold_from_the_start() {
    let rig = Rig::new();
    rig.source.list(whole("", "2"));
    assert!(run(&rig, |seen| seen.is_empty().then_some(())).is_ok());
    assert_eq!(rig.source.open(), 0, "nothing runs on");
}

#[test]
fn survives_errors_of_list_and_watch() {
    let rig = Rig::new();
    rig.source
        .list(Answer::Fail(error(FailureClass::Unauthorized)))
        .list(whole("a@1", "1"))
        .watch(Answer::Fail(error(FailureClass::Throttled)))
        .watch(Answer::Open(vec![Step::Fail(error(FailureClass::Transient))]))
        .watch(Answer::Open(vec![expired()]))
        .list(whole("a@8", "8"))
        .watch(Answer::Open(vec![modified("a@9")]));
    let found = run(&rig, |seen| (names(seen) == "a@9").then_some(()));
    assert!(found.is_ok());
}

/// client-go `TestUntilTimeout`.
#[test]
fn the_error_tells_what_was_seen_and_what_failed() {
    let rig = Rig::new();
    rig.source.list(whole("a@1", "1")).watch(Answer::Open(vec![]));
    let late = run(&rig, |_| None::<()>).unwrap_err();
    assert_eq!(
        late.to_string(),
        "foos (Foo) does not meet the condition after 60s: watching, 1 objects"
    );
    assert_eq!((late.objects(), late.status().phase), (1, Phase::Watching));
    assert_eq!(rig.source.open(), 0);

    let rig = Rig::new();
    for _ in 0..9 {
        rig.source.list(Answer::Fail(error(FailureClass::Forbidden)));
    }
    let refused = run(&rig, |_| Some(())).unwrap_err();
    assert_eq!(refused.trouble().unwrap().class(), Some(FailureClass::Forbidden));
    assert_eq!(
        refused.to_string(),
        "foos (Foo) does not meet the condition after 60s: backing off, not in sync, after list failed: the server \
         said: forbidden"
    );
}

/// What cannot be read is stale, not gone.
#[test]
fn unreadable_objects_stay_as_they_were() {
    let rig = Rig::new();
    rig.source
        .list(whole("a@1 b@1", "1"))
        .watch(Answer::Open(vec![expired()]))
        .list(Answer::Open(vec![bad_item("a@5"), end("5")]));
    let found = run(&rig, |seen| {
        let stale = seen.iter().any(|entry| entry.stale);
        stale.then(|| names(seen))
    });
    assert_eq!(found.unwrap(), "a@1");
}
