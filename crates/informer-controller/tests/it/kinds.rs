//! Kinds that come and go, watches that are added and dropped, mappings that fail, and who leads.

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use informer_controller::{
    Action, Attempt, BoxError, Builder, Controller, EventKind, ForObject, InformerSource, Kind, KindProvider,
    Phase, SourceContext, Started, Watchable, channel, gate, map_fn, optional, provider_fn, source_fn,
    task_source, try_map_fn,
};
use informer_core::{BoxFuture, Clock, ObjectKey, Resource};
use informer_sharedinformer::SharedInformer;
use tokio::sync::oneshot;

use crate::support::{Feed, Log, Oops, Pod, PodEntry, PodMeta, Watch, key, ms, secs, settle, sleep};

fn pods() -> Resource {
    Resource::namespaced("", "v1", "pods", "Pod")
}

/// Logs what it is asked for.
fn logging(builder: Builder<ObjectKey>, log: &Log<String>) -> Controller<ObjectKey> {
    let log = log.clone();
    builder
        .reconcile(move |key: ObjectKey, _: Attempt| {
            log.push(key.to_string());
            async { Ok::<_, Infallible>(Action::Done) }
        })
        .build()
        .unwrap()
}

type Informer = SharedInformer<ObjectKey, Pod>;

/// A cache that has pods once somebody has installed them.
#[derive(Clone, Default)]
struct Cache(Arc<Mutex<Option<Informer>>>, Arc<AtomicUsize>);

impl Cache {
    fn install(&self, informer: &Informer) {
        *self.0.lock().unwrap() = Some(informer.clone());
    }

    fn remove(&self) {
        *self.0.lock().unwrap() = None;
    }
}

impl KindProvider<ObjectKey, Pod> for Cache {
    fn resource(&self) -> Resource {
        pods()
    }

    fn open(&self) -> BoxFuture<'_, Result<Arc<dyn Watchable<ObjectKey, Pod>>, BoxError>> {
        self.1.fetch_add(1, SeqCst);
        let informer = self.0.lock().unwrap().clone();
        Box::pin(async move {
            match informer {
                Some(informer) => Ok(Arc::new(informer) as Arc<dyn Watchable<ObjectKey, Pod>>),
                None => Err("the server does not serve it".into()),
            }
        })
    }
}

#[tokio::test(start_paused = true)]
async fn t50_a_kind_that_is_installed_30_s_late_is_picked_up() {
    let (cache, log) = (Cache::default(), Log::new());
    let controller = logging(Builder::new().for_(Kind::provided(cache.clone())), &log);
    assert_eq!(controller.name(), "pod");
    let running = controller.spawn().unwrap();
    sleep(secs(29)).await;
    let status = controller.status();
    assert_eq!(status.phase, Phase::Syncing);
    assert_eq!(&*status.sources[0].name, &*pods().to_string());
    assert_eq!(
        status.sources[0].trouble.as_deref(),
        Some("the server does not serve it")
    );
    assert_eq!(cache.1.load(SeqCst), 3, "asked every ten seconds");

    let (feed, informer) = Feed::informer();
    let informing = informer.spawn().unwrap();
    feed.list(&["ns/a"]);
    cache.install(&informer);
    assert_eq!(log.wait_for(1).await, ["ns/a"]);
    assert!(controller.status().is_ready());
    assert_eq!(controller.status().sources[0].trouble, None);
    feed.upsert("ns/b", "2");
    assert_eq!(log.wait_for(2).await[1], "ns/b");
    running.stop().await.unwrap();
    assert!(informer.status().handlers.is_empty());
    informing.stop().await;
}

