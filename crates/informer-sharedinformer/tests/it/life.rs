//! Start, status, waiting, stop.

use std::{sync::Arc, task::Poll, time::Duration};

use informer_core::{BoxFeed, Change, Decoded, FailureClass, Listed, SourceError, Watched};
use informer_reflector::{ListWatch, feed};
use informer_sharedinformer::{HandlerOptions, Phase, SharedInformer, Sink, Trouble};

use crate::support::{BOTH, Log, Pod, idle, key, pass, pod, tapped};

#[tokio::test(start_paused = true)]
async fn an_informer_runs_once() {
    let (tap, informer) = tapped(BOTH[0]());
    assert_eq!(informer.status().phase, Phase::Idle);
    let running = informer.spawn().unwrap();
    let again = informer.run().await.unwrap_err();
    assert!(again.is_second_run());
    assert_eq!(
        again.to_string(),
        r#"informer "pods" was run already: an informer runs once"#
    );
    assert_eq!(informer.status().phase, Phase::Syncing);
    tap.list([], 1);
    informer.synced().await.unwrap();
    assert_eq!(informer.status().phase, Phase::Synced);
    running.stop().await;
    assert_eq!(informer.status().phase, Phase::Stopped);
    assert!(informer.has_synced());
    assert!(informer.spawn().unwrap_err().is_second_run());
    let refused = informer
        .add_handler(|_: &Change<_, _>| {}, HandlerOptions::default())
        .unwrap_err();
    assert_eq!(refused.to_string(), r#"informer "pods" has stopped"#);
}

#[tokio::test(start_paused = true)]
async fn what_ran_is_stopped_with_what_held_it() {
    let (tap, informer) = tapped(BOTH[0]());
    let log = Log::default();
    informer
        .add_handler(log.handler(), HandlerOptions::default())
        .unwrap();
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1)], 1);
    idle().await;
    drop(running);
    tap.modify(pod("ns/a", 2));
    informer.ended().await;
    assert!(informer.is_stopped());
    assert_eq!(log.len(), 1);
    assert_eq!(informer.store().get(&key("ns/a")).unwrap().object.version, 1);
}

