//! A real elector as the manager's candidate, over a lock in memory.

use std::{sync::Arc, time::Duration};

use informer_events::{Broadcaster, MemorySink};
use informer_leaderelection::{BoxLock, Elector, MemoryLock, Mishap, Options};
use informer_manager::{Group, Manager, Running, record_election};

use crate::support::{Log, Probe, Watch, get, secs, settle, sleep};

fn candidate(lock: &Arc<MemoryLock>, identity: &str) -> Elector<BoxLock> {
    let mut options = Options::new(identity);
    options.release_on_cancel = true;
    Elector::new(BoxLock::new(lock.clone()), options).unwrap().seed(7)
}

fn replica(lock: &Arc<MemoryLock>, identity: &'static str, log: &Log) -> Running {
    Manager::builder()
        .runnable(Probe::new(identity, Group::LeaderElection, log).takes(secs(3)))
        .leader_election(candidate(lock, identity))
        .build()
        .unwrap()
        .spawn()
}

#[tokio::test(start_paused = true)]
async fn t09_a_polite_stop_hands_over_within_a_retry() {
    let (lock, log) = (Arc::new(MemoryLock::new()), Log::default());
    let one = replica(&lock, "one", &log);
    one.handle().elected().await;
    let two = replica(&lock, "two", &log);
    sleep(secs(30)).await;
    assert!(!two.handle().is_leading());

    assert!(one.stop().await.unwrap().is_clean());
    assert_eq!(
        log.take(),
        ["+one", "~one", "-one"],
        "the work ended before the lease was given back"
    );
    let watch = Watch::start();
    two.handle().elected().await;
    assert!(
        watch.elapsed() < Duration::from_millis(4_400),
        "{:?}",
        watch.elapsed()
    );
    two.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn t07_a_lease_that_cannot_be_renewed_ends_the_manager() {
    let (lock, log) = (Arc::new(MemoryLock::new()), Log::default());
    let one = replica(&lock, "one", &log);
    one.handle().elected().await;
    settle().await;
    lock.always(Some(Mishap::Fail));
    let error = one.ended().await.unwrap_err();
    assert!(error.is_leadership_lost(), "{error}");
    // Dropped, not asked.
    assert_eq!(log.take(), ["+one", "xone"]);
}

#[tokio::test]
async fn a_candidate_is_checked() {
    let lock = Arc::new(MemoryLock::new());
    let manager = Manager::builder()
        .health_addr("127.0.0.1:0".parse().unwrap())
        .leader_election(candidate(&lock, "one"))
        .build()
        .unwrap();
    let address = manager.health_addr().unwrap();
    let running = manager.spawn();
    running.handle().elected().await;
    let text = "[+]leaderElection ok\nhealthz check passed\n";
    assert_eq!(get(address, "/healthz?verbose").await, (200, text.into()));
    let text = "[+]leaderElection ok\n[+]manager ok\nhealthz check passed\n";
    assert_eq!(get(address, "/readyz?verbose").await, (200, text.into()));
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_term_begins_and_ends_with_an_event_on_the_lease() {
    let (lock, sink) = (Arc::new(MemoryLock::new()), MemorySink::new());
    let broadcaster = Broadcaster::new(sink.clone(), Default::default());
    let elector = record_election(
        candidate(&lock, "one"),
        broadcaster.recorder("example.com/websites"),
        "default",
        "websites",
    );
    let running = Manager::builder()
        .runnable(broadcaster)
        .leader_election(elector)
        .build()
        .unwrap()
        .spawn();
    running.handle().elected().await;
    sleep(secs(1)).await;
    assert!(running.stop().await.unwrap().is_clean());

    let mut events = sink.events();
    events.sort_by_key(|event| event.event_time);
    let told: Vec<_> = events
        .iter()
        .map(|event| {
            (
                &*event.regarding.kind,
                &*event.regarding.name,
                &*event.reason,
                &*event.note,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("Lease", "websites", "LeaderElection", "one became leader"),
            ("Lease", "websites", "LeaderElection", "one stopped leading"),
        ]
    );
}
