//! Grace, signals and lost leadership.

use std::{
    future::pending,
    sync::{Arc, mpsc},
};

use informer_manager::{Grace, Group, Manager, Signals, Stop, runnable};

use crate::support::{Fate, Log, Probe, Puppet, Watch, ms, secs, settle};

#[tokio::test(start_paused = true)]
async fn t04_a_stop_waits_for_what_runs() {
    let log = Log::default();
    let running = Manager::builder()
        .runnable(Probe::new("slow", Group::Others, &log).takes(secs(29)))
        .build()
        .unwrap()
        .spawn();
    running.handle().elected().await;
    let watch = Watch::start();
    assert!(running.stop().await.unwrap().is_clean());
    assert_eq!(watch.elapsed(), secs(29));
}

#[tokio::test(start_paused = true)]
async fn t04_the_grace_time_is_one_for_all_groups() {
    let log = Log::default();
    let running = Manager::builder()
        .runnable(Probe::new("quick", Group::Others, &log).takes(secs(20)))
        .runnable(Probe::new("slow", Group::LeaderElection, &log).takes(secs(20)))
        .runnable(Probe::new("server", Group::Servers, &log))
        .build()
        .unwrap()
        .spawn();
    running.handle().elected().await;
    settle().await;
    log.take();
    let watch = Watch::start();
    let error = running.stop().await.unwrap_err();
    assert_eq!(watch.elapsed(), secs(30));
    assert!(error.is_overdue());
    assert_eq!(
        error.to_string(),
        "not everything ended within the grace time: slow was cut at the work of slow; server was cut at the work \
         of server"
    );
    let asked: Vec<_> = error
        .report()
        .cut
        .iter()
        .map(|cut| (&*cut.name, cut.asked))
        .collect();
    assert_eq!(asked, [("slow", true), ("server", false)]);
    let mut log = log.take();
    log[3..].sort();
    assert_eq!(log, ["~quick", "-quick", "~slow", "xserver", "xslow"]);
}

#[tokio::test(start_paused = true)]
async fn t04_zero_grace_waits_for_nothing() {
    let log = Log::default();
    let running = Manager::builder()
        .grace(secs(0))
        .runnable(Probe::new("slow", Group::Others, &log).takes(secs(20)))
        .build()
        .unwrap()
        .spawn();
    running.handle().elected().await;
    settle().await;
    let watch = Watch::start();
    let report = running.stop().await.unwrap();
    assert_eq!(watch.elapsed(), secs(0));
    assert_eq!(report.cut.len(), 1);
    assert_eq!(log.take(), ["+slow", "xslow"]);
}

#[tokio::test(start_paused = true)]
async fn t04_grace_may_have_no_end() {
    let log = Log::default();
    let running = Manager::builder()
        .grace(Grace::Forever)
        .runnable(Probe::new("slow", Group::Others, &log).takes(secs(86_400)))
        .build()
        .unwrap()
        .spawn();
    running.handle().elected().await;
    let watch = Watch::start();
    assert!(running.stop().await.unwrap().is_clean());
    assert_eq!(watch.elapsed(), secs(86_400));
}

#[tokio::test(start_paused = true)]
async fn t04_a_stop_may_cancel_at_once() {
    let log = Log::default();
    let running = Manager::builder()
        .on_stop(Stop::Cancel)
        .runnable(Probe::new("slow", Group::Others, &log).takes(secs(20)))
        .build()
        .unwrap()
        .spawn();
    running.handle().elected().await;
    settle().await;
    let watch = Watch::start();
    assert!(running.stop().await.unwrap().is_clean());
    assert_eq!(watch.elapsed(), secs(0));
}

#[test]
fn t04_what_blocks_its_thread_is_named_and_not_awaited() {
    let (unblock, blocked) = mpsc::channel::<()>();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let error = runtime.block_on(async {
        let log = Log::default();
        let (elect, candidate) = Puppet::new(&log);
        let (tell, started) = tokio::sync::oneshot::channel();
        let running = Manager::builder()
            .grace(ms(50))
            .runnable(runnable("stone", |life| async move {
                life.stopping().await;
                tell.send(()).unwrap();
                let _ = blocked.recv();
                Ok(())
            }))
            .leader_election(candidate)
            .build()
            .unwrap()
            .spawn();
        elect.send(Fate::Win).unwrap();
        running.handle().elected().await;
        running.handle().stop();
        started.await.unwrap();
        let error = running.ended().await.unwrap_err();
        // It may still be at work: the lease is not given back.
        assert_eq!(log.take(), ["campaign"]);
        error
    });
    assert_eq!(error.report().to_string(), "stone does not end");
    drop(unblock);
}

