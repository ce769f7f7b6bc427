//! Controllers and informers that a manager runs.

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::Poll,
};

use informer_controller::{Action, Builder, Controller, ForObject, Phase, Requests, channel};
use informer_core::{Decoded, FailureClass, Identity, ObjectKey, SourceError, Stamp, Watched};
use informer_manager::{Group, Late, Manager, Stop};
use informer_reflector::{ListWatch, feed};
use informer_sharedinformer::SharedInformer;

use crate::support::{Fate, Log, Puppet, Watch, get, secs, settle, sleep};

/// A controller whose reconciles take so many seconds.
fn lasting(log: &Log, seconds: u64) -> (Requests<&'static str>, Builder<&'static str>) {
    let (requests, source) = channel("doorbell");
    let log = log.clone();
    let builder = Controller::builder("porter")
        .source(source)
        .reconcile(move |door: &'static str, _| {
            let log = log.clone();
            async move {
                log.say(format!("+{door}"));
                sleep(secs(seconds)).await;
                log.say(format!("-{door}"));
                Ok::<_, Infallible>(Action::Done)
            }
        });
    (requests, builder)
}

#[tokio::test(start_paused = true)]
async fn t04_reconciles_that_run_may_finish() {
    let log = Log::default();
    let (requests, builder) = lasting(&log, 29);
    // The manager's grace time stands in for the controller's.
    let controller = builder.grace(secs(1)).build().unwrap();
    let running = Manager::builder()
        .controller(&controller)
        .build()
        .unwrap()
        .spawn();
    requests.send("front").await.unwrap();
    requests.send("back").await.unwrap();
    running.handle().elected().await;
    settle().await;
    let watch = Watch::start();
    let report = running.stop().await.unwrap();
    assert_eq!(watch.elapsed().as_secs(), 29);
    assert_eq!(log.take(), ["+front", "-front"]);
    assert!(report.is_clean());
    assert_eq!(report.to_string(), "porter left \"back\"");
}

#[tokio::test(start_paused = true)]
async fn t04_reconciles_that_take_too_long_are_cut_and_named() {
    let log = Log::default();
    let (requests, builder) = lasting(&log, 3600);
    let running = Manager::builder()
        .controller(&builder.concurrency(2).build().unwrap())
        .build()
        .unwrap()
        .spawn();
    requests.send("front").await.unwrap();
    requests.send("back").await.unwrap();
    running.handle().elected().await;
    settle().await;
    let watch = Watch::start();
    let error = running.stop().await.unwrap_err();
    assert_eq!(watch.elapsed().as_secs(), 30);
    assert!(error.is_overdue());
    assert_eq!(error.report().cut[0].busy, ["\"front\"", "\"back\""]);
    sleep(secs(7200)).await;
    assert_eq!(log.take(), ["+front", "+back"]);
}

#[tokio::test(start_paused = true)]
async fn t04_a_stop_may_cancel_reconciles_as_upstream_does() {
    let log = Log::default();
    let (requests, builder) = lasting(&log, 3600);
    let running = Manager::builder()
        .on_stop(Stop::Cancel)
        .controller(&builder.build().unwrap())
        .build()
        .unwrap()
        .spawn();
    requests.send("front").await.unwrap();
    running.handle().elected().await;
    settle().await;
    let watch = Watch::start();
    assert!(running.stop().await.unwrap().is_clean());
    assert_eq!(watch.elapsed().as_secs(), 0);
    assert_eq!(log.take(), ["+front"]);
}

#[tokio::test(start_paused = true)]
async fn controllers_choose_their_group() {
    let log = Log::default();
    let group = |builder: Builder<&'static str>| {
        let controller = builder.build().unwrap();
        informer_manager::Runnable::group(&controller)
    };
    assert_eq!(group(lasting(&log, 1).1), Group::LeaderElection);
    assert_eq!(
        group(lasting(&log, 1).1.needs_leader_election(false)),
        Group::Others
    );
    assert_eq!(group(lasting(&log, 1).1.warm_up(true)), Group::WarmUp);
}

