//! What the store refuses: visible, tried again, and in nobody's way.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    task::Poll,
    time::Duration,
};

use informer_core::{Decoded, Identity, IndexError, IndexFunc, SourceError, Stamp};
use informer_reflector::{ListWatch, Start, feed};
use informer_sharedinformer::{HandlerOptions, ReflectorOptions, SharedInformer, Trouble};

use crate::support::{BOTH, Log, Pod, Tap, assert_gapless, idle, key, pass, pod};

/// Refuses version 2 while it is told to.
struct Picky(Arc<AtomicBool>);

impl IndexFunc<Pod> for Picky {
    fn values(&self, pod: &Pod, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        if pod.version == 2 && self.0.load(Ordering::Relaxed) {
            return Err(IndexError::new("two is not indexed"));
        }
        emit(&pod.node);
        Ok(())
    }
}

/// A coalescing queue drops the delete of an object that the store does not have: the refused one must not come back after it.
#[tokio::test(start_paused = true)]
async fn a_refused_object_that_is_deleted_or_not_listed_any_more_does_not_come_back() {
    for queue in BOTH {
        for by_list in [false, true] {
            let picky = Arc::new(AtomicBool::new(true));
            let tap = Tap::default();
            let informer = SharedInformer::fed_by(tap.clone())
                .queue(queue())
                .index("node", Picky(picky.clone()))
                .build()
                .unwrap();
            let log = Log::default();
            informer
                .add_handler(log.handler(), HandlerOptions::default())
                .unwrap();
            let running = informer.spawn().unwrap();
            tap.list([pod("ns/a", 1), pod("ns/b", 2)], 2);
            idle().await;
            assert_eq!(informer.status().refused, 1);
            if by_list {
                tap.list([pod("ns/a", 1)], 3);
            } else {
                tap.delete(pod("ns/b", 3));
            }
            idle().await;
            picky.store(false, Ordering::Relaxed);
            pass(Duration::from_secs(20)).await;
            assert!(informer.status().healthy);
            assert_eq!(informer.store().len(), 1, "by a list: {by_list}");
            assert_eq!(log.lines().len(), 1, "{:?}", log.lines());
            running.stop().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_object_holds_nobody_up_and_is_stored_when_it_can_be() {
    for queue in BOTH {
        let picky = Arc::new(AtomicBool::new(true));
        let troubles = Arc::new(Mutex::new(Vec::new()));
        let seen = troubles.clone();
        let tap = Tap::default();
        let informer = SharedInformer::fed_by(tap.clone())
            .queue(queue())
            .index("node", Picky(picky.clone()))
            .on_error(move |trouble: &Trouble| seen.lock().unwrap().push(trouble.to_string()))
            .build()
            .unwrap();
        let log = Log::default();
        let handler = informer
            .add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        tap.list([pod("ns/a", 1), pod("ns/b", 2), pod("ns/c", 3)], 3);
        idle().await;
        assert!(informer.has_synced() && handler.has_synced());
        assert_eq!(informer.store().len(), 2);
        let status = informer.status();
        assert!(!status.healthy);
        assert_eq!(status.commit_failures, 1);
        assert!(status.last_commit_error.unwrap().contains("two is not indexed"));
        assert_eq!((status.refused, status.refusals.len()), (1, 1));
        assert_eq!(&*status.refusals[0].key, r#""ns/b""#);
        assert_eq!(&*status.refusals[0].why, r#"index "node": two is not indexed"#);
        assert!(troubles.lock().unwrap()[0].contains("ns/b"));
        // Others flow on, and it is tried again now and then.
        tap.modify(pod("ns/c", 4));
        pass(Duration::from_secs(1)).await;
        assert_eq!(informer.store().get(&key("ns/c")).unwrap().object.version, 4);
        let tries = informer.status().commit_failures;
        assert!((3..=6).contains(&tries), "{tries} tries");
        picky.store(false, Ordering::Relaxed);
        pass(Duration::from_secs(20)).await;
        assert_eq!(informer.store().get(&key("ns/b")).unwrap().object.version, 2);
        assert!(informer.status().healthy);
        assert_eq!(assert_gapless(&log.changes()).len(), 3);
        running.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_later_state_makes_a_refused_one_moot() {
    for queue in BOTH {
        let picky = Arc::new(AtomicBool::new(true));
        let tap = Tap::default();
        let informer = SharedInformer::fed_by(tap.clone())
            .queue(queue())
            .index("node", Picky(picky.clone()))
            .build()
            .unwrap();
        let log = Log::default();
        informer
            .add_handler(log.handler(), HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        tap.list([pod("ns/a", 1)], 1);
        idle().await;
        tap.modify(pod("ns/a", 2));
        idle().await;
        assert!(!informer.status().healthy);
        tap.modify(pod("ns/a", 3));
        idle().await;
        assert!(informer.status().healthy);
        tap.modify(pod("ns/a", 2));
        idle().await;
        tap.delete(pod("ns/a", 5));
        idle().await;
        picky.store(false, Ordering::Relaxed);
        pass(Duration::from_secs(30)).await;
        let expected = [
            r#"Added "ns/a"@1 initial"#,
            r#"Updated "ns/a"@1 -> "ns/a"@3"#,
            r#"Removed "ns/a"@5"#,
        ];
        assert_eq!(log.lines(), expected);
        assert!(informer.status().healthy && informer.store().is_empty());
        running.stop().await;
    }
}

/// The server's state, which lists and a watch on which nothing happens tell.
fn server(lists: &Arc<AtomicUsize>) -> ListWatch<Pod> {
    let lists = lists.clone();
    ListWatch::new(
        move |_| {
            lists.fetch_add(1, Ordering::Relaxed);
            async move {
                let items = [1, 2].map(|version| Decoded {
                    identity: Identity {
                        namespace: Some("ns".into()),
                        name: format!("pod-{version}").into(),
                        stamp: Stamp::new(&*version.to_string(), ""),
                    },
                    object: Pod {
                        node: "n".into(),
                        version,
                    },
                });
                Ok::<_, SourceError>(feed::list(items, "2"))
            }
        },
        |_| async move {
            Ok::<_, SourceError>(feed::from_poll_fn(|_| {
                Poll::<Option<Result<_, SourceError>>>::Pending
            }))
        },
    )
}

#[tokio::test(start_paused = true)]
async fn what_stays_refused_makes_the_source_list_again_and_ever_more_seldom() {
    let (picky, lists) = (Arc::new(AtomicBool::new(true)), Arc::default());
    let troubles = Arc::new(Mutex::new(Vec::new()));
    let seen = troubles.clone();
    let mut options = ReflectorOptions::default();
    options.start = Start::List;
    let informer = SharedInformer::builder(server(&lists))
        .reflector_options(options)
        .index("node", Picky(picky.clone()))
        .on_error(move |trouble: &Trouble| seen.lock().unwrap().push(trouble.to_string()))
        .build()
        .unwrap();
    let log = Log::default();
    informer
        .add_handler(log.handler(), HandlerOptions::default())
        .unwrap();
    let running = informer.spawn().unwrap();
    pass(Duration::from_secs(1)).await;
    assert_eq!(lists.load(Ordering::Relaxed), 1, "it may pass by itself");
    // Retries end their first round after 3.1 s, and the reflector's own wait follows.
    pass(Duration::from_secs(5)).await;
    assert_eq!(lists.load(Ordering::Relaxed), 2);
    let told = |text: &str| troubles.lock().unwrap().iter().any(|it| it == text);
    assert!(told(
        "1 objects stay refused by the store: the source lists again"
    ));
    pass(Duration::from_secs(600)).await;
    let n_lists = lists.load(Ordering::Relaxed);
    assert!((4..=8).contains(&n_lists), "{n_lists} lists in ten minutes");
    assert!(!informer.status().healthy);
    assert_eq!(
        log.lines(),
        [r#"Added "ns/pod-1"@1 initial"#],
        "relists are silent"
    );
    picky.store(false, Ordering::Relaxed);
    pass(Duration::from_secs(60)).await;
    assert!(informer.status().healthy && informer.status().refusals.is_empty());
    assert_eq!(informer.store().len(), 2);
    let n_lists = lists.load(Ordering::Relaxed);
    pass(Duration::from_secs(600)).await;
    assert_eq!(lists.load(Ordering::Relaxed), n_lists, "all is well");
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_relist_ends_the_trouble_that_the_watch_brought() {
    // The store refuses one state of the watch for good; the list then tells a later one.
    let relists = Arc::new(AtomicUsize::new(0));
    let asked = relists.clone();
    let tap = Tap::default();
    let informer = SharedInformer::fed_by(tap.clone().on_relist(move || {
        asked.fetch_add(1, Ordering::Relaxed);
    }))
    .index("node", Picky(Arc::new(AtomicBool::new(true))))
    .build()
    .unwrap();
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1)], 1);
    idle().await;
    tap.modify(pod("ns/a", 2));
    pass(Duration::from_secs(4)).await;
    assert_eq!(relists.load(Ordering::Relaxed), 1);
    tap.list([pod("ns/a", 3)], 3);
    idle().await;
    assert!(informer.status().healthy);
    pass(Duration::from_secs(600)).await;
    assert_eq!(relists.load(Ordering::Relaxed), 1);
    running.stop().await;
}
