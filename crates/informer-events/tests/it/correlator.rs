//! Which events are one: client-go's own tests of its correlator, and ours.

use std::time::Duration;

use informer_events::{COMBINED, Correlator, Event, EventKind, Grouping, Options, Verdict};

use crate::support::{epoch, event, mins, pod, secs};

const MAX_DIFFERENT: u32 = 10;
const BURST: u32 = 25;

fn notes() -> Options {
    let mut options = Options::default();
    options.grouping = Grouping::Notes;
    options
}

/// What the last of some events became, each so long after the one before.
fn last(options: Options, events: Vec<Event>, every: Duration) -> (Verdict, Event, bool) {
    let mut correlator = Correlator::new(options);
    let mut now = epoch();
    let mut last = None;
    for event in events {
        now += every;
        let correlated = correlator.correlate(now, event);
        last = Some((correlated.verdict, correlated.event(), correlated.combined));
    }
    last.unwrap()
}

fn times(n_events: u32, make: impl Fn(u32) -> Event) -> Vec<Event> {
    (0..n_events).map(make).collect()
}

fn same(_: u32) -> Event {
    event("my-pod", "duplicate", "me again")
}

fn similar(index: u32) -> Event {
    event("my-pod", "similar", &format!("similar message-{index}"))
}

/// Upstream: client-go `TestEventCorrelator`, case by case. Its clock moves three times per event.
#[test]
fn events_are_counted_combined_and_skipped_as_upstream() {
    let first = vec![event("my-pod", "first", "i am first")];
    assert_written("create-a-single-event", first, secs(15), 1);
    assert_written("the-same-event-should-just-count", times(2, same), secs(15), 2);
    assert_written(
        "the-same-event-should-just-count-even-if-more-than-aggregate",
        times(MAX_DIFFERENT + 1, same),
        secs(90),
        MAX_DIFFERENT + 1,
    );
    let spam = last(notes(), times(BURST + 2, same), secs(3));
    assert_eq!(
        spam.0,
        Verdict::Skip,
        "the-same-event-is-spam-if-happens-too-frequently"
    );
    let mut unique = times(30, |index| {
        event(&format!("pod-{index}"), &format!("reason-{index}"), "message")
    });
    unique.push(event("my-pod", "unique", "snowflake"));
    assert_written("create-many-unique-events", unique, secs(15), 1);
}

fn assert_written(case: &str, events: Vec<Event>, every: Duration, count: u32) {
    let note = events.last().unwrap().note.clone();
    let (verdict, event, combined) = last(notes(), events, every);
    assert_eq!(
        (verdict, event.count(), combined),
        (Verdict::Write, count, false),
        "{case}"
    );
    assert_eq!(event.note, note, "{case}");
}

/// Upstream: client-go `TestEventCorrelator`, its cases of similar events, and `TestEventAggregatorByReasonMessageFunc`.
#[test]
fn similar_events_are_combined_as_upstream() {
    let (verdict, event, combined) = last(notes(), times(MAX_DIFFERENT, similar), secs(15));
    assert_eq!((verdict, event.count(), combined), (Verdict::Write, 1, true));
    assert_eq!(event.note, format!("{COMBINED}similar message-9"));

    let (verdict, event, combined) = last(notes(), times(MAX_DIFFERENT + 1, similar), secs(15));
    assert_eq!((verdict, event.count(), combined), (Verdict::Write, 2, true));

    // Too far apart.
    let (verdict, event, combined) = last(notes(), times(MAX_DIFFERENT, similar), secs(1800));
    assert_eq!((verdict, event.count(), combined), (Verdict::Write, 1, false));

    // From different containers.
    let in_container = |name: &str| {
        let mut event = similar(0);
        event.regarding = event.regarding.field_path(format!("spec.containers{{{name}}}"));
        event
    };
    let events = vec![in_container("container1"), in_container("container2")];
    let (verdict, event, combined) = last(notes(), events, secs(15));
    assert_eq!((verdict, event.count(), combined), (Verdict::Write, 1, false));
}

/// Upstream: client-go `TestEventAggregatorByReasonFunc`.
#[test]
fn events_are_similar_when_they_differ_by_their_note_only() {
    let mut options = notes();
    options.combine_at = 2;
    let combined = |events: [Event; 2]| last(options.clone(), events.into(), secs(1)).2;
    let fun = || event("pod1", "end-of-world", "it was fun");
    assert!(combined([fun(), event("pod1", "end-of-world", "it was awful")]));
    assert!(!combined([fun(), event("pod1", "nevermind", "it was a bug")]));
    assert!(!combined([fun(), fun()]));
    let mut warning = event("pod1", "end-of-world", "it was awful");
    warning.kind = EventKind::Warning;
    assert!(!combined([fun(), warning]));
}

/// Upstream: client-go `TestEventSpamFilter`, its case of the default key.
#[test]
fn spam_is_by_source_and_object_and_kind() {
    let mut options = notes();
    options.burst = 1;
    let verdict = |next: Event| {
        let first = event("my-pod", "original", "i am first");
        last(options.clone(), vec![first, next], secs(1)).0
    };
    assert_eq!(verdict(event("my-pod", "duplicate", "me again")), Verdict::Skip);
    assert_eq!(
        verdict(event("other-pod", "duplicate", "me again")),
        Verdict::Write
    );
    let mut warning = event("my-pod", "duplicate", "me again");
    warning.kind = EventKind::Warning;
    assert_eq!(verdict(warning), Verdict::Write);
    let mut other_source = event("my-pod", "duplicate", "me again");
    other_source.reporting_instance = "kubelet.node2".to_owned();
    assert_eq!(verdict(other_source), Verdict::Write);
}

