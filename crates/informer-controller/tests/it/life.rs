//! Start, sync and stop.

use std::{
    convert::Infallible,
    error::Error,
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use informer_controller::{
    Action, Attempt, Builder, Controller, Phase, Source, SourceContext, Started, channel,
};
use tokio::sync::oneshot;

use crate::support::{Log, Watch, ms, secs, settle, sleep};

type BoxError = Box<dyn Error + Send + Sync>;

/// In sync when it is told so.
struct Slow {
    name: &'static str,
    synced: oneshot::Receiver<Result<(), BoxError>>,
    stopped: Arc<AtomicBool>,
}

impl Slow {
    fn new(name: &'static str) -> (oneshot::Sender<Result<(), BoxError>>, Arc<AtomicBool>, Self) {
        let (tell, synced) = oneshot::channel();
        let stopped = Arc::new(AtomicBool::new(false));
        let source = Self {
            name,
            synced,
            stopped: stopped.clone(),
        };
        (tell, stopped, source)
    }
}

impl Source<u32> for Slow {
    fn name(&self) -> Arc<str> {
        self.name.into()
    }

    fn start(self: Box<Self>, context: SourceContext<u32>) -> Result<Started, BoxError> {
        context.enqueue(7);
        let (synced, stopped) = (self.synced, self.stopped);
        let started = Started::new(async move {
            match synced.await {
                Ok(result) => result,
                Err(_) => pending().await,
            }
        });
        Ok(started.on_stop(move || stopped.store(true, SeqCst)))
    }
}

fn logging(log: &Log<u32>) -> Builder<u32> {
    let log = log.clone();
    Controller::builder("c").reconcile(move |request: u32, _: Attempt| {
        log.push(request);
        async { Ok::<_, Infallible>(Action::Done) }
    })
}

#[tokio::test(start_paused = true)]
async fn no_reconcile_before_every_source_is_in_sync() {
    let log = Log::new();
    let (one, _, first) = Slow::new("pods");
    let (two, stopped, second) = Slow::new("nodes");
    let controller = logging(&log).source(first).source(second).build().unwrap();
    assert_eq!(controller.status().phase, Phase::Idle);
    let running = controller.spawn().unwrap();
    settle().await;
    let names = |waiting: Vec<Arc<str>>| waiting.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(controller.status().phase, Phase::Syncing);
    assert_eq!(names(controller.status().waiting_for), ["pods", "nodes"]);
    two.send(Ok(())).unwrap();
    settle().await;
    assert_eq!(names(controller.status().waiting_for), ["pods"]);
    sleep(secs(60)).await;
    assert!(log.all().is_empty());
    assert_eq!(controller.status().queued, 1);

    one.send(Ok(())).unwrap();
    assert_eq!(log.wait_for(1).await, [7]);
    assert_eq!(controller.status().phase, Phase::Running);
    assert!(controller.status().waiting_for.is_empty());
    assert!(!stopped.load(SeqCst));
    running.stop().await.unwrap();
    assert!(stopped.load(SeqCst));
    assert_eq!(controller.status().phase, Phase::Ended);
}

#[tokio::test(start_paused = true)]
async fn a_source_that_does_not_sync_is_named() {
    let (one, stopped, first) = Slow::new("pods");
    let (_two, _, second) = Slow::new("nodes");
    let controller = logging(&Log::new()).source(first).source(second).build().unwrap();
    let watch = Watch::start();
    one.send(Ok(())).unwrap();
    let error = controller.run().await.unwrap_err();
    assert_eq!(watch.ms(), 120_000);
    assert_eq!(
        error.to_string(),
        r#"controller "c" gave up after 120s: not in sync: nodes"#
    );
    assert_eq!(error.sources().len(), 1);
    assert!(stopped.load(SeqCst));

    let error = controller.run().await.unwrap_err();
    assert!(error.is_second_run());
    assert!(controller.spawn().unwrap_err().is_second_run());
}

#[tokio::test(start_paused = true)]
async fn a_source_that_fails_ends_the_controller() {
    let (one, _, source) = Slow::new("pods");
    let controller = logging(&Log::new())
        .source(source)
        .sync_timeout(None)
        .build()
        .unwrap();
    one.send(Err("the informer has stopped".into())).unwrap();
    let error = controller.run().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"controller "c" cannot follow pods: the informer has stopped"#
    );

    struct Never;

    impl Source<u32> for Never {
        fn name(&self) -> Arc<str> {
            "never".into()
        }

        fn start(self: Box<Self>, _: SourceContext<u32>) -> Result<Started, BoxError> {
            Err("no way".into())
        }
    }

    let controller = logging(&Log::new()).source(Never).build().unwrap();
    let error = controller.run().await.unwrap_err();
    assert_eq!(error.to_string(), r#"controller "c" cannot follow never: no way"#);
}

#[tokio::test(start_paused = true)]
async fn stop_before_and_while_it_syncs() {
    let log = Log::new();
    let (_one, _, source) = Slow::new("pods");
    let controller = logging(&log).source(source).build().unwrap();
    controller.stop();
    let ended = controller.run().await.unwrap();
    assert_eq!((ended.left, ended.cut), (vec![7], vec![]));

    let (_two, stopped, source) = Slow::new("pods");
    let running = logging(&log).source(source).build().unwrap().spawn().unwrap();
    settle().await;
    let watch = Watch::start();
    running.stop().await.unwrap();
    assert_eq!(watch.ms(), 0);
    assert!(stopped.load(SeqCst) && log.all().is_empty());
}

/// Takes its time; the log says when it began and ended.
fn lasting(
    log: &Log<&'static str>,
    secs_each: u64,
) -> (informer_controller::Requests<&'static str>, Builder<&'static str>) {
    let (requests, source) = channel("test");
    let log = log.clone();
    let builder =
        Controller::builder("c")
            .source(source)
            .reconcile(move |request: &'static str, _: Attempt| {
                let log = log.clone();
                async move {
                    log.push(request);
                    sleep(secs(secs_each)).await;
                    log.push("end");
                    Ok::<_, Infallible>(Action::Done)
                }
            });
    (requests, builder)
}

