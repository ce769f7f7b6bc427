//! Panics of what a controller watches: each ends what panicked, and nothing else.

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use informer_controller::{
    Action, Attempt, Builder, Controller, Fault, ForObject, Kind, Phase, SourceContext, Started, channel,
    gate, provider_fn, retried_source, source_fn,
};
use informer_core::{ObjectKey, Resource};

use crate::support::{Feed, Log, Oops, Watch, key, ms, secs, settle, sleep};

type Told = Arc<Mutex<Vec<(String, Fault, String, u64)>>>;

/// Logs what it is asked for, and what its error hook is told, when.
fn logging(log: &Log<String>) -> (Told, Builder<ObjectKey>) {
    let (log, told) = (log.clone(), Told::default());
    let (hook, watch) = (told.clone(), Watch::start());
    let builder = Controller::builder("c")
        .reconcile(move |key: ObjectKey, _: Attempt| {
            log.push(key.to_string());
            async { Ok::<_, Infallible>(Action::Done) }
        })
        .on_source_error(move |error| {
            let why = error.why.as_deref().unwrap_or_default().to_owned();
            let mut told = hook.lock().unwrap();
            told.push((error.source.to_string(), error.fault, why, watch.ms()));
        });
    (told, builder)
}

/// Runs until the third time: after a second, and two more.
#[tokio::test(start_paused = true)]
async fn what_a_source_runs_is_run_again_after_a_panic() {
    let log = Log::new();
    let runs = Arc::new(AtomicUsize::new(0));
    let ticks = retried_source("ticks", {
        let runs = runs.clone();
        move |context: SourceContext<ObjectKey>| {
            let n = runs.fetch_add(1, SeqCst);
            // In the call, and in the future.
            assert!(n != 0, "in the call");
            async move {
                assert!(n != 1, "in the future");
                context.enqueue(key("ns/tick"));
                std::future::pending().await
            }
        }
    });
    let (requests, source) = channel("requests");
    let (told, builder) = logging(&log);
    let controller = builder.source(ticks).source(source).build().unwrap();
    let running = controller.spawn().unwrap();
    settle().await;
    let trouble = controller.status().sources[0].trouble.clone();
    assert_eq!(trouble.as_deref(), Some("it panicked: in the call"));
    requests.send(key("ns/other")).await.unwrap();
    assert_eq!(log.wait_for(1).await, ["ns/other"], "the controller goes on");
    assert_eq!(log.wait_for(2).await[1], "ns/tick");
    let again = |wait| Fault::Panicked(Some(secs(wait)));
    assert_eq!(
        *told.lock().unwrap(),
        [
            (
                "ticks".to_owned(),
                again(1),
                "it panicked: in the call".to_owned(),
                0
            ),
            (
                "ticks".to_owned(),
                again(2),
                "it panicked: in the future".to_owned(),
                1000
            ),
        ]
    );
    assert_eq!(controller.status().sources[0].trouble, None);
    running.stop().await.unwrap();
}

/// What is handed over as one future cannot be made anew: that source is over, and said to be.
#[tokio::test(start_paused = true)]
async fn a_source_that_cannot_be_run_again_has_failed() {
    let log = Log::new();
    let once = source_fn("once", |_: SourceContext<ObjectKey>| {
        Ok(Started::in_sync().run(async {
            sleep(secs(1)).await;
            panic!("as told");
        }))
    });
    let (requests, source) = channel("requests");
    let (told, builder) = logging(&log);
    let controller = builder.source(once).source(source).build().unwrap();
    let running = controller.spawn().unwrap();
    sleep(secs(600)).await;
    let once = controller.status().sources[0].clone();
    assert_eq!(
        (once.synced, once.trouble.as_deref()),
        (false, Some("it panicked: as told"))
    );
    let faults: Vec<_> = told.lock().unwrap().iter().map(|it| it.1).collect();
    assert_eq!(faults, [Fault::Panicked(None)]);
    requests.send(key("ns/a")).await.unwrap();
    log.wait_for(1).await;
    assert_eq!(controller.status().phase, Phase::Running);
    running.stop().await.unwrap();
}

