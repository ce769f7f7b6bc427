//! Mappings that must wait.

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
};

use informer_controller::{Action, Attempt, Builder, Controller, KindSource, Phase, async_map_fn, channel};
use informer_core::BoxFuture;

use crate::support::{Feed, Log, Oops, Pod, PodEntry, Watch, ms, secs, settle, sleep};

type Asked = Log<(String, u64)>;

/// Logs what it is asked for.
fn logging(builder: Builder<String>, log: &Log<String>) -> Controller<String> {
    let log = log.clone();
    builder
        .reconcile(move |request: String, _: Attempt| {
            log.push(request);
            async { Ok::<_, Infallible>(Action::Done) }
        })
        .build()
        .unwrap()
}

fn state(entry: &PodEntry) -> String {
    format!(
        "{}:{}@{}",
        entry.key.name(),
        entry.object.app,
        entry.stamp.version
    )
}

type Answer = BoxFuture<'static, Result<[String; 1], Oops>>;

/// The app of a pod is the request, a second later.
fn slow_app(asked: &Asked) -> impl Fn(PodEntry) -> Answer + Send + Sync + 'static {
    let (asked, watch) = (asked.clone(), Watch::start());
    move |entry: PodEntry| {
        asked.push((state(&entry), watch.ms() / 1000));
        Box::pin(async move {
            sleep(secs(1)).await;
            Ok([entry.object.app.to_owned()])
        })
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_reconcile_waits_for_the_mapping_of_all_that_is_there() {
    let (feed, informer) = Feed::informer();
    let informing = informer.spawn().unwrap();
    feed.list(&["ns/a", "ns/b", "ns/c"]);
    let (log, asked) = (Log::new(), Asked::new());
    let builder =
        Controller::builder("c").watches_async(&informer, async_map_fn(slow_app(&asked)).at_once(1));
    let controller = logging(builder, &log);
    let running = controller.spawn().unwrap();
    sleep(ms(2500)).await;
    // Two of three are mapped and wait in the queue.
    let status = controller.status();
    assert_eq!((status.phase, status.queued), (Phase::Syncing, 1));
    assert_eq!(
        status.sources[0].trouble.as_deref(),
        Some("1 initial objects are not mapped yet")
    );
    assert!(log.all().is_empty());
    assert_eq!(log.wait_for(1).await, ["web"]);
    let at: Vec<_> = asked.all().into_iter().map(|it| it.1).collect();
    assert_eq!(at, [0, 1, 2], "one after the other");
    assert_eq!(controller.status().sources[0].trouble, None);
    running.stop().await.unwrap();
    informing.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_mapping_that_never_ends_is_named_when_the_controller_gives_up() {
    let (feed, informer) = Feed::informer();
    let informing = informer.spawn().unwrap();
    feed.list(&["ns/a"]);
    let never = async_map_fn(|_: PodEntry| std::future::pending::<Result<Vec<String>, Oops>>());
    let controller = logging(
        Controller::builder("c")
            .sync_timeout(secs(5))
            .watches_async(&informer, never),
        &Log::new(),
    );
    let error = controller.run().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"controller "c" gave up after 5s: not in sync: pods (1 initial objects are not mapped yet)"#
    );
    informing.stop().await;
}

/// Of one object the function is asked about one state at a time, in the order of its changes; states that came and went while it was busy
/// are skipped, those that somebody may have been told of are not.
#[tokio::test(start_paused = true)]
async fn one_object_is_asked_about_in_order_and_others_at_the_same_time() {
    let (feed, informer) = Feed::informer();
    let informing = informer.spawn().unwrap();
    feed.list(&[]);
    let (log, asked) = (Log::new(), Asked::new());
    let builder = Controller::builder("c").watches_async(&informer, async_map_fn(slow_app(&asked)));
    let controller = logging(builder, &log);
    let running = controller.spawn().unwrap();
    settle().await;
    for (version, app) in [("2", "one"), ("3", "two"), ("4", "three"), ("5", "four")] {
        feed.upsert_pod("ns/a", version, Pod::of(app));
        settle().await;
    }
    feed.upsert_pod("ns/b", "6", Pod::of("other"));
    log.wait_for(4).await;
    settle().await;
    assert_eq!(
        log.all(),
        ["one", "other", "four", "one"],
        "the newest, then that from which it went"
    );
    let states: Vec<_> = asked.all().into_iter().map(|it| it.0).collect();
    assert_eq!(states, ["a:one@2", "b:other@6", "a:four@5", "a:one@2"]);
    // A removal is asked about as well.
    feed.delete("ns/a", "7");
    assert_eq!(log.wait_for(5).await[4], "four");
    running.stop().await.unwrap();
    informing.stop().await;
}

#[tokio::test(start_paused = true)]
async fn no_more_are_asked_about_at_once_than_said() {
    for (n, expected) in [(None, 8), (Some(3), 3), (Some(0), 1)] {
        let (feed, informer) = Feed::informer();
        let informing = informer.spawn().unwrap();
        let names: Vec<_> = (0..30).map(|n| format!("ns/p{n}")).collect();
        feed.list(&names.iter().map(String::as_str).collect::<Vec<_>>());
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let function = async_map_fn({
            let (now, most) = (now.clone(), most.clone());
            move |entry: PodEntry| {
                let now = now.clone();
                most.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
                async move {
                    sleep(ms(10)).await;
                    now.fetch_sub(1, SeqCst);
                    Ok::<_, Oops>([entry.key.to_string()])
                }
            }
        });
        let function = match n {
            Some(n) => function.at_once(n),
            None => function,
        };
        let log = Log::new();
        let builder = Controller::builder("c").skip_name_validation();
        let controller = logging(builder.watches_async(&informer, function), &log);
        let running = controller.spawn().unwrap();
        assert_eq!(log.wait_for(30).await.len(), 30);
        assert_eq!(most.load(SeqCst), expected);
        running.stop().await.unwrap();
        informing.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_fails_or_panics_is_asked_about_again_and_nothing_is_lost() {
    let (feed, informer) = Feed::informer();
    let informing = informer.spawn().unwrap();
    feed.list(&[]);
    let broken = Arc::new(AtomicBool::new(true));
    let tries = Log::new();
    let function = {
        let (broken, tries, watch) = (broken.clone(), tries.clone(), Watch::start());
        async_map_fn(move |entry: PodEntry| {
            let broken = broken.load(SeqCst);
            if entry.key.name() == "late" {
                tries.push(watch.ms());
            }
            assert!(!(broken && entry.key.name() == "panics"), "at the call");
            async move {
                tokio::task::yield_now().await;
                assert!(!(broken && entry.key.name() == "late-panics"), "later");
                if broken {
                    Err(Oops(7))
                } else {
                    Ok(Some(entry.object.app.to_owned()))
                }
            }
        })
    };
    let log = Log::new();
    let controller = logging(Controller::builder("c").watches_async(&informer, function), &log);
    let running = controller.spawn().unwrap();
    settle().await;
    for (name, version, app) in [
        ("ns/a", "2", "first"),
        ("ns/a", "3", "second"),
        ("ns/a", "4", "third"),
        ("ns/panics", "5", "panics"),
        ("ns/late-panics", "6", "late-panics"),
        ("ns/late", "7", "late"),
    ] {
        feed.upsert_pod(name, version, Pod::of(app));
    }
    sleep(ms(400)).await;
    assert!(log.all().is_empty());
    let tried = tries.all();
    let gaps: Vec<_> = tried.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps[..6], [5, 10, 20, 40, 80, 160], "later each time");
    let trouble = controller.status().sources[0].trouble.clone().unwrap();
    assert!(
        trouble.starts_with("4 changes could not be mapped: "),
        "{trouble}"
    );

    broken.store(false, SeqCst);
    sleep(secs(120)).await;
    let mut seen = log.all();
    seen.sort_unstable();
    // Resyncs repeat.
    seen.dedup();
    // The first state that nobody heard of and the newest; whether the one between was a state that anybody heard of, nobody can tell.
    let seen: Vec<_> = seen.iter().filter(|it| *it != "second").collect();
    assert_eq!(seen, ["first", "late", "late-panics", "panics", "third"]);
    assert_eq!(controller.status().sources[0].trouble, None);
    assert_eq!(informer.status().handlers[0].panics, 0);
    running.stop().await.unwrap();
    informing.stop().await;
}

/// Dropped where it awaits: nothing runs, and nothing comes of it.
#[tokio::test(start_paused = true)]
async fn a_stop_and_an_unwatch_drop_what_is_asked() {
    struct Gone(Arc<AtomicBool>);

    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.store(true, SeqCst);
        }
    }

    for unwatch in [true, false] {
        let (feed, informer) = Feed::informer();
        let informing = informer.spawn().unwrap();
        feed.list(&[]);
        let gone = Arc::new(AtomicBool::new(false));
        let function = async_map_fn({
            let gone = gone.clone();
            move |entry: PodEntry| {
                let gone = Gone(gone.clone());
                async move {
                    sleep(secs(3600)).await;
                    drop(gone);
                    Ok::<_, Oops>(Some(entry.key.to_string()))
                }
            }
        });
        let log = Log::new();
        let builder = Controller::builder("c").skip_name_validation();
        let controller = logging(builder.source(channel("nothing").1), &log);
        let running = controller.spawn().unwrap();
        let id = running.watch(KindSource::new_async(&informer, function)).unwrap();
        controller.watch_synced(id).await.unwrap();
        feed.upsert("ns/a", "2");
        sleep(secs(1)).await;
        let watch = Watch::start();
        if unwatch {
            assert!(running.unwatch(id));
            settle().await;
            assert!(gone.load(SeqCst));
            sleep(secs(7200)).await;
            running.stop().await.unwrap();
        } else {
            let ended = running.stop().await.unwrap();
            assert_eq!((ended.left, ended.cut), (vec![], vec![]));
            assert!(watch.ms() <= 200 && gone.load(SeqCst));
        }
        assert!(log.all().is_empty() && informer.status().handlers.is_empty());
        informing.stop().await;
    }
}

