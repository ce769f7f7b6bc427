//! The sequence of delays, and when it starts over.

use std::time::{Duration, Instant};

use informer_backoff::{Backoff, Options};

#[expect(clippy::disallowed_methods, reason = "any instant will do to count from")]
fn epoch() -> Instant {
    Instant::now()
}

fn millis(backoff: &mut Backoff, now: Instant, n: usize) -> Vec<u128> {
    (0..n).map(|_| backoff.next(now, 0).as_millis()).collect()
}

/// client-go `reflector.go`: `defaultBackoffInit`, `defaultBackoffFactor`, `defaultBackoffMax`.
#[test]
fn doubles_from_800_ms_to_30_s() {
    let mut backoff = Backoff::new(Options::default());
    assert_eq!(
        millis(&mut backoff, epoch(), 9),
        [800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000, 30_000]
    );
    assert_eq!(backoff.attempts(), 9);
}

#[test]
fn jitter_adds_up_to_the_delay_itself() {
    let mut backoff = Backoff::new(Options::default());
    let delay = backoff.next(epoch(), u64::MAX);
    assert!(
        delay > Duration::from_millis(1599) && delay <= Duration::from_millis(1600),
        "{delay:?}"
    );
}

/// client-go starts over every two minutes although nothing works in between.
#[test]
fn does_not_start_over_because_time_passed() {
    let start = epoch();
    let mut backoff = Backoff::new(Options::default());
    let mut now = start;
    let mut delays = Vec::new();
    while now < start + Duration::from_secs(600) {
        let delay = backoff.next(now, 0);
        delays.push(delay);
        now += delay;
    }
    assert!(delays.is_sorted(), "{delays:?}");
    assert!(delays.len() <= 25, "{} attempts in ten minutes", delays.len());
}

#[test]
fn starts_over_after_two_minutes_of_health() {
    let start = epoch();
    let mut backoff = Backoff::new(Options::default());
    millis(&mut backoff, start, 4);
    backoff.on_healthy(start);
    assert_eq!(
        millis(&mut backoff, start + Duration::from_secs(119), 1),
        [12_800]
    );
    backoff.on_healthy(start);
    assert_eq!(
        millis(&mut backoff, start + Duration::from_secs(120), 2),
        [800, 1600]
    );
}

#[test]
fn health_counts_from_its_beginning() {
    let start = epoch();
    let mut backoff = Backoff::new(Options::default());
    millis(&mut backoff, start, 4);
    for second in [0, 60, 119] {
        backoff.on_healthy(start + Duration::from_secs(second));
    }
    assert_eq!(millis(&mut backoff, start + Duration::from_secs(121), 1), [800]);
}

#[test]
fn a_failure_in_between_ends_the_health() {
    let start = epoch();
    let mut backoff = Backoff::new(Options::default());
    millis(&mut backoff, start, 3);
    backoff.on_healthy(start);
    backoff.on_failure(start + Duration::from_secs(60));
    backoff.on_healthy(start + Duration::from_secs(61));
    assert_eq!(millis(&mut backoff, start + Duration::from_secs(130), 1), [6400]);
}

#[test]
fn options_without_sense_do_no_harm() {
    for factor in [f64::NAN, f64::INFINITY, -1.0, 0.0, f64::MAX] {
        let mut options = Options::default();
        options.factor = factor;
        options.jitter = factor;
        options.cap = Duration::MAX;
        let mut backoff = Backoff::new(options);
        for _ in 0..100 {
            assert!(backoff.next(epoch(), u64::MAX) >= Duration::from_millis(800));
        }
    }
}
