//! Controllers and informers that a manager runs.

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    task::Poll,
};

use informer_controller::{
    Action, Builder, Controller, Defaults, ForObject, InformerSource, Phase, Requests, channel, try_map_fn,
};
use informer_core::{Decoded, Entry, FailureClass, Identity, ObjectKey, SourceError, Stamp, Watched};
use informer_manager::{Group, Late, Manager, Stop};
use informer_reflector::{ListWatch, feed};
use informer_sharedinformer::{SharedInformer, Sink};

use crate::support::{Fate, Log, Puppet, Watch, get, ms, secs, settle, sleep};

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
            "[+]controller/pods ok\n[-]controller/secrets failed: reason withheld\n[+]informer/pods ok\n[-]informer/secrets failed: reason \
             withheld\n[+]manager ok\nhealthz check failed\n"
                .into()
        )
    );
    let (status, why) = text(handle.readyz().answer_one("informer/secrets"));
    assert_eq!(status, 500);
    assert!(
        why.contains("not in sync: ") && why.contains("you may not list pods"),
        "{why}"
    );

    let (status, why) = text(handle.readyz().answer_one("controller/secrets"));
    assert!(
        status == 500 && why.contains("not in sync: secrets (") && why.contains("you may not list pods"),
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

/// An informer whose source never answers and never fails: a reflector would say after a while that it waits for too long.
fn silent() -> SharedInformer<ObjectKey, ()> {
    let source = |sink: Sink<ObjectKey, ()>| async move {
        std::future::pending::<()>().await;
        drop(sink);
    };
    SharedInformer::fed_by(source).name("silent").build().unwrap()
}

/// A start that is stuck wakes nobody up but for a look now and then, and a stop neither: each time that the clock of the test moves, its
/// only thread was parked. Upstream spins after the stop, and never returns.
#[tokio::test(start_paused = true)]
async fn t05_a_start_that_is_stuck_polls_nothing_and_its_stop_returns() {
    let parked = || tokio::runtime::Handle::current().metrics().worker_park_count(0);
    let log = Log::default();
    let informer = silent();
    // The group of caches waits, as long as it takes, or its two minutes; then controllers wait.
    // Each step of virtual time parks the thread about four times.
    for (within, steps) in [(None, 2000), (Some(secs(120)), 400)] {
        let informer = if within.is_none() {
            informer.clone()
        } else {
            silent()
        };
        let controller = reconciling(&log, &informer).build().unwrap();
        let running = Manager::builder()
            .ready_within(within, Late::GoOn)
            .informer(&informer)
            .controller(&controller)
            .build()
            .unwrap()
            .spawn();
        settle().await;
        let before = parked();
        sleep(secs(3600)).await;
        let woken = parked() - before;
        assert!(woken <= steps, "parked {woken} times in an hour");
        assert!(!informer.has_synced() && informer.status().source.error.is_none());
        let (watch, before) = (Watch::start(), parked());
        assert!(running.stop().await.unwrap().is_clean());
        assert!(watch.elapsed().as_millis() <= 200 && parked() - before < 10);
    }
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

/// What is wrong with a source is shown, and what a controller lacks makes it unready; what is not with the manager is not asked for.
#[tokio::test]
async fn controllers_are_asked_for_readiness_and_shown_for_debugging() {
    let (_, fine) = pods("pods", false);
    let (_, stopped) = pods("nodes", false);
    stopped.stop();
    let manager = Manager::builder()
        .health_addr("127.0.0.1:0".parse().unwrap())
        .controller_defaults(Defaults::new().needs_leader_election(false))
        .informer(&fine)
        .build()
        .unwrap();
    let address = manager.health_addr().unwrap();
    let handle = manager.handle();
    let map = |_: &Entry<ObjectKey, ()>| Err::<Option<ObjectKey>, _>("no idea");
    let controller = handle
        .controller::<ObjectKey>("web")
        .watches(&fine, ForObject)
        .watches(&fine, try_map_fn(map))
        .reconcile(|_, _| async { Ok::<_, Infallible>(Action::Done) })
        .build()
        .unwrap();
    assert!(!controller.needs_leader_election(), "by the manager's defaults");
    handle.add(controller.clone()).unwrap();
    let running = manager.spawn();
    while !controller.status().is_ready() {
        sleep(ms(1)).await;
    }
    handle.started().await;
    assert_eq!(get(address, "/readyz").await, (200, "ok".into()));

    let id = controller
        .watch(InformerSource::new(&stopped, ForObject))
        .unwrap();
    controller.watch_synced(id).await.unwrap_err();
    assert_eq!(
        get(address, "/readyz/controller/web").await,
        (
            500,
            "internal server error: it goes on without: nodes (informer \"nodes\" has stopped)\n".into()
        )
    );
    let (status, text) = get(address, "/debug/controllers").await;
    assert_eq!(status, 200);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let shown = &json["controllers"][0];
    assert_eq!(
        (&shown["name"], &shown["phase"]),
        (&"web".into(), &"running".into())
    );
    assert_eq!(shown["reconciles"]["succeeded"], 1);
    assert_eq!(shown["sources"][0]["trouble"], serde_json::Value::Null);
    assert_eq!(shown["sources"][0]["synced"], true);
    assert_eq!(
        shown["sources"][1]["trouble"],
        "1 changes could not be mapped: no idea"
    );
    assert_eq!(shown["sources"][2]["trouble"], "informer \"nodes\" has stopped");
    assert!(controller.unwatch(id));
    assert_eq!(get(address, "/readyz").await, (200, "ok".into()));

    assert!(handle.remove("web").await);
    assert_eq!(get(address, "/readyz/controller/web").await.0, 404);
    let (_, text) = get(address, "/debug/controllers").await;
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["controllers"], serde_json::json!([]));
    running.stop().await.unwrap();
}

/// Nobody waits for what runs on the leader alone where this replica does not lead.
#[tokio::test(start_paused = true)]
async fn a_controller_that_waits_for_leadership_is_ready() {
    let log = Log::default();
    let (_, broken) = pods("secrets", true);
    let controller = reconciling(&log, &broken).build().unwrap();
    let (elect, candidate) = Puppet::new(&log);
    let running = Manager::builder()
        .controller(&controller)
        .leader_election(candidate)
        .build()
        .unwrap()
        .spawn();
    let handle = running.handle().clone();
    handle.started().await;
    settle().await;
    assert_eq!(handle.readyz().answer_one("controller/secrets").status, 200);
    elect.send(Fate::Win).unwrap();
    handle.elected().await;
    settle().await;
    assert_eq!(handle.readyz().answer_one("controller/secrets").status, 500);
    assert!(running.stop().await.unwrap().is_clean());
}
