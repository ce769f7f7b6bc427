//! A kube watcher as the source of an informer.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::{StreamExt as _, stream};
use informer_core::{Change, Clock as _, FailureClass, IndexError, IndexFunc, ObjectKey, TokioClock};
use informer_kube::{WatcherSource, class_of};
use informer_sharedinformer::{BacklogPolicy, HandlerOptions, SharedInformer, Trouble};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, ResourceExt as _,
    core::Status,
    runtime::{
        WatchStreamExt as _,
        watcher::{self, Event, watcher},
    },
};

use crate::support::{kube_client, maps, put, serve, soon, until};

fn map(name: &str, version: u32) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(name.to_owned());
    map.metadata.namespace = Some("default".to_owned());
    map.metadata.resource_version = Some(version.to_string());
    map.metadata.uid = Some(format!("uid-{name}"));
    map
}

/// Changes as words.
#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn of(informer: &SharedInformer<ObjectKey, ConfigMap>) -> Self {
        let diary = Self::default();
        let lines = diary.0.clone();
        let note = move |change: &Change<ObjectKey, ConfigMap>| {
            let name = change.key().name();
            let line = match change {
                Change::Added { .. } => format!("+{name}"),
                Change::Updated { .. } => format!("~{name}"),
                Change::Removed { observed: true, .. } => format!("-{name}"),
                Change::Removed { .. } => format!("?{name}"),
                Change::Resynced { .. } => format!("={name}"),
            };
            lines.lock().unwrap().push(line);
        };
        informer.add_handler(note, HandlerOptions::default()).unwrap();
        diary
    }

    async fn reads(&self, wanted: &str) {
        let is_so = || self.0.lock().unwrap().join(" ") == wanted;
        let mut ticks = tokio::time::interval(Duration::from_millis(5));
        for _ in 0..4000 {
            if is_so() {
                return;
            }
            ticks.tick().await;
        }
        assert_eq!(self.0.lock().unwrap().join(" "), wanted);
    }
}

#[tokio::test]
async fn a_program_keeps_its_watcher_and_gains_an_informer() {
    for config in [
        watcher::Config::default().page_size(2),
        watcher::Config::default().streaming_lists(),
    ] {
        let server = serve().await;
        put(&server, &["a", "b", "c"]);
        let api: Api<ConfigMap> = Api::all(kube_client(&server));
        let source = WatcherSource::new(move || {
            watcher(api.clone(), config.clone())
                .default_backoff()
                .modify(|map| drop(map.annotations_mut().insert("seen".to_owned(), String::new())))
        });
        let informer = SharedInformer::fed_by(source)
            .index("app", |map: &ConfigMap, emit: &mut dyn FnMut(&str)| {
                map.labels().get("app").into_iter().for_each(|app| emit(app));
            })
            .build()
            .unwrap();
        let diary = Diary::of(&informer);
        let running = informer.spawn().unwrap();
        informer.wait_synced(Duration::from_secs(60)).await.unwrap();
        diary.reads("+a +b +c").await;
        let found = informer.lister().by_index("app", "b").unwrap();
        assert!(found[0].annotations().contains_key("seen"));
        put(&server, &["d"]);
        server
            .with(|api| api.delete(&maps(), Some("default"), "a"))
            .unwrap();
        diary.reads("+a +b +c +d -a").await;
        // Late handlers, which no watcher has.
        let late = Diary::of(&informer);
        late.reads("+b +c +d").await;
        assert!(
            informer
                .store()
                .snapshot()
                .applied()
                .as_str()
                .parse::<u64>()
                .unwrap()
                > 0
        );
        soon("the stop", running.stop()).await;
        server.shutdown().await;
    }
}

fn refused() -> watcher::Error {
    let status = Status::failure("no", "Forbidden").with_code(403);
    watcher::Error::InitialListFailed(kube::Error::Api(Box::new(status)))
}

type Item = watcher::Result<Event<ConfigMap>>;

/// Streams that tell so much and then wait, or end.
fn streams(scripts: Vec<(Vec<Item>, bool)>) -> (WatcherSource<ConfigMap>, Arc<AtomicUsize>) {
    let n_made = Arc::new(AtomicUsize::new(0));
    let counts = n_made.clone();
    let mut scripts = scripts.into_iter();
    let source = WatcherSource::new(move || {
        counts.fetch_add(1, Ordering::SeqCst);
        let (items, ends) = scripts.next().unwrap_or_default();
        let rest = if ends {
            stream::empty().boxed()
        } else {
            stream::pending().boxed()
        };
        stream::iter(items).chain(rest)
    });
    (source.seed(7), n_made)
}