#[tokio::test(start_paused = true)]
async fn a_controller_warms_up_and_waits_for_leadership() {
    let log = Log::default();
    let (requests, builder) = lasting(&log, 1);
    let controller = builder.warm_up(true).build().unwrap();
    let (elect, candidate) = Puppet::new(&log);
    let running = Manager::builder()
        .controller(&controller)
        .leader_election(candidate)
        .build()
        .unwrap()
        .spawn();
    requests.send("front").await.unwrap();
    running.handle().started().await;
    sleep(secs(60)).await;
    assert_eq!(controller.queue().len(), 1, "its sources run");
    assert_eq!(log.take(), ["campaign"]);
    elect.send(Fate::Win).unwrap();
    sleep(secs(2)).await;
    assert_eq!(log.take(), ["+front", "-front"]);
    assert!(running.stop().await.unwrap().is_clean());
}

/// An informer of one pod, or of nothing as long as it is forbidden.
fn pods(name: &str, forbidden: bool) -> (Arc<AtomicBool>, SharedInformer<ObjectKey, ()>) {
    let forbidden = Arc::new(AtomicBool::new(forbidden));
    let asked = forbidden.clone();
    let source = ListWatch::new(
        move |_| {
            let refused = asked.load(SeqCst);
            async move {
                if refused {
                    return Err(SourceError::new(FailureClass::Forbidden, "you may not list pods"));
                }
                let identity = Identity {
                    namespace: Some("default".into()),
                    name: "web".into(),
                    stamp: Stamp::new("7", "uid-1"),
                };
                Ok(feed::list([Decoded { identity, object: () }], "7"))
            }
        },
        |request| async move {
            if request.initial_events {
                return Err(SourceError::new(FailureClass::Unsupported, "no streaming lists"));
            }
            Ok(feed::from_poll_fn(
                |_| -> Poll<Option<Result<Watched<()>, SourceError>>> { Poll::Pending },
            ))
        },
    );
    let informer = SharedInformer::builder(source).name(name).build().unwrap();
    (forbidden, informer)
}

fn reconciling(log: &Log, informer: &SharedInformer<ObjectKey, ()>) -> Builder<ObjectKey> {
    let log = log.clone();
    Controller::builder(informer.name())
        .watches(informer, ForObject)
        .reconcile(move |key: ObjectKey, _| {
            log.say(key.to_string());
            async { Ok::<_, Infallible>(Action::Done) }
        })
}

#[tokio::test(start_paused = true)]
async fn t06_a_kind_that_cannot_sync_is_named_and_stops_nobody_else() {
    let log = Log::default();
    let (_, fine) = pods("pods", false);
    let (forbidden, broken) = pods("secrets", true);
    let told: Arc<Mutex<Vec<String>>> = Arc::default();
    let hook = told.clone();
    let controllers = [
        reconciling(&log, &fine).build().unwrap(),
        reconciling(&log, &broken)
            .on_source_error(move |error| hook.lock().unwrap().push(error.to_string()))
            .build()
            .unwrap(),
    ];
    let running = Manager::builder()
        .informer(&fine)
        .informer(&broken)
        .controller(&controllers[0])
        .controller(&controllers[1])
        .build()
        .unwrap()
        .spawn();
    let handle = running.handle().clone();
    handle.elected().await;
    // Longer than controllers wait for their sources by default, twice.
    sleep(secs(300)).await;
    assert_eq!(log.take(), ["default/web"], "the other kind is reconciled");
    let status = controllers[1].status();
    assert_eq!((status.phase, status.overdue), (Phase::Syncing, true));
    assert_eq!(status.waiting_for.len(), 1);
    let trouble = status.sources[0].trouble.clone().unwrap();
    assert!(trouble.contains("you may not list pods"), "{trouble}");
    let told = told.lock().unwrap().clone();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].starts_with("controller \"secrets\": secrets is not in sync after 120s: ")
            && told[0].contains("you may not list pods"),
        "{told:?}"
    );

    let text = |reply: informer_manager::Reply| (reply.status, String::from_utf8(reply.body).unwrap());
    assert_eq!(
        text(handle.readyz().answer("")),
        (
            500,
            "[+]informer/pods ok\n[-]informer/secrets failed: reason withheld\n[+]manager ok\nhealthz check failed\n"
                .into()
        )
    );
    let (status, why) = text(handle.readyz().answer_one("informer/secrets"));
    assert_eq!(status, 500);
    assert!(
        why.contains("not in sync: ") && why.contains("you may not list pods"),
        "{why}"
    );

    forbidden.store(false, SeqCst);
    sleep(secs(60)).await;
    assert_eq!(text(handle.readyz().answer("")), (200, "ok".into()));
    assert_eq!(log.take(), ["default/web"]);
    assert!(running.stop().await.unwrap().is_clean());
}

