//! The rules of client-go's periods (`TestListenerResyncPeriods`, `TestResyncCheckPeriod`), without a clock.

use super::*;

const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

#[expect(clippy::disallowed_methods, reason = "an `Instant` can be had no other way")]
fn start() -> Instant {
    Instant::now()
}

fn due(resyncs: &Resyncs) -> Vec<u64> {
    (1..=5).filter(|handler| resyncs.is_due(*handler)).collect()
}

#[test]
fn a_check_marks_who_is_due_and_nobody_else() {
    let (t0, mut resyncs) = (start(), Resyncs::new(Some(secs(1))));
    resyncs.add(t0, 1, Resync::Never);
    resyncs.add(t0, 2, Resync::Every(secs(2)));
    resyncs.add(t0, 3, Resync::Every(secs(3)));
    assert_eq!(resyncs.poll_timeout(), None, "not before the first list");
    resyncs.start(t0);
    let mut seen = Vec::new();
    for n in 1..=6 {
        assert_eq!(resyncs.poll_timeout(), Some(t0 + secs(n)));
        let any = resyncs.handle_timeout(t0 + secs(n));
        assert_eq!(any, !due(&resyncs).is_empty());
        seen.push(due(&resyncs));
        resyncs.handle_progress(true, || false);
    }
    assert_eq!(seen, [vec![], vec![2], vec![3], vec![2], vec![], vec![2, 3]]);
    assert!(!resyncs.handle_timeout(t0 + secs(6)), "once is enough");
    resyncs.remove(2);
    assert_eq!(due(&resyncs), [3]);
}

#[test]
fn before_the_start_the_shortest_request_is_the_check_and_after_it_requests_are_raised() {
    let (t0, mut resyncs) = (start(), Resyncs::new(Some(secs(60))));
    assert_eq!(resyncs.add(t0, 1, Resync::Inherit), None);
    assert_eq!(resyncs.add(t0, 2, Resync::Every(secs(5))), None);
    assert_eq!(
        resyncs.add(t0, 3, Resync::Every(Duration::from_millis(10))),
        Some(Adjusted::Raised(MINIMUM))
    );
    resyncs.start(t0);
    assert_eq!(resyncs.poll_timeout(), Some(t0 + MINIMUM));
    resyncs.remove(3);
    assert_eq!(
        resyncs.add(t0, 4, Resync::Every(Duration::from_millis(10))),
        Some(Adjusted::Raised(MINIMUM))
    );
    assert_eq!(resyncs.add(t0, 5, Resync::Every(secs(90))), None);
    resyncs.handle_timeout(t0 + secs(5));
    assert_eq!(due(&resyncs), [2, 4]);
}

#[test]
fn without_a_period_of_its_own_an_informer_never_resyncs() {
    for period in [None, Some(Duration::ZERO)] {
        let (t0, mut resyncs) = (start(), Resyncs::new(period));
        assert_eq!(
            resyncs.add(t0, 1, Resync::Every(secs(5))),
            Some(Adjusted::Disabled)
        );
        assert_eq!(resyncs.add(t0, 2, Resync::Inherit), None);
        resyncs.start(t0);
        assert_eq!(resyncs.poll_timeout(), None);
        assert!(!resyncs.handle_timeout(t0 + secs(60)));
    }
}

#[test]
fn after_a_long_pause_one_resync_is_enough() {
    let (t0, mut resyncs) = (start(), Resyncs::new(Some(secs(1))));
    resyncs.add(t0, 1, Resync::Inherit);
    resyncs.start(t0);
    assert!(resyncs.handle_timeout(t0 + secs(100)));
    assert_eq!(resyncs.poll_timeout(), Some(t0 + secs(101)));
}

#[test]
fn one_resync_does_not_pile_up_on_another() {
    let (now, mut resyncs) = (start(), Resyncs::new(Some(secs(10))));
    resyncs.add(now, 1, Resync::Inherit);
    resyncs.add(now, 2, Resync::Every(secs(20)));
    resyncs.start(now);
    assert!(resyncs.handle_timeout(now + secs(10)));
    for later in [20, 30] {
        assert!(
            !resyncs.handle_timeout(now + secs(later)),
            "the first was not told yet"
        );
        assert_eq!(due(&resyncs), [1]);
        assert_eq!(resyncs.poll_timeout(), Some(now + secs(later + 10)));
    }
    resyncs.handle_progress(true, || false);
    assert!(resyncs.handle_timeout(now + secs(40)));
    assert_eq!(due(&resyncs), [1, 2]);
}

#[test]
fn a_resync_that_the_queue_spreads_ends_when_nothing_waits() {
    let (now, mut resyncs) = (start(), Resyncs::new(Some(secs(10))));
    resyncs.add(now, 1, Resync::Inherit);
    resyncs.start(now);
    assert!(resyncs.handle_timeout(now + secs(10)));
    resyncs.handle_progress(false, || false);
    assert!(!resyncs.handle_timeout(now + secs(20)), "some of it waits");
    resyncs.handle_progress(false, || true);
    assert!(resyncs.handle_timeout(now + secs(30)));
}