#[tokio::test(start_paused = true)]
async fn errors_show_in_the_status_and_are_waited_out() {
    let list = |names: &[&str]| {
        let items = names.iter().map(|name| Ok(Event::InitApply(map(name, 1))));
        let mut all = vec![Ok(Event::Init)];
        all.extend(items);
        all.push(Ok(Event::InitDone));
        all
    };
    // As a watcher does that may not list: `Init`, a failure, `Init`, a failure.
    let mut script: Vec<Item> = Vec::new();
    for _ in 0..4 {
        script.extend([Ok(Event::Init), Err(refused())]);
    }
    script.extend(list(&["a"]));
    let (source, _) = streams(vec![(script, false)]);
    let troubles = Arc::new(Mutex::new(Vec::new()));
    let heard = troubles.clone();
    let began = TokioClock.now();
    let informer = SharedInformer::fed_by(source)
        .on_error(move |trouble| {
            if let Trouble::Source { class, error } = trouble {
                let at = TokioClock.now() - began;
                heard.lock().unwrap().push((*class, error.to_string(), at));
            }
        })
        .build()
        .unwrap();
    let running = informer.spawn().unwrap();
    until("an error", || !troubles.lock().unwrap().is_empty()).await;
    let status = informer.status();
    assert_eq!(status.source.class, Some(FailureClass::Forbidden));
    assert!(status.source.error.as_ref().unwrap().contains("no"), "{status:?}");
    informer.wait_synced(Duration::from_secs(600)).await.unwrap();
    let status = informer.status();
    assert_eq!(
        (status.source.class, status.source.phase.as_deref()),
        (None, Some("watching"))
    );
    let troubles = troubles.lock().unwrap().clone();
    assert_eq!(troubles.len(), 4);
    // `Init` is no health: the delays grow, as ours do, and not by the stream's will.
    let gaps: Vec<Duration> = troubles.windows(2).map(|two| two[1].2 - two[0].2).collect();
    assert!(
        gaps[0] >= Duration::from_millis(800) && gaps[1] >= Duration::from_millis(1600),
        "{gaps:?}"
    );
    assert!(
        gaps[2] >= Duration::from_millis(3200) && gaps[2] < Duration::from_secs(7),
        "{gaps:?}"
    );
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_ends_is_made_anew() {
    let first = vec![
        Ok(Event::Init),
        Ok(Event::InitApply(map("a", 1))),
        Ok(Event::InitApply(map("b", 2))),
        Ok(Event::InitDone),
        // Broken off within the next list.
        Ok(Event::Init),
        Ok(Event::InitApply(map("c", 3))),
    ];
    let second = vec![
        Ok(Event::Init),
        Ok(Event::InitApply(map("b", 2))),
        Ok(Event::InitApply(map("d", 4))),
        Ok(Event::InitDone),
    ];
    let (source, n_made) = streams(vec![(first, true), (second, false)]);
    let informer = SharedInformer::fed_by(source).build().unwrap();
    let diary = Diary::of(&informer);
    let running = informer.spawn().unwrap();
    diary.reads("+a +b ?a +d").await;
    assert_eq!(n_made.load(Ordering::SeqCst), 2);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn one_stream_ends_with_its_source() {
    let events: Vec<Item> = vec![
        Ok(Event::Apply(map("too-early", 1))),
        Ok(Event::Init),
        Ok(Event::InitApply(map("a", 1))),
        Ok(Event::InitDone),
    ];
    let troubles = Arc::new(Mutex::new(Vec::new()));
    let heard = troubles.clone();
    let informer = SharedInformer::fed_by(WatcherSource::once(stream::iter(events)))
        .on_error(move |trouble| heard.lock().unwrap().push(trouble.to_string()))
        .build()
        .unwrap();
    let running = informer.spawn().unwrap();
    informer.wait_synced(Duration::from_secs(60)).await.unwrap();
    until("both troubles", || troubles.lock().unwrap().len() == 2).await;
    let troubles = troubles.lock().unwrap().clone();
    assert!(
        troubles[0].contains("does not begin with its first event"),
        "{troubles:?}"
    );
    assert_eq!(troubles[1], Trouble::SourceEnded.to_string());
    assert_eq!(informer.store().len(), 1);
    running.stop().await;
}

#[test]
fn errors_of_a_watcher_have_a_class() {
    let status = |code: u16, reason: &str| Box::new(Status::failure("why", reason).with_code(code));
    let of = |error: &watcher::Error| class_of(error);
    assert_eq!(of(&refused()), FailureClass::Forbidden);
    assert_eq!(
        of(&watcher::Error::WatchError(status(410, "Expired"))),
        FailureClass::Expired
    );
    let started = watcher::Error::WatchStartFailed(kube::Error::Api(status(401, "Unauthorized")));
    assert_eq!(of(&started), FailureClass::Unauthorized);
    let io = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
    let failed = watcher::Error::WatchFailed(kube::Error::Service(Box::new(io)));
    assert_eq!(of(&failed), FailureClass::Refused);
    let io = std::io::Error::from(std::io::ErrorKind::ConnectionReset);
    let failed = watcher::Error::WatchFailed(kube::Error::ReadEvents(io));
    assert_eq!(of(&failed), FailureClass::Transient);
    assert_eq!(of(&watcher::Error::NoResourceVersion), FailureClass::Unsupported);
}

/// What the store goes on refusing is asked for anew: from another stream.
#[tokio::test(start_paused = true)]
async fn the_informer_may_want_another_list() {
    struct Moody(Arc<AtomicBool>);

    impl IndexFunc<ConfigMap> for Moody {
        fn values(&self, _: &ConfigMap, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
            if self.0.load(Ordering::SeqCst) {
                return Err(IndexError::new("not today"));
            }
            emit("fine");
            Ok(())
        }
    }

    let list = |version| {
        vec![
            Ok(Event::Init),
            Ok(Event::InitApply(map("a", version))),
            Ok(Event::InitDone),
        ]
    };
    let mut first: Vec<Item> = list(1);
    first.push(Ok(Event::Apply(map("a", 2))));
    let (source, n_made) = streams(vec![(first, false), (list(3), false), (list(4), false)]);
    let moody = Arc::new(AtomicBool::new(true));
    let informer = SharedInformer::fed_by(source)
        .index("mood", Moody(moody.clone()))
        .build()
        .unwrap();
    let running = informer.spawn().unwrap();
    until("another stream", || n_made.load(Ordering::SeqCst) >= 2).await;
    moody.store(false, Ordering::SeqCst);
    let lister = informer.lister();
    until("the object", || {
        let key = ObjectKey::namespaced("default", "a");
        lister
            .get(&key)
            .is_some_and(|map| map.resource_version().as_deref() >= Some("3"))
    })
    .await;
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_holds_the_watcher_back() {
    const N: u32 = 20_000;
    let n_read = Arc::new(AtomicUsize::new(0));
    let counts = n_read.clone();
    let changes = (1..=N).map(|version| Ok(Event::Apply(map("a", version))));
    let events = [Ok(Event::Init), Ok(Event::InitDone)].into_iter().chain(changes);
    let events = stream::iter(events).inspect(move |_| {
        counts.fetch_add(1, Ordering::SeqCst);
    });
    let source = WatcherSource::once(events.chain(stream::pending()));
    let informer = SharedInformer::fed_by(source).build().unwrap();
    let policy = BacklogPolicy::Block { limit: 4 };
    let mut slow = informer
        .subscribe(HandlerOptions::default().backlog(policy))
        .unwrap();
    let running = informer.spawn().unwrap();
    informer.wait_synced(Duration::from_secs(60)).await.unwrap();
    // Until nothing moves any more.
    let mut before = usize::MAX;
    while before != n_read.load(Ordering::SeqCst) {
        before = n_read.load(Ordering::SeqCst);
        TokioClock
            .sleep_until(TokioClock.now() + Duration::from_secs(1))
            .await;
    }
    assert!(
        before < N as usize / 2,
        "{before} events were read, and none was asked for"
    );
    let mut last = 0;
    while last < N {
        let change = slow.next().await.unwrap();
        let version = change.entry().stamp.version.as_str().parse().unwrap();
        assert_eq!(version, last + 1);
        last = version;
    }
    running.stop().await;
}