#[tokio::test(start_paused = true)]
async fn t05_a_stop_ends_a_start_that_is_stuck() {
    let log = Log::default();
    let (_never, stuck) = Probe::new("stuck", Group::Caches, &log).held();
    let running = Manager::builder()
        .ready_within(None, informer_manager::Late::GoOn)
        .runnable(stuck)
        .runnable(Probe::new("other", Group::Others, &log))
        .build()
        .unwrap()
        .spawn();
    settle().await;
    let watch = Watch::start();
    assert!(running.stop().await.unwrap().is_clean());
    assert_eq!(watch.elapsed(), secs(0));
    assert_eq!(log.take(), ["+stuck", "~stuck", "-stuck"]);
}

#[tokio::test(start_paused = true)]
async fn t06_a_group_that_is_late_may_end_the_manager() {
    let log = Log::default();
    let (_never, stuck) = Probe::new("stuck", Group::Caches, &log).held();
    let watch = Watch::start();
    let error = Manager::builder()
        .ready_within(secs(60), informer_manager::Late::Fail)
        .runnable(stuck)
        .build()
        .unwrap()
        .run()
        .await
        .unwrap_err();
    assert_eq!(watch.elapsed(), secs(60));
    assert!(error.is_not_ready());
    assert_eq!(error.to_string(), "stuck was not ready in time");
}

#[tokio::test(start_paused = true)]
async fn t07_a_lost_lease_ends_everything_at_once() {
    let log = Log::default();
    let (elect, candidate) = Puppet::new(&log);
    let running = Manager::builder()
        .runnable(Probe::new("leader", Group::LeaderElection, &log).takes(secs(20)))
        .leader_election(candidate)
        .build()
        .unwrap()
        .spawn();
    elect.send(Fate::Win).unwrap();
    running.handle().elected().await;
    settle().await;
    let watch = Watch::start();
    elect.send(Fate::Lose).unwrap();
    let handle = running.handle().clone();
    let error = running.ended().await.unwrap_err();
    assert_eq!(watch.elapsed(), secs(0));
    assert!(error.is_leadership_lost());
    assert_eq!(error.to_string(), "the lease lost");
    assert!(!handle.is_leading());
    // Not given back: it is not ours any more.
    assert_eq!(log.take(), ["campaign", "+leader", "xleader"]);
}

#[tokio::test(start_paused = true)]
async fn t07_a_candidate_that_fails_ends_the_manager() {
    let log = Log::default();
    let (elect, candidate) = Puppet::new(&log);
    let running = Manager::builder()
        .leader_election(candidate)
        .build()
        .unwrap()
        .spawn();
    running.handle().started().await;
    elect.send(Fate::Fail).unwrap();
    let error = running.ended().await.unwrap_err();
    assert_eq!(error.to_string(), "the lease: the candidate failed");
    assert_eq!(
        std::error::Error::source(&error).unwrap().to_string(),
        "no server"
    );
}

#[tokio::test(start_paused = true)]
async fn t09_the_lease_is_given_back_when_the_leaders_work_has_ended() {
    let log = Log::default();
    let (elect, candidate) = Puppet::new(&log);
    let running = Manager::builder()
        .runnable(Probe::new("leader", Group::LeaderElection, &log).takes(secs(20)))
        .runnable(Probe::new("server", Group::Servers, &log).takes(secs(5)))
        .leader_election(candidate)
        .build()
        .unwrap()
        .spawn();
    elect.send(Fate::Win).unwrap();
    running.handle().elected().await;
    settle().await;
    running.stop().await.unwrap();
    assert_eq!(
        log.take(),
        [
            "+server", "campaign", "+leader", "~leader", "-leader", "resign", "~server", "-server"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn t11_a_second_signal_waits_for_nothing() {
    let (ring, signals) = Signals::by_hand();
    let running = Manager::builder()
        .grace(Grace::Forever)
        .signals(signals)
        .runnable(runnable("deaf", |_| pending()))
        .build()
        .unwrap()
        .spawn();
    running.handle().elected().await;
    ring.ring();
    settle().await;
    assert!(!running.is_finished());
    let watch = Watch::start();
    ring.ring();
    let error = running.ended().await.unwrap_err();
    assert_eq!(watch.elapsed(), secs(0));
    assert!(error.is_forced());
    assert_eq!(error.to_string(), "told twice to stop");
}

#[tokio::test(start_paused = true)]
async fn undone_work_is_reported() {
    let running = Manager::builder()
        .runnable(runnable("tidy", |life| async move {
            life.stopping().await;
            life.leave_undone("the cellar");
            Ok(())
        }))
        .build()
        .unwrap()
        .spawn();
    running.handle().elected().await;
    settle().await;
    let report = running.stop().await.unwrap();
    assert_eq!(report.to_string(), "tidy left the cellar");
    assert_eq!(report.undone[0].name, Arc::from("tidy"));
}