/// The kind goes while the controller runs, an object with it, and comes back with another.
#[tokio::test(start_paused = true)]
async fn cm_02_a_kind_that_goes_and_comes_back_needs_no_restart() {
    let (cache, log) = (Cache::default(), Log::new());
    let (feed, first) = Feed::informer();
    let informing = first.spawn().unwrap();
    feed.list(&["ns/gone", "ns/stays"]);
    cache.install(&first);
    let controller = logging(Builder::new().for_(Kind::provided(cache.clone())), &log);
    let running = controller.spawn().unwrap();
    assert_eq!(log.wait_for(2).await, ["ns/gone", "ns/stays"]);

    cache.remove();
    informing.stop().await;
    sleep(secs(25)).await;
    let status = controller.status();
    assert_eq!(status.phase, Phase::Running, "it goes on without");
    assert_eq!(
        status.sources[0].trouble.as_deref(),
        Some("the server does not serve it")
    );

    let (feed, second) = Feed::informer();
    let informing = second.spawn().unwrap();
    feed.list(&["ns/stays", "ns/new"]);
    cache.install(&second);
    let mut seen = log.wait_for(5).await[2..].to_vec();
    seen.sort_unstable();
    // The end of the one is told, though nobody saw it.
    assert_eq!(seen, ["ns/gone", "ns/new", "ns/stays"]);
    running.stop().await.unwrap();
    informing.stop().await;
}

/// A kind that may not be listed: its controller says so and ends, the controller of another kind goes on.
#[tokio::test(start_paused = true)]
async fn cm_01_one_broken_kind_stops_nobody_else_and_is_named_with_its_cause() {
    let forbidden = || {
        provider_fn(&Resource::namespaced("", "v1", "secrets", "Secret"), || async {
            Err::<Informer, _>("secrets is forbidden: no list at the cluster scope")
        })
    };
    let (feed, healthy) = Feed::informer();
    let informing = healthy.spawn().unwrap();
    feed.list(&["ns/a"]);
    let (one, two, three) = (Log::new(), Log::new(), Log::new());
    let broken = logging(
        Controller::builder("broken").for_(Kind::provided(forbidden())),
        &one,
    );
    let fine = logging(Controller::builder("fine").for_(&healthy), &two);
    // One that can do without.
    let lenient = logging(
        Controller::builder("lenient")
            .for_(&healthy)
            .watches(Kind::provided(forbidden()).optional(), ForObject),
        &three,
    );
    let (fine, lenient) = (fine.spawn().unwrap(), lenient.spawn().unwrap());
    let watch = Watch::start();
    let error = broken.run().await.unwrap_err();
    assert_eq!(watch.ms(), 120_000);
    let said = error.to_string();
    assert!(
        said.starts_with(r#"controller "broken" gave up after 120s: not in sync: "#)
            && said.ends_with("(secrets is forbidden: no list at the cluster scope)"),
        "{said}"
    );
    // Its object, and the resyncs of it.
    for log in [&two, &three] {
        assert!(!log.all().is_empty() && log.all().iter().all(|key| key == "ns/a"));
    }
    let status = lenient.controller().status();
    assert_eq!(status.phase, Phase::Running);
    let source = &status.sources[1];
    assert!(source.optional && !source.synced);
    assert_eq!(
        source.trouble.as_deref(),
        Some("secrets is forbidden: no list at the cluster scope")
    );
    fine.stop().await.unwrap();
    lenient.stop().await.unwrap();
    informing.stop().await;
}

#[tokio::test(start_paused = true)]
async fn t51_watches_are_added_and_dropped_while_it_runs() {
    let (feed, informer) = Feed::informer();
    let (late_feed, late) = Feed::named("late");
    let (informing, late_informing) = (informer.spawn().unwrap(), late.spawn().unwrap());
    feed.list(&["ns/a"]);
    let log = Log::new();
    let controller = logging(Controller::builder("c").watches(&informer, ForObject), &log);
    let before = controller.watch(channel("before").1).unwrap();
    let running = controller.spawn().unwrap();
    log.wait_for(1).await;
    assert_eq!(controller.status().sources.len(), 2);

    let id = running.watch(InformerSource::new(&late, ForObject)).unwrap();
    settle().await;
    assert!(
        !controller.status().sources[2].synced,
        "reconciles do not wait for it"
    );
    feed.upsert("ns/b", "2");
    log.wait_for(2).await;
    late_feed.list(&["late/a"]);
    controller.watch_synced(id).await.unwrap();
    assert_eq!(log.wait_for(3).await[2], "late/a");

    // Dropped: nothing comes from it, the other one goes on.
    assert!(running.unwatch(id) && !running.unwatch(id));
    assert!(late.status().handlers.is_empty());
    late_feed.upsert("late/b", "9");
    feed.upsert("ns/c", "3");
    assert_eq!(log.wait_for(4).await[3], "ns/c");
    settle().await;
    assert_eq!(log.all().len(), 4);
    assert!(controller.watch_synced(id).await.unwrap_err().is_ended());
    assert!(controller.unwatch(before));

    // One that cannot start ends nothing.
    late_informing.stop().await;
    let id = running.watch(InformerSource::new(&late, ForObject)).unwrap();
    let error = controller.watch_synced(id).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"controller "c" cannot follow late: informer "late" has stopped"#
    );
    assert_eq!(controller.status().phase, Phase::Running);
    running.stop().await.unwrap();
    assert!(controller.watch(channel("after").1).unwrap_err().is_ended());
    assert!(controller.status().sources.is_empty());
    informing.stop().await;
}