/// As upstream: the controller ends when its time is over, and the manager with it.
#[tokio::test(start_paused = true)]
async fn cm_01_a_controller_may_end_the_manager_and_names_kind_and_cause() {
    let log = Log::default();
    let (_, fine) = pods("pods", false);
    let (_, broken) = pods("secrets", true);
    let running = Manager::builder()
        .informer(&fine)
        .informer(&broken)
        .controller(&reconciling(&log, &fine).build().unwrap())
        .controller(&reconciling(&log, &broken).late(Late::Fail).build().unwrap())
        .build()
        .unwrap()
        .spawn();
    let watch = Watch::start();
    let error = running.ended().await.unwrap_err();
    assert_eq!(watch.elapsed().as_secs(), 120);
    assert_eq!(error.runnable(), Some("secrets"));
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(
        cause.contains("not in sync: secrets (") && cause.contains("you may not list pods"),
        "{cause}"
    );
    assert_eq!(log.take(), ["default/web"]);
}

#[tokio::test(start_paused = true)]
async fn t05_a_stop_while_a_kind_does_not_sync_returns() {
    let (_, broken) = pods("secrets", true);
    let running = Manager::builder()
        .ready_within(None, Late::GoOn)
        .informer(&broken)
        .build()
        .unwrap()
        .spawn();
    sleep(secs(600)).await;
    let watch = Watch::start();
    assert!(running.stop().await.unwrap().is_clean());
    assert!(watch.elapsed().as_millis() <= 200);
}

#[tokio::test]
async fn informers_are_shown_for_debugging() {
    let (_, fine) = pods("pods", false);
    let (_, broken) = pods("secrets", true);
    let manager = Manager::builder()
        .health_addr("127.0.0.1:0".parse().unwrap())
        .informer(&fine)
        .observe("far", broken)
        .build()
        .unwrap();
    let address = manager.health_addr().unwrap();
    let running = manager.spawn();
    running.handle().started().await;
    let (status, text) = get(address, "/debug/informers").await;
    assert_eq!(status, 200);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let informers = json["informers"].as_array().unwrap();
    assert_eq!(informers[0]["name"], "pods");
    assert_eq!(informers[0]["synced"], true);
    assert_eq!(informers[0]["objects"], 1);
    assert_eq!(informers[0]["source"]["lists"], 1);
    assert_eq!(informers[0]["source"]["error"], serde_json::Value::Null);
    assert_eq!(informers[1]["cluster"], "far");
    assert_eq!(informers[1]["phase"], "idle");
    assert_eq!(
        get(address, "/readyz/informer/far/secrets").await,
        (500, "internal server error: not in sync: it was not run\n".into())
    );
    running.handle().forget("far");
    assert_eq!(get(address, "/readyz").await, (200, "ok".into()));
    running.stop().await.unwrap();
}