#[tokio::test(start_paused = true)]
async fn what_runs_may_finish_and_what_waits_is_reported() {
    let log = Log::new();
    let (requests, builder) = lasting(&log, 5);
    let controller = builder.build().unwrap();
    let running = controller.spawn().unwrap();
    for request in ["a", "b", "c"] {
        requests.send(request).await.unwrap();
    }
    log.wait_for(1).await;
    settle().await;
    let watch = Watch::start();
    controller.stop();
    settle().await;
    assert_eq!(controller.status().phase, Phase::Draining);
    assert_eq!(controller.status().running, 1);
    let ended = running.ended().await.unwrap();
    assert!((4000..5000).contains(&watch.ms()), "{}", watch.ms());
    assert_eq!(log.all(), ["a", "end"]);
    assert_eq!((ended.left, ended.cut), (vec!["b", "c"], vec![]));
    assert_eq!(controller.status().phase, Phase::Ended);
}

#[tokio::test(start_paused = true)]
async fn what_takes_longer_than_the_grace_is_cut_and_named() {
    let log = Log::new();
    let (requests, builder) = lasting(&log, 3600);
    let running = builder.grace(secs(2)).build().unwrap().spawn().unwrap();
    requests.send("a").await.unwrap();
    log.wait_for(1).await;
    let watch = Watch::start();
    let controller = running.controller().clone();
    let ended = running.stop().await.unwrap();
    assert_eq!(watch.ms(), 2000);
    assert_eq!(ended.cut, ["a"]);
    assert_eq!(controller.status().running, 0);
    sleep(secs(7200)).await;
    assert_eq!(log.all(), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn a_stop_may_bring_its_own_grace() {
    let log = Log::new();
    let (requests, builder) = lasting(&log, 3600);
    let running = builder.grace(secs(2)).build().unwrap().spawn().unwrap();
    requests.send("a").await.unwrap();
    log.wait_for(1).await;
    let watch = Watch::start();
    running.controller().stop_within(std::time::Duration::MAX);
    sleep(secs(60)).await;
    assert_eq!(running.controller().reconciling(), ["a"]);
    assert_eq!(running.ended().await.unwrap().cut, [""; 0]);
    assert_eq!(watch.ms().next_multiple_of(1000), 3_600_000);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_run_leaves_nothing_behind() {
    let log = Log::new();
    let (requests, builder) = lasting(&log, 5);
    let controller = builder.build().unwrap();
    requests.send("a").await.unwrap();
    requests.send("b").await.unwrap();
    tokio::select! {
        _ = controller.run() => unreachable!("nobody stops it"),
        () = sleep(secs(1)) => {}
    }
    assert_eq!(controller.status().phase, Phase::Ended);
    sleep(secs(60)).await;
    assert_eq!(log.all(), ["a"]);
    assert_eq!(controller.status().running, 0);
    assert!(requests.send("c").await.is_err());
}

#[tokio::test(start_paused = true)]
async fn dropping_running_stops_it() {
    let log = Log::new();
    let (requests, builder) = lasting(&log, 0);
    let running = builder.build().unwrap().spawn().unwrap();
    let controller = running.controller().clone();
    drop(running);
    sleep(ms(10)).await;
    assert_eq!(controller.status().phase, Phase::Ended);
    assert!(requests.send("c").await.is_err());
}
