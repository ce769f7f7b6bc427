//! CF-05: a resync must not travel back, nor raise the dead.

use std::time::Duration;

use informer_backoff::SplitMix64;
use informer_core::{Change, ObjectKey};
use informer_sharedinformer::{BacklogPolicy, HandlerOptions, QueueKind, Registration, SharedInformer};

use crate::support::{BOTH, Informer, Log, Pod, Tap, assert_gapless, pass, pod};

/// An informer that resyncs each second, a handler that resyncs, and one that holds the informer up for two seconds at each change, so that
/// updates, deletes and resyncs wait in the queue together.
fn held_up(queue: QueueKind<ObjectKey, Pod>) -> (Tap, Informer, Log, Registration) {
    let tap = Tap::default();
    let informer = SharedInformer::fed_by(tap.clone())
        .queue(queue)
        .resync(Duration::from_secs(1))
        .build()
        .unwrap();
    let log = Log::default();
    informer
        .add_handler(log.handler(), HandlerOptions::default())
        .unwrap();
    let brake = |_: Change<_, _>| pass(Duration::from_millis(2_100));
    let options = HandlerOptions::default()
        .resync(informer_sharedinformer::Resync::Never)
        .backlog(BacklogPolicy::Block { limit: 1 });
    let brake = informer.add_async_handler(brake, options).unwrap();
    (tap, informer, log, brake)
}

#[tokio::test(start_paused = true)]
async fn cf_05_a_resync_behind_an_update_repeats_the_update() {
    for queue in BOTH {
        let (tap, informer, log, _) = held_up(queue());
        let running = informer.spawn().unwrap();
        tap.list([pod("ns/a", 1), pod("ns/b", 2)], 2);
        // Two calls of the brake: the queue is not read, and the resync of the first second waits in it.
        tap.modify(pod("ns/a", 3));
        pass(Duration::from_millis(1_500)).await;
        assert!(informer.status().queued > 0);
        pass(Duration::from_secs(60)).await;
        let versions: Vec<u64> = log
            .changes()
            .iter()
            .filter(|change| change.key().name() == "a")
            .map(|change| change.entry().object.version)
            .collect();
        assert!(versions.is_sorted(), "{versions:?}");
        assert_gapless(&log.changes());
        assert!(log.lines().iter().any(|line| line == r#"Resynced "ns/a"@3"#));
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn cf_05_a_resync_behind_a_delete_raises_nothing() {
    for queue in BOTH {
        let (tap, informer, log, _) = held_up(queue());
        let running = informer.spawn().unwrap();
        tap.list([pod("ns/a", 1), pod("ns/b", 2)], 2);
        tap.delete(pod("ns/a", 3));
        pass(Duration::from_millis(1_500)).await;
        assert!(informer.status().queued > 0);
        pass(Duration::from_secs(60)).await;
        let lines = log.lines();
        let end = lines
            .iter()
            .position(|line| line.starts_with(r#"Removed "ns/a""#));
        let after = &lines[end.expect("it was removed")..];
        assert!(
            !after.iter().skip(1).any(|line| line.contains("ns/a")),
            "{after:?}"
        );
        assert!(after.iter().any(|line| line == r#"Resynced "ns/b"@2"#));
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn cf_05_a_thousand_changes_a_second_and_a_resync_each() {
    for (seed, queue) in (1..).zip(BOTH) {
        let tap = Tap::default();
        let informer = SharedInformer::fed_by(tap.clone())
            .queue(queue())
            .resync(Duration::from_secs(1))
            .build()
            .unwrap();
        let (log, mut random) = (Log::default(), SplitMix64::new(seed));
        informer
            .add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        tap.list((0..20).map(|n| pod(&format!("ns/{n}"), n + 1)), 20);
        let mut live = [true; 20];
        for at in 21..10_021_u64 {
            let which = random.next_u64() % 20;
            let (name, live) = (format!("ns/{which}"), &mut live[usize::try_from(which).unwrap()]);
            let ends = *live && random.next_u64() % 4 == 0;
            match (*live, ends) {
                (true, true) => tap.delete(pod(&name, at)),
                (true, false) => tap.modify(pod(&name, at)),
                (false, _) => tap.add(pod(&name, at)),
            }
            *live = !ends;
            pass(Duration::from_millis(1)).await;
        }
        pass(Duration::from_secs(2)).await;
        assert_gapless(&log.changes());
        let resynced = log
            .lines()
            .iter()
            .filter(|line| line.starts_with("Resynced"))
            .count();
        assert!(resynced > 50, "{resynced}");
        running.stop().await;
    }
}