/// A provider that panics is one that has nothing yet, for what is watched and for what is only read.
#[tokio::test(start_paused = true)]
async fn a_provider_that_panics_is_asked_again() {
    for in_call in [true, false] {
        let (feed, informer) = Feed::informer();
        let _informing = informer.spawn().unwrap();
        feed.list(&["ns/a"]);
        let pods = Resource::namespaced("", "v1", "pods", "Pod");
        let provided = || {
            let (asked, informer) = (AtomicUsize::new(0), informer.clone());
            Kind::provided(provider_fn(&pods, move || {
                let n = asked.fetch_add(1, SeqCst);
                assert!(!in_call || n > 0, "no cache");
                let informer = informer.clone();
                async move {
                    assert!(in_call || n > 0, "no cache");
                    Ok::<_, Oops>(informer)
                }
            }))
        };
        let log = Log::new();
        let (told, builder) = logging(&log);
        let controller = builder
            .watches(provided(), ForObject)
            .source(gate(provided()))
            .build()
            .unwrap();
        let running = controller.spawn().unwrap();
        sleep(secs(9)).await;
        let status = controller.status();
        assert_eq!(status.phase, Phase::Syncing);
        for source in &status.sources {
            assert_eq!(source.trouble.as_deref(), Some("it panicked: no cache"));
        }
        let watch = Watch::start();
        log.wait_for(1).await;
        assert!((900..1100).contains(&watch.ms()), "{}", watch.ms());
        assert_eq!(told.lock().unwrap().len(), 2);
        running.stop().await.unwrap();
    }
}

/// In the start of a source, in what says that it is in sync, when it is asked, when it ends, and in the error hook itself.
#[tokio::test(start_paused = true)]
async fn panics_anywhere_in_a_source_end_nothing_else() {
    let (requests, source) = channel("requests");
    let log = Log::new();
    let start = source_fn("start", |_: SourceContext<ObjectKey>| panic!("in the start"));
    let sync = source_fn("sync", |_: SourceContext<ObjectKey>| {
        Ok(Started::new(async { panic!("in the sync") })
            .trouble(|| panic!("asked"))
            .on_stop(|| panic!("in the end")))
    });
    let (_, builder) = logging(&log);
    let controller = builder
        .on_source_error(|_| panic!("in the hook"))
        .source(source)
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    settle().await;
    let (start, sync) = (running.watch(start).unwrap(), running.watch(sync).unwrap());
    settle().await;
    let said = |error: informer_controller::RunError| error.to_string();
    assert_eq!(
        said(controller.watch_synced(start).await.unwrap_err()),
        r#"controller "c" cannot follow start: it panicked: in the start"#
    );
    assert_eq!(
        said(controller.watch_synced(sync).await.unwrap_err()),
        r#"controller "c" cannot follow sync: it panicked: in the sync"#
    );
    assert!(controller.unwatch(sync));
    requests.send(key("ns/a")).await.unwrap();
    log.wait_for(1).await;
    sleep(ms(1)).await;
    running.stop().await.unwrap();
}

/// Alone, a controller whose source panics as it starts ends with an error, not with the panic.
#[tokio::test(start_paused = true)]
async fn a_panic_in_the_start_is_an_error_of_the_run() {
    let (_, builder) = logging(&Log::new());
    let start = source_fn("start", |_: SourceContext<ObjectKey>| panic!("as told"));
    let error = builder.source(start).build().unwrap().run().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"controller "c" cannot follow start: it panicked: as told"#
    );
    // Among others it names it, and waits until it is dropped.
    let log = Log::new();
    let (told, builder) = logging(&log);
    let (requests, source) = channel("requests");
    let controller = builder.source(source).build().unwrap();
    let id = controller
        .watch(source_fn("start", |_: SourceContext<ObjectKey>| {
            panic!("as told")
        }))
        .unwrap();
    requests.send(key("ns/a")).await.unwrap();
    let dropping = async {
        sleep(secs(300)).await;
        assert_eq!(controller.status().phase, Phase::Syncing);
        let faults: Vec<_> = told.lock().unwrap().iter().map(|it| it.1).collect();
        let late = Fault::Late(secs(120));
        assert_eq!(faults, [Fault::Failed, late, late]);
        assert!(controller.unwatch(id));
        log.wait_for(1).await;
        controller.stop();
    };
    let (ended, ()) = tokio::join!(controller.run_among(std::future::ready(())), dropping);
    ended.unwrap();
}