/// The filter of the whole controller, and a predicate, are asked before.
#[tokio::test(start_paused = true)]
async fn nobody_asks_about_what_is_filtered_out() {
    let (feed, informer) = Feed::informer();
    let informing = informer.spawn().unwrap();
    feed.list(&[]);
    let asked = Arc::new(Mutex::new(Vec::new()));
    let function = async_map_fn({
        let asked = asked.clone();
        move |entry: PodEntry| {
            asked.lock().unwrap().push(state(&entry));
            async move { Ok::<_, Oops>(Some(entry.object.app.to_owned())) }
        }
    });
    let log = Log::new();
    let builder = Controller::builder("c")
        .watches_async(&informer, function)
        .with_event_filter(|event| event.current().key().is_some_and(|key| key.name() != "hidden"));
    let running = logging(builder, &log).spawn().unwrap();
    settle().await;
    feed.upsert_pod("ns/hidden", "2", Pod::of("hidden"));
    feed.upsert_pod("ns/a", "3", Pod::of("one"));
    assert_eq!(log.wait_for(1).await, ["one"]);
    feed.upsert_pod("ns/a", "4", Pod::of("one"));
    log.wait_for(2).await;
    settle().await;
    assert_eq!(log.all(), ["one", "one"], "the same of both states counts once");
    assert_eq!(*asked.lock().unwrap(), ["a:one@3", "a:one@4", "a:one@3"]);
    running.stop().await.unwrap();
    informing.stop().await;
}
