//! CM-04: shutting down in the right order.

use std::convert::Infallible;

use informer_controller::{Action, Builder, Controller, Requests, channel};
use informer_manager::{AddError, Group, Manager, runnable};

use crate::support::{Fate, Log, Probe, Puppet, Watch, secs, settle, sleep};

/// A controller whose reconciles take two seconds.
fn lasting(log: &Log) -> (Requests<&'static str>, Builder<&'static str>) {
    let (requests, source) = channel("doorbell");
    let log = log.clone();
    let builder = Controller::builder("porter")
        .source(source)
        .reconcile(move |door: &'static str, _| {
            let log = log.clone();
            async move {
                log.say(format!("+{door}"));
                sleep(secs(2)).await;
                log.say(format!("-{door}"));
                Ok::<_, Infallible>(Action::Done)
            }
        });
    (requests, builder)
}

/// CM-04, the leader: no new work, then running reconciles end, and only then what they read and the lease that they need.
#[tokio::test(start_paused = true)]
async fn cm_04_reconciles_end_before_their_cache_and_their_lease() {
    let log = Log::default();
    let (requests, builder) = lasting(&log);
    let (elect, candidate) = Puppet::new(&log);
    let running = Manager::builder()
        .runnable(Probe::new("cache", Group::Caches, &log))
        .controller(&builder.build().unwrap())
        .leader_election(candidate)
        .build()
        .unwrap()
        .spawn();
    let handle = running.handle().clone();
    elect.send(Fate::Win).unwrap();
    handle.elected().await;
    requests.send("front").await.unwrap();
    requests.send("back").await.unwrap();
    sleep(secs(1)).await;
    let watch = Watch::start();
    handle.stop();
    settle().await;
    let late = handle.add(Probe::new("late", Group::Others, &log));
    assert_eq!(late, Err(AddError::Stopping("late".into())));
    let report = running.ended().await.unwrap();
    assert_eq!(watch.elapsed(), secs(1), "no longer than the reconcile that ran");
    assert_eq!(report.to_string(), "porter left \"back\"");
    let mut ends = log.take();
    assert_eq!(ends[..4], ["+cache", "campaign", "+front", "-front"]);
    // The lease and the caches, which need no lease, end together.
    ends[4..].sort();
    assert_eq!(ends[4..], ["-cache", "resign", "~cache"]);
}

/// CM-04, one that does not lead, with something that does not hear: nothing of the leader's runs, the grace time is kept, and what was cut
/// is named. To run a manager twice cannot be written: `run` takes it.
#[tokio::test(start_paused = true)]
async fn cm_04_one_that_does_not_lead_runs_nothing_and_names_what_it_cut() {
    let log = Log::default();
    let (requests, builder) = lasting(&log);
    let (_elect, candidate) = Puppet::new(&log);
    let running = Manager::builder()
        .grace(secs(10))
        .runnable(runnable("deaf", |_| std::future::pending()).group(Group::Others))
        .controller(&builder.build().unwrap())
        .leader_election(candidate)
        .build()
        .unwrap()
        .spawn();
    running.handle().started().await;
    requests.send("front").await.unwrap();
    sleep(secs(60)).await;
    let watch = Watch::start();
    let error = running.stop().await.unwrap_err();
    assert_eq!(watch.elapsed(), secs(10));
    assert!(error.is_overdue());
    let cut: Vec<_> = error
        .report()
        .cut
        .iter()
        .map(|cut| cut.name.to_string())
        .collect();
    assert_eq!(cut, ["deaf"]);
    sleep(secs(60)).await;
    assert_eq!(log.take(), ["campaign", "resign"]);
}