#[tokio::test(start_paused = true)]
async fn a_detached_run_goes_on() {
    let (tap, informer) = tapped(BOTH[0]());
    informer.spawn().unwrap().detach();
    tap.list([pod("ns/a", 1)], 1);
    informer.synced().await.unwrap();
    informer.stop();
    informer.ended().await;
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_fails_says_what_the_source_is_doing() {
    let forbidden = || SourceError::new(FailureClass::Forbidden, "pods is forbidden");
    let source: ListWatch<Pod> = ListWatch::new(
        move |_| async move { Err::<BoxFeed<Listed<Pod>>, _>(forbidden()) },
        move |_| async move { Err::<BoxFeed<Watched<Pod>>, _>(forbidden()) },
    );
    let informer = SharedInformer::builder(source).name("pods").build().unwrap();
    let early = informer.wait_synced(Duration::from_secs(1)).await.unwrap_err();
    assert_eq!(
        early.to_string(),
        r#"informer "pods" is not in sync after 1s: it was not run"#
    );
    let running = informer.spawn().unwrap();
    let error = informer.wait_synced(Duration::from_secs(5)).await.unwrap_err();
    assert_eq!(
        (error.name(), error.class()),
        ("pods", Some(FailureClass::Forbidden))
    );
    let text = error.to_string();
    assert!(
        text.starts_with(r#"informer "pods" is not in sync after 5s: "#),
        "{text}"
    );
    assert!(text.contains("pods is forbidden"), "{text}");
    let status = informer.status();
    assert!(status.source.reflector.is_some_and(|it| it.failures > 0));
    informer.stop();
    let error = informer.wait_synced(Duration::from_secs(5)).await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with(r#"informer "pods" stopped before it was in sync"#)
    );
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_reflector_fills_an_informer() {
    let decoded = |name: &str, version: u64| Decoded {
        identity: informer_core::Identity {
            namespace: Some("ns".into()),
            name: name.into(),
            stamp: informer_core::Stamp::new(&*version.to_string(), ""),
        },
        object: Pod {
            node: "n".into(),
            version,
        },
    };
    let source = ListWatch::new(
        move |_| async move { Ok::<_, SourceError>(feed::list([decoded("a", 1), decoded("b", 2)], "2")) },
        move |_| async move {
            Ok::<_, SourceError>(feed::from_poll_fn(|_| -> Poll<Option<Result<_, SourceError>>> {
                Poll::Pending
            }))
        },
    );
    let mut options = informer_sharedinformer::ReflectorOptions::default();
    options.start = informer_reflector::Start::List;
    let informer = SharedInformer::builder(source)
        .name("pods")
        .transform(|_: &informer_core::Identity, pod: &mut Pod| {
            pod.node.push('!');
            Ok(())
        })
        .reflector_options(options)
        .build()
        .unwrap();
    let running = informer.spawn().unwrap();
    informer.wait_synced(Duration::from_secs(5)).await.unwrap();
    assert_eq!(informer.lister().get(&key("ns/a")).unwrap().node, "n!");
    assert_eq!(informer.status().source.reflector.unwrap().name, "pods".into());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_source_that_ends_leaves_the_store_and_says_so() {
    let troubles = Arc::new(std::sync::Mutex::new(Vec::new()));
    let seen = troubles.clone();
    let informer = SharedInformer::fed_by(|mut sink: Sink<_, Pod>| async move {
        informer_core::DeltaSink::push(
            &mut sink,
            informer_core::Delta::Replace {
                items: vec![pod("ns/a", 1)],
                unreadable: Vec::new(),
                at: "1".into(),
                may_rewind: false,
            },
        );
    })
    .on_error(move |trouble: &Trouble| seen.lock().unwrap().push(trouble.to_string()))
    .build()
    .unwrap();
    let running = informer.spawn().unwrap();
    informer.synced().await.unwrap();
    pass(Duration::from_secs(1)).await;
    assert_eq!(*troubles.lock().unwrap(), ["the source ended"]);
    assert_eq!(informer.store().len(), 1);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn parts_that_do_not_fit_are_refused() {
    let emit = |_: &Pod, _: &mut dyn FnMut(&str)| {};
    let twice = SharedInformer::fed_by(crate::support::Tap::default())
        .index("node", emit)
        .index("node", emit)
        .build();
    assert_eq!(
        twice.unwrap_err().to_string(),
        r#"informer "informer": there is an index "node" already"#
    );
    let (tap, informer) = tapped(BOTH[0]());
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1)], 1);
    informer.synced().await.unwrap();
    assert!(informer.add_index("node", emit).is_err());
    informer
        .add_index("all", |_: &Pod, emit: &mut dyn FnMut(&str)| emit("x"))
        .unwrap();
    assert_eq!(informer.lister().by_index("all", "x").unwrap().len(), 1);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_error_hook_may_ask_the_informer_and_may_panic() {
    let tap = crate::support::Tap::default();
    let asked: Arc<std::sync::Mutex<Vec<usize>>> = Arc::default();
    let own: Arc<std::sync::OnceLock<crate::support::Informer>> = Arc::default();
    let (asks, own_in) = (asked.clone(), own.clone());
    let refuse = |_: &Pod, _: &mut dyn FnMut(&str)| panic!("no index today");
    let informer = SharedInformer::fed_by(tap.clone())
        .index("node", refuse)
        .on_error(move |_: &Trouble| {
            let informer = own_in.get().unwrap();
            asks.lock().unwrap().push(informer.status().objects);
            panic!("the hook itself is broken");
        })
        .build()
        .unwrap();
    own.set(informer.clone()).unwrap();
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1)], 1);
    informer.synced().await.unwrap();
    idle().await;
    assert_eq!(*asked.lock().unwrap(), [0]);
    assert!(!informer.status().healthy);
    running.stop().await;
}

#[test]
fn a_run_that_is_dropped_before_it_was_polled_has_ended() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
    };
    let (_, informer) = tapped(BOTH[0]());
    let handler = informer
        .add_handler(|_: &Change<_, _>| {}, HandlerOptions::default())
        .unwrap();
    let first = runtime();
    first.block_on(async { informer.spawn().unwrap().detach() });
    drop(first);
    assert!(informer.is_stopped());
    runtime().block_on(async {
        informer.ended().await;
        handler.removed().await;
    });
}

#[test]
fn what_a_program_holds_can_be_sent_to_other_tasks() {
    fn sent<T: Send>(_: &T) {}
    fn shared<T: Send + Sync>(_: &T) {}
    let (_, informer) = tapped(BOTH[0]());
    shared(&informer);
    shared(&informer.lister());
    let handler = informer
        .add_handler(|_: &Change<_, _>| {}, HandlerOptions::default())
        .unwrap();
    shared(&handler);
    sent(&handler.synced());
    sent(&handler.removed());
    sent(&informer.subscribe(HandlerOptions::default()).unwrap());
    sent(&informer.synced());
    sent(&informer.wait_synced(Duration::ZERO));
    sent(&informer.run());
}