/// While it waits to be in sync, a source can be taken away, too: then nothing waits for it.
#[tokio::test(start_paused = true)]
async fn what_is_waited_for_can_be_dropped() {
    let (_feed, never) = Feed::informer();
    let log = Log::new();
    let (requests, source) = channel("requests");
    let controller = logging(Controller::builder("c").source(source), &log);
    let id = controller.watch(InformerSource::new(&never, ForObject)).unwrap();
    let running = controller.spawn().unwrap();
    requests.send(key("ns/a")).await.unwrap();
    sleep(secs(60)).await;
    assert!(log.all().is_empty());
    assert!(controller.unwatch(id));
    log.wait_for(1).await;
    running.stop().await.unwrap();
}

/// The gate holds for what is only read.
#[tokio::test(start_paused = true)]
async fn no_reconcile_before_what_it_reads_is_in_sync() {
    let (feed, informer) = Feed::informer();
    let (nodes_feed, nodes) = Feed::named("nodes");
    let (_a, _b) = (informer.spawn().unwrap(), nodes.spawn().unwrap());
    feed.list(&["ns/a"]);
    let (log, cache) = (Log::new(), Cache::default());
    let controller = logging(
        Controller::builder("c")
            .for_(&informer)
            .reads(&nodes)
            .source(gate(Kind::provided(cache.clone()))),
        &log,
    );
    let running = controller.spawn().unwrap();
    sleep(secs(5)).await;
    let waiting: Vec<_> = controller
        .status()
        .waiting_for
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(waiting, ["nodes".to_owned(), pods().to_string()]);
    nodes_feed.list(&["node"]);
    sleep(secs(5)).await;
    assert!(log.all().is_empty());
    cache.install(&informer);
    log.wait_for(1).await;
    assert!(
        nodes.status().handlers.is_empty(),
        "nothing is told of what is only read"
    );
    running.stop().await.unwrap();
}

/// upstream's `MapFunc` has no error, and loses the event.
#[tokio::test(start_paused = true)]
async fn a_mapping_that_fails_is_tried_again_and_loses_nothing() {
    let (feed, informer) = Feed::informer();
    let informing = informer.spawn().unwrap();
    feed.list(&[]);
    let broken = Arc::new(Mutex::new(true));
    let log = Log::new();
    let map = {
        let broken = broken.clone();
        try_map_fn(move |entry: &PodEntry| {
            if *broken.lock().unwrap() {
                assert!(entry.key.name() != "panics", "as told");
                return Err(Oops(7));
            }
            Ok(Some(ObjectKey::new(None, entry.object.app)))
        })
    };
    let controller = logging(Controller::builder("c").watches(&informer, map), &log);
    let running = controller.spawn().unwrap();
    settle().await;
    feed.upsert_pod("ns/a", "2", Pod::of("first"));
    feed.upsert_pod("ns/a", "3", Pod::of("second"));
    feed.upsert_pod("ns/a", "4", Pod::of("third"));
    feed.upsert_pod("ns/panics", "5", Pod::of("panics"));
    sleep(secs(10)).await;
    assert!(log.all().is_empty());
    let trouble = controller.status().sources[0].trouble.clone().unwrap();
    assert!(
        trouble.starts_with("2 changes could not be mapped: "),
        "{trouble}"
    );

    *broken.lock().unwrap() = false;
    sleep(secs(120)).await;
    let mut seen = log.all();
    seen.sort_unstable();
    // Resyncs repeat.
    seen.dedup();
    // The first state that nobody heard of, and the last two.
    assert_eq!(seen, ["first", "panics", "second", "third"]);
    assert_eq!(controller.status().sources[0].trouble, None);
    assert_eq!(informer.status().handlers[0].panics, 0);
    running.stop().await.unwrap();
    informing.stop().await;
}

