//! The manual clock and the stepped executor.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use informer_core::Clock as _;
use informer_testkit::{ManualClock, Tasks, block_on};

#[test]
fn sleepers_wake_in_the_order_of_their_times() {
    let clock = ManualClock::new();
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    let mut tasks = Tasks::new();
    for seconds in [30, 10, 20] {
        let (clock, order) = (clock.clone(), order.clone());
        let at = clock.now() + Duration::from_secs(seconds);
        tasks.spawn(async move {
            clock.sleep_until(at).await;
            order.lock().unwrap().push(seconds);
        });
    }
    tasks.run_until_stalled();
    assert_eq!(clock.n_sleepers(), 3);
    while clock.advance_to_next().is_some() {
        tasks.run_until_stalled();
    }
    assert_eq!(*order.lock().unwrap(), [10, 20, 30]);
    assert_eq!(clock.elapsed(), Duration::from_secs(30));
    assert!(tasks.is_empty());
}

#[test]
fn a_dropped_sleeper_is_forgotten() {
    let clock = ManualClock::new();
    let mut tasks = Tasks::new();
    let sleeper = clock.clone();
    let at = clock.now() + Duration::from_secs(1);
    let id = tasks.spawn(async move { sleeper.sleep_until(at).await });
    tasks.run_until_stalled();
    assert!(tasks.is_running(id));
    assert!(tasks.abort(id));
    assert_eq!(clock.n_sleepers(), 0);
    assert_eq!(clock.advance_to_next(), None);
}

#[test]
fn the_clock_never_goes_backward() {
    let clock = ManualClock::new();
    let start = clock.now();
    clock.advance(Duration::from_secs(5));
    clock.advance_to(start);
    assert_eq!(clock.elapsed(), Duration::from_secs(5));
}

#[test]
fn run_until_stops_at_the_condition_and_at_the_limit() {
    let clock = ManualClock::new();
    let ticks = Arc::new(AtomicUsize::new(0));
    let mut tasks = Tasks::new();
    let (timer, counter) = (clock.clone(), ticks.clone());
    tasks.spawn(async move {
        loop {
            timer.sleep_until(timer.now() + Duration::from_secs(1)).await;
            counter.fetch_add(1, Ordering::Relaxed);
        }
    });
    let minute = Duration::from_secs(60);
    assert!(tasks.run_until(&clock, minute, || ticks.load(Ordering::Relaxed) == 7));
    assert_eq!(clock.elapsed(), Duration::from_secs(7));
    assert!(!tasks.run_until(&clock, Duration::from_secs(3), || false));
    assert_eq!(clock.elapsed(), Duration::from_secs(10));
}

#[test]
fn block_on_waits_for_another_thread() {
    let clock = ManualClock::new();
    let at = clock.now() + Duration::from_secs(1);
    let other = clock.clone();
    let thread = std::thread::spawn(move || {
        while other.advance_to_next().is_none() {
            std::thread::yield_now();
        }
    });
    block_on(clock.sleep_until(at));
    thread.join().unwrap();
    assert_eq!(clock.now(), at);
}