/// 25 at once, and one more each five minutes: not a nanosecond before, and never more than 25 at once.
#[test]
fn the_bucket_of_the_spam_filter_refills() {
    let start = epoch();
    let mut correlator = Correlator::new(notes());
    let mut passed = |at: Duration| {
        let mut n_passed = 0;
        while correlator.correlate(start + at, same(0)).verdict == Verdict::Write {
            n_passed += 1;
        }
        n_passed
    };
    assert_eq!(passed(Duration::ZERO), 25);
    assert_eq!(passed(mins(5) - Duration::from_nanos(1)), 0);
    assert_eq!(passed(mins(5)), 1);
    assert_eq!(passed(mins(20)), 3);
    assert_eq!(passed(mins(10_000)), 25);
}

/// In a series, only what is written takes of the bucket.
#[test]
fn a_known_series_is_never_spam() {
    let mut correlator = Correlator::new(Options::default());
    let now = epoch();
    let verdicts: Vec<_> = (0..1000)
        .map(|_| correlator.correlate(now, same(0)).verdict)
        .collect();
    assert_eq!(verdicts[..2], [Verdict::Write; 2]);
    assert!(verdicts[2..].iter().all(|verdict| *verdict == Verdict::Count));
    for index in 0..23 {
        let other = event("my-pod", &format!("reason-{index}"), "a note");
        assert_eq!(
            correlator.correlate(now, other).verdict,
            Verdict::Write,
            "{index}"
        );
    }
    let spam = event("my-pod", "one-too-many", "a note");
    assert_eq!(correlator.correlate(now, spam.clone()).verdict, Verdict::Skip);
    assert_eq!(correlator.correlate(now, same(0)).verdict, Verdict::Count);
    // When it may be written, it tells of all its times.
    let later = correlator.correlate(now + mins(5), spam);
    assert_eq!((later.verdict, later.count()), (Verdict::Write, 2));
}

#[test]
fn a_series_is_told_apart_by_all_but_its_note() {
    let same_series = |change: &dyn Fn(&mut Event)| {
        let mut correlator = Correlator::new(Options::default());
        let now = epoch();
        let first = correlator.correlate(now, same(0)).id;
        let mut next = same(1);
        change(&mut next);
        correlator.correlate(now, next).id == first
    };
    assert!(same_series(&|_| {}));
    assert!(same_series(&|event| "another note".clone_into(&mut event.note)));
    assert!(!same_series(&|event| "other".clone_into(&mut event.action)));
    assert!(!same_series(&|event| "other".clone_into(&mut event.reason)));
    assert!(!same_series(&|event| event.kind = EventKind::Warning));
    assert!(!same_series(&|event| event.related = Some(pod("other"))));
    assert!(!same_series(&|event| event.regarding = pod("other")));
    assert!(!same_series(
        &|event| "other".clone_into(&mut event.reporting_controller)
    ));
    assert!(!same_series(
        &|event| "other".clone_into(&mut event.reporting_instance)
    ));
    assert!(!same_series(&|event| "other".clone_into(&mut event.regarding.uid)));
    assert!(!same_series(
        &|event| "spec".clone_into(&mut event.regarding.field_path)
    ));
}

/// Many related objects, or many actions, would be as many series.
#[test]
fn series_of_many_related_objects_are_combined() {
    let mut correlator = Correlator::new(Options::default());
    let now = epoch();
    let mut ids = std::collections::BTreeSet::new();
    for index in 0..100 {
        let mut event = event("my-pod", "Preempted", "made room");
        event.related = Some(pod(&format!("other-{index}")));
        let correlated = correlator.correlate(now, event);
        assert_eq!(correlated.combined, index >= 9, "{index}");
        if correlated.combined {
            assert_eq!(correlated.first.related, None);
            assert_eq!(u64::from(correlated.count()), index - 8);
        }
        ids.insert(correlated.id);
    }
    assert_eq!(ids.len(), 10);
    // The first ones go on by themselves.
    let mut again = event("my-pod", "Preempted", "made room");
    again.related = Some(pod("other-3"));
    let again = correlator.correlate(now, again);
    assert_eq!((again.combined, again.count()), (false, 2));
}

#[test]
fn a_combined_note_stays_within_the_limit() {
    let mut options = Options::default();
    options.combine_at = 1;
    let (_, event, combined) = last(
        options,
        vec![event("my-pod", "Long", &format!("x{}", "ü".repeat(511)))],
        secs(1),
    );
    assert!(combined);
    assert_eq!(event.note.len(), 1023, "{}", event.note);
    assert!(event.note.starts_with(COMBINED));
}

#[test]
fn memory_is_bounded() {
    let mut options = Options::default();
    options.memory = 100;
    let mut correlator = Correlator::new(options);
    let now = epoch();
    let mut n_evicted = 0;
    for index in 0..1000 {
        let correlated = correlator.correlate(now, event(&format!("pod-{index}"), "Started", "a note"));
        n_evicted += usize::from(correlated.evicted.is_some());
    }
    assert_eq!((correlator.n_series(), n_evicted), (100, 900));
}