#[tokio::test(start_paused = true)]
async fn functions_are_sources() {
    let log = Log::new();
    let ticks = task_source("ticks", |context: SourceContext<ObjectKey>| async move {
        for n in 0..3 {
            context.clock.sleep_until(context.clock.now() + secs(1)).await;
            context.enqueue(ObjectKey::new(None, &format!("tick-{n}")));
        }
    });
    let once = source_fn("once", |context: SourceContext<ObjectKey>| {
        context.enqueue(key("once"));
        Ok(Started::in_sync())
    });
    let broken = optional(source_fn("broken", |_: SourceContext<ObjectKey>| {
        Err("no way".into())
    }));
    let controller = logging(
        Controller::builder("c").source(ticks).source(once).source(broken),
        &log,
    );
    let running = controller.spawn().unwrap();
    assert_eq!(log.wait_for(4).await, ["once", "tick-0", "tick-1", "tick-2"]);
    let status = controller.status();
    assert_eq!(status.sources[2].trouble.as_deref(), Some("no way"));
    running.stop().await.unwrap();
}

fn owned(owner: &'static str, controller: bool) -> Pod {
    Pod {
        owners: vec![("apps/v1", "Deployment", owner, controller)],
        ..Pod::of("web")
    }
}

#[tokio::test(start_paused = true)]
async fn for_owns_and_the_filter_of_all() {
    let (deployments_feed, deployments) = Feed::named("deployments");
    let (pods_feed, pods) = Feed::informer();
    let (_a, _b) = (deployments.spawn().unwrap(), pods.spawn().unwrap());
    deployments_feed.list(&["ns/web"]);
    pods_feed.list(&[]);
    let kind = Resource::namespaced("apps", "v1", "deployments", "Deployment");
    let (log, asked) = (Log::new(), Log::new());
    let controller = logging(
        Builder::new()
            .for_(Kind::of(deployments).resource(&kind))
            .owns(Kind::of(pods.clone()).meta(PodMeta).every_owner())
            .with_event_filter({
                let asked = asked.clone();
                move |event| {
                    let name = event.current().key().unwrap().name().to_owned();
                    asked.push((
                        event.kind(),
                        name,
                        event.current().label("app").map(str::to_owned),
                    ));
                    event
                        .old()
                        .is_none_or(|old| old.stamp().version != event.current().stamp().version)
                }
            })
            .with_event_filter(|event| event.current().object::<Pod>().unwrap().app != "secret"),
        &log,
    );
    assert_eq!(controller.name(), "deployment");
    let running = controller.spawn().unwrap();
    assert_eq!(log.wait_for(1).await, ["ns/web"]);
    pods_feed.upsert_pod("ns/pod", "2", owned("api", false));
    assert_eq!(log.wait_for(2).await[1], "ns/api");
    // The filter stands before all: this one is dropped.
    pods_feed.upsert_pod(
        "ns/hidden",
        "3",
        Pod {
            app: "secret",
            ..owned("api", true)
        },
    );
    pods_feed.upsert_pod("ns/pod", "4", owned("web", true));
    let mut seen = log.wait_for(4).await[2..].to_vec();
    seen.sort_unstable();
    assert_eq!(seen, ["ns/api", "ns/web"], "old and new");
    settle().await;
    assert_eq!(log.all().len(), 4);
    let asked = asked.all();
    assert_eq!(
        asked[0],
        (EventKind::Added { initial: true }, "web".to_owned(), None)
    );
    assert_eq!(
        asked[1].2.as_deref(),
        Some("web"),
        "labels, where the metadata is read"
    );
    assert_eq!(asked[3].0, EventKind::Updated);
    running.stop().await.unwrap();
}

