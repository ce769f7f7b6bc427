//! The order of start and stop, and what is added and removed meanwhile.

use informer_manager::{AddError, Group, Manager, runnable};

use crate::support::{Fate, Log, Probe, Puppet, secs, settle};

#[tokio::test(start_paused = true)]
async fn t01_groups_start_in_order_and_stop_in_theirs() {
    let log = Log::default();
    let (cache_ready, cache) = Probe::new("cache", Group::Caches, &log).held();
    let (elect, candidate) = Puppet::new(&log);
    let running = Manager::builder()
        .runnable(Probe::new("leader", Group::LeaderElection, &log))
        .runnable(Probe::new("warm", Group::WarmUp, &log))
        .runnable(Probe::new("other", Group::Others, &log))
        .runnable(cache)
        .runnable(Probe::new("hook", Group::Webhooks, &log))
        .runnable(Probe::new("server", Group::Servers, &log))
        .runnable(Probe::new("recorder", Group::Recorders, &log))
        .leader_election(candidate)
        .build()
        .unwrap()
        .spawn();

    settle().await;
    assert_eq!(log.take(), ["+recorder", "+server", "+hook", "+cache"]);
    cache_ready.send_replace(true);
    running.handle().started().await;
    settle().await;
    assert_eq!(log.take(), ["+other", "+warm", "campaign"]);
    assert!(!running.handle().is_leading());
    elect.send(Fate::Win).unwrap();
    running.handle().elected().await;
    settle().await;
    assert_eq!(log.take(), ["+leader"]);

    let report = running.stop().await.unwrap();
    assert!(report.is_clean(), "{report}");
    // The leader and what prepared for it end together, in no order of their own; so do the candidate and the caches.
    let mut stopped = log.take();
    stopped[2..6].sort();
    stopped[6..9].sort();
    assert_eq!(
        stopped,
        [
            "~other",
            "-other",
            "-leader",
            "-warm",
            "~leader",
            "~warm",
            "-cache",
            "resign",
            "~cache",
            "~hook",
            "-hook",
            "~server",
            "-server",
            "~recorder",
            "-recorder"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn t02_the_first_error_stops_all_and_is_returned() {
    let log = Log::default();
    let (break_it, probe) = Probe::new("broken", Group::Others, &log).failing();
    let running = Manager::builder()
        .runnable(probe)
        .runnable(Probe::new("slow", Group::LeaderElection, &log).takes(secs(5)))
        .build()
        .unwrap()
        .spawn();
    running.handle().elected().await;
    settle().await;
    break_it.send_replace(true);

    let error = running.ended().await.unwrap_err();
    assert!(error.is_failure());
    assert_eq!(error.runnable(), Some("broken"));
    assert_eq!(error.to_string(), "broken failed");
    assert_eq!(
        std::error::Error::source(&error).unwrap().to_string(),
        "broken broke"
    );
    assert!(
        error.report().is_clean(),
        "what ran could finish: {}",
        error.report()
    );
    assert_eq!(log.take(), ["+broken", "+slow", "!broken", "~slow", "-slow"]);
}

#[tokio::test(start_paused = true)]
async fn t02_later_errors_are_reported() {
    let running = Manager::builder()
        .runnable(runnable("first", |_| async { Err("one".into()) }).group(Group::Others))
        .runnable(
            runnable("second", |life| async move {
                life.stopping().await;
                Err("two".into())
            })
            .group(Group::Others),
        )
        .build()
        .unwrap()
        .spawn();
    let error = running.ended().await.unwrap_err();
    assert_eq!(error.runnable(), Some("first"));
    assert_eq!(error.report().to_string(), "second: two");
}

#[tokio::test(start_paused = true)]
async fn t02_a_panic_is_an_error() {
    let manager = Manager::builder()
        .runnable(runnable("wild", |_| async { panic!("no idea") }))
        .build()
        .unwrap();
    let error = manager.run().await.unwrap_err();
    assert_eq!(error.runnable(), Some("wild"));
    assert_eq!(
        std::error::Error::source(&error).unwrap().to_string(),
        "panicked: no idea"
    );
}

#[tokio::test(start_paused = true)]
async fn t03_what_is_added_while_it_runs_starts_at_once() {
    let log = Log::default();
    let manager = Manager::builder().build().unwrap();
    let handle = manager.handle();
    let running = manager.spawn();
    handle.elected().await;
    handle.add(Probe::new("late", Group::Caches, &log)).unwrap();
    settle().await;
    assert_eq!(log.take(), ["+late"]);
    let twice = handle.add(Probe::new("late", Group::Others, &log));
    assert_eq!(twice, Err(AddError::Duplicate("late".into())));

    running.stop().await.unwrap();
    assert_eq!(log.take(), ["~late", "-late"]);
    let too_late = handle.add(Probe::new("too late", Group::Others, &log));
    assert_eq!(too_late, Err(AddError::Stopping("too late".into())));
}

#[tokio::test(start_paused = true)]
async fn t03_what_is_removed_ends_alone() {
    let log = Log::default();
    let running = Manager::builder()
        .grace(secs(10))
        .runnable(Probe::new("stays", Group::Others, &log))
        .runnable(Probe::new("goes", Group::Others, &log).takes(secs(3)))
        .runnable(Probe::new("lingers", Group::Others, &log).takes(secs(60)))
        .build()
        .unwrap()
        .spawn();
    let handle = running.handle().clone();
    handle.elected().await;
    settle().await;
    log.take();

    assert!(handle.remove("goes").await);
    assert_eq!(log.take(), ["~goes", "-goes"]);
    // Within the grace time, then without mercy.
    assert!(handle.remove("lingers").await);
    assert_eq!(log.take(), ["~lingers", "xlingers"]);
    assert!(!handle.remove("goes").await, "it is gone");
    assert_eq!(handle.names(), [("stays".into(), Group::Others)]);
    // The name is free again.
    handle.add(Probe::new("goes", Group::Others, &log)).unwrap();
    assert!(running.stop().await.unwrap().is_clean());
}

#[tokio::test(start_paused = true)]
async fn t08_a_replica_that_does_not_lead_never_starts_the_leader_group() {
    let log = Log::default();
    let (elect, candidate) = Puppet::new(&log);
    let running = Manager::builder()
        .runnable(Probe::new("leader", Group::LeaderElection, &log))
        .runnable(Probe::new("other", Group::Others, &log).takes(secs(2)))
        .leader_election(candidate)
        .build()
        .unwrap()
        .spawn();
    running.handle().started().await;
    settle().await;
    running.handle().stop();
    settle().await;
    // It wins while it stops.
    elect.send(Fate::Win).unwrap();
    assert!(running.ended().await.unwrap().is_clean());
    assert_eq!(log.take(), ["+other", "campaign", "~other", "-other", "resign"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_before_the_run_lets_nothing_start() {
    let log = Log::default();
    let manager = Manager::builder()
        .runnable(Probe::new("other", Group::Others, &log))
        .build()
        .unwrap();
    manager.handle().stop();
    assert!(manager.run().await.unwrap().is_clean());
    assert_eq!(log.take(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_run_drops_what_runs() {
    let log = Log::default();
    let manager = Manager::builder()
        .runnable(Probe::new("other", Group::Others, &log))
        .build()
        .unwrap();
    let handle = manager.handle();
    {
        let mut run = std::pin::pin!(manager.run());
        tokio::select! {
            _ = &mut run => panic!("nobody told it to stop"),
            () = async { handle.elected().await; settle().await } => {}
        }
    }
    settle().await;
    assert_eq!(log.take(), ["+other", "xother"]);
    assert!(handle.add(Probe::new("more", Group::Others, &log)).is_err());
}