#[test]
fn the_builder_refuses_kinds_that_do_not_fit() {
    let (_feed, pods) = Feed::informer();
    let refused = |builder: Builder<ObjectKey>| {
        let builder = builder.reconcile(|_, _| async { Ok::<_, Infallible>(Action::Done) });
        builder.build().unwrap_err().to_string()
    };
    assert_eq!(
        refused(Builder::new().watches(&pods, ForObject)),
        r#"controller "" has neither a name nor a kind that it is for"#
    );
    assert_eq!(
        refused(Builder::new().named("x").for_(&pods).for_(&pods)),
        r#"controller "x" is for several kinds: for_ may be called once, watches more often"#
    );
    assert_eq!(
        refused(Controller::builder("x").for_(&pods).owns(&pods)),
        r#"controller "x" owns pods without for_ a kind whose resource is known"#
    );
    let kind = || Kind::of(pods.clone()).resource(&self::pods());
    assert_eq!(
        refused(Controller::builder("x").owns(&pods).for_(kind())),
        r#"controller "x" owns pods, whose metadata nobody reads: say it with Kind::meta"#
    );
    let blind = Kind::of(pods.clone()).meta(crate::support::Blind);
    assert_eq!(
        refused(Controller::builder("x").for_(kind()).owns(blind)),
        r#"controller "x" owns pods: mapping to owners needs the owner references of the object, which this form of object does not hold"#
    );
}

/// A view shows some of an informer's objects; what leaves it is gone.
#[tokio::test(start_paused = true)]
async fn a_view_is_watched_like_an_informer() {
    let (feed, informer) = Feed::informer();
    let _informing = informer.spawn().unwrap();
    feed.list(&["ns/a"]);
    let log = Log::new();
    let web = informer.view(|entry: &PodEntry| entry.object.app == "web");
    let controller = logging(Controller::builder("c").for_(&web), &log);
    let running = controller.spawn().unwrap();
    log.wait_for(1).await;
    feed.upsert_pod("ns/b", "2", Pod::of("db"));
    feed.upsert_pod("ns/a", "3", Pod::of("db"));
    assert_eq!(log.wait_for(2).await, ["ns/a", "ns/a"]);
    feed.upsert_pod("ns/b", "4", Pod::of("web"));
    assert_eq!(log.wait_for(3).await[2], "ns/b");
    running.stop().await.unwrap();
    assert!(informer.status().handlers.is_empty());
}

/// CF-03, live: the end of one object and the beginning of another of the same name both lead to a reconcile, which sees the new uid.
#[tokio::test(start_paused = true)]
async fn cf_03_a_recreated_object_is_reconciled_in_its_new_life() {
    use informer_controller::{GenerationChanged, KindSource};
    let (feed, informer) = Feed::informer();
    let _informing = informer.spawn().unwrap();
    feed.list(&[]);
    let log = Log::new();
    let source = KindSource::new(
        &informer,
        map_fn(|entry: &PodEntry| [(entry.key.clone(), entry.stamp.uid.to_string())]),
    )
    .predicate(GenerationChanged::new(PodMeta).unwrap());
    let controller = Controller::builder("c")
        .source(source)
        .reconcile({
            let log = log.clone();
            move |(_, uid): (ObjectKey, String), _| {
                log.push(uid);
                async { Ok::<_, Infallible>(Action::Done) }
            }
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    settle().await;
    feed.upsert_uid("ns/a", "5", "u1", 1);
    log.wait_for(1).await;
    // While the watch was down it was deleted and made anew: of the same generation, told as one upsert.
    feed.upsert_uid("ns/a", "9", "u2", 1);
    assert_eq!(log.wait_for(3).await, ["u1", "u1", "u2"]);
    // The same life again, of the same generation: dropped.
    feed.upsert_uid("ns/a", "10", "u2", 1);
    sleep(secs(1)).await;
    assert_eq!(log.all().len(), 3);
    running.stop().await.unwrap();
}

/// Leadership gates workers; with warm-up, only them.
#[tokio::test(start_paused = true)]
async fn it_reconciles_only_when_it_leads() {
    for warm_up in [false, true] {
        let (feed, informer) = Feed::informer();
        let informing = informer.spawn().unwrap();
        feed.list(&["ns/a", "ns/b"]);
        let log = Log::new();
        let controller = logging(Controller::builder("c").for_(&informer).warm_up(warm_up), &log);
        assert!(controller.needs_leader_election() && controller.warms_up() == warm_up);
        let (lead, elected) = oneshot::channel::<()>();
        let running = controller
            .spawn_when(async {
                let _ = elected.await;
            })
            .unwrap();
        sleep(secs(30)).await;
        let status = controller.status();
        assert_eq!((status.phase, status.is_ready()), (Phase::Standby, true));
        assert_eq!(status.queued, if warm_up { 2 } else { 0 });
        assert_eq!(informer.status().handlers.len(), usize::from(warm_up));
        assert!(log.all().is_empty());
        let id = running.watch(channel("later").1).unwrap();
        lead.send(()).unwrap();
        assert_eq!(log.wait_for(2).await.len(), 2);
        controller.watch_synced(id).await.unwrap();
        assert_eq!(controller.status().phase, Phase::Running);
        running.stop().await.unwrap();
        informing.stop().await;
    }
}

/// controller-runtime T8: who never led starts nothing while it stops.
#[tokio::test(start_paused = true)]
async fn one_that_never_led_starts_nothing_when_it_stops() {
    let (_feed, informer) = Feed::informer();
    let _informing = informer.spawn().unwrap();
    let log = Log::new();
    let controller = logging(Controller::builder("c").for_(&informer), &log);
    let running = controller.spawn_when(std::future::pending()).unwrap();
    settle().await;
    running.stop().await.unwrap();
    assert!(informer.status().handlers.is_empty() && log.all().is_empty());
    assert_eq!(controller.status().phase, Phase::Ended);

    // One that needs no election does not wait.
    let (feed, informer) = Feed::informer();
    let _informing = informer.spawn().unwrap();
    feed.list(&["ns/a"]);
    let everywhere = logging(
        Controller::builder("c")
            .for_(&informer)
            .needs_leader_election(false),
        &log,
    );
    let running = everywhere.spawn_when(std::future::pending()).unwrap();
    log.wait_for(1).await;
    running.stop().await.unwrap();
}

/// The order of the end: no new work, running reconciles finish and still read the cache.
#[tokio::test(start_paused = true)]
async fn cm_04_running_reconciles_finish_and_read_their_cache() {
    let (feed, informer) = Feed::informer();
    let informing = informer.spawn().unwrap();
    feed.list(&["ns/a", "ns/b"]);
    let (began, read) = (Log::new(), Log::new());
    let controller = Controller::builder("c")
        .for_(&informer)
        .reconcile({
            let (began, read, lister) = (began.clone(), read.clone(), informer.lister());
            move |key: ObjectKey, _| {
                let (began, read, lister) = (began.clone(), read.clone(), lister.clone());
                async move {
                    began.push(key.clone());
                    sleep(secs(2)).await;
                    read.push(lister.get(&key).is_some());
                    Ok::<_, Infallible>(Action::Done)
                }
            }
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    began.wait_for(1).await;
    let ended = running.stop().await.unwrap();
    assert_eq!((began.all().len(), read.all()), (1, vec![true]));
    assert_eq!((ended.left, ended.cut), (vec![key("ns/b")], vec![]));
    informing.stop().await;
    sleep(ms(1)).await;
}

/// The newest state of the object, and no call when it is gone.
#[tokio::test(start_paused = true)]
async fn a_reconciler_of_objects_is_not_called_for_what_is_gone() {
    use informer_controller::reconcile_objects;
    let (feed, informer) = Feed::informer();
    let _informing = informer.spawn().unwrap();
    feed.list(&["ns/a"]);
    let log = Log::new();
    let controller = Controller::builder("c")
        .for_(&informer)
        .reconciler(reconcile_objects(informer.store(), {
            let log = log.clone();
            move |pod: PodEntry, _| {
                log.push(pod.stamp.version.to_string());
                async { Ok::<_, Infallible>(Action::Done) }
            }
        }))
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    log.wait_for(1).await;
    feed.delete("ns/a", "2");
    feed.upsert("ns/b", "3");
    assert_eq!(log.wait_for(2).await, ["1", "3"]);
    settle().await;
    assert_eq!(controller.status().counts.succeeded, 3);
    running.stop().await.unwrap();
}
