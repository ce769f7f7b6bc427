//! Bad input: a clear error each, nothing lost, nothing poisoned.

use std::sync::{Arc, Mutex};

use informer_core::{Change, Decoded, FailureClass, Identity, SourceError, Stamp, Watched};
use informer_reflector::{ListWatch, feed};
use informer_sharedinformer::{HandlerOptions, SharedInformer, Trouble};

use crate::support::{BOTH, Log, Pod, idle, pod, tapped};

#[tokio::test(start_paused = true)]
async fn a_handler_that_is_registered_twice_is_two_handlers() {
    let (tap, informer) = tapped(BOTH[0]());
    let log = Log::default();
    let twice = [(); 2].map(|()| {
        let options = HandlerOptions::named("the same");
        informer.add_handler(log.handler(), options).unwrap()
    });
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1)], 1);
    idle().await;
    assert_eq!(log.take().len(), 2, "each is told once");
    informer.remove_handler(&twice[0]).unwrap();
    tap.modify(pod("ns/a", 2));
    idle().await;
    assert_eq!(
        log.take(),
        [r#"Updated "ns/a"@1 -> "ns/a"@2"#],
        "the other goes on"
    );
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_index_that_is_there_is_refused_and_the_one_that_is_there_stays() {
    let (tap, informer) = tapped(BOTH[0]());
    let other = |_: &Pod, emit: &mut dyn FnMut(&str)| emit("other");
    let error = informer.add_index("node", other).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"informer "pods": cannot add the index: there is an index "node" already"#
    );
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1)], 1);
    informer.synced().await.unwrap();
    assert_eq!(informer.lister().by_index("node", "node-1").unwrap().len(), 1);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn after_a_stop_nothing_can_be_added_and_all_can_be_read() {
    let (tap, informer) = tapped(BOTH[0]());
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1)], 1);
    informer.synced().await.unwrap();
    running.stop().await;
    let nothing = |_: &Change<_, _>| {};
    let refused = [
        informer.add_handler(nothing, HandlerOptions::default()).map(drop),
        informer
            .add_blocking_handler(nothing, HandlerOptions::default())
            .map(drop),
        informer
            .add_async_handler(|_: Change<_, _>| async {}, HandlerOptions::default())
            .map(drop),
        informer.subscribe(HandlerOptions::default()).map(drop),
        informer
            .view(|_| true)
            .add_handler(nothing, HandlerOptions::default())
            .map(drop),
    ];
    for refused in refused {
        assert_eq!(refused.unwrap_err().to_string(), r#"informer "pods" has stopped"#);
    }
    tap.modify(pod("ns/a", 2));
    idle().await;
    assert_eq!(informer.lister().list()[0].version, 1);
    assert!(informer.status().handlers.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_foreign_registration_is_refused_and_its_handler_goes_on() {
    let (tap, informer) = tapped(BOTH[0]());
    let (_, other) = tapped(BOTH[0]());
    let log = Log::default();
    let handler = informer
        .add_handler(log.handler(), HandlerOptions::named("mine"))
        .unwrap();
    let error = other.remove_handler(&handler).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"informer "pods" has no handler "mine": the registration is another informer's"#
    );
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1)], 1);
    idle().await;
    assert_eq!(log.len(), 1);
    informer.remove_handler(&handler).unwrap();
    informer.clone().remove_handler(&handler).unwrap();
    running.stop().await;
    informer.remove_handler(&handler).unwrap();
}

/// Objects whose names are no names: each is reported with what is wrong, and the rest flows.
#[tokio::test(start_paused = true)]
async fn objects_without_a_key_are_reported_and_left_out() {
    let named = |namespace: Option<&str>, name: &str, version: u64| Decoded {
        identity: Identity {
            namespace: namespace.map(Into::into),
            name: name.into(),
            stamp: Stamp::new(&*version.to_string(), ""),
        },
        object: Pod {
            node: "n".into(),
            version,
        },
    };
    let items = [
        named(Some("ns"), "a", 1),
        named(Some("ns"), "", 2),
        named(Some("ns"), "b/c", 3),
        named(None, "", 4),
        named(Some("ns"), "d", 5),
    ];
    let source = ListWatch::new(
        move |_| {
            let items = items.clone();
            async move { Ok::<_, SourceError>(feed::list(items, "5")) }
        },
        |request: informer_core::WatchRequest| async move {
            if request.initial_events {
                return Err(SourceError::new(
                    FailureClass::Unsupported,
                    "no streaming lists here",
                ));
            }
            Ok(feed::from_poll_fn(
                |_| -> std::task::Poll<Option<Result<Watched<Pod>, SourceError>>> {
                    std::task::Poll::Pending
                },
            ))
        },
    );
    let troubles = Arc::new(Mutex::new(Vec::new()));
    let seen = troubles.clone();
    let informer = SharedInformer::builder(source)
        .name("pods")
        .on_error(move |trouble: &Trouble| seen.lock().unwrap().push(trouble.to_string()))
        .build()
        .unwrap();
    let log = Log::default();
    informer
        .add_handler(log.handler(), HandlerOptions::default())
        .unwrap();
    let running = informer.spawn().unwrap();
    informer.synced().await.unwrap();
    idle().await;
    assert_eq!(
        log.lines(),
        [r#"Added "ns/a"@1 initial"#, r#"Added "ns/d"@5 initial"#]
    );
    let troubles = troubles.lock().unwrap().clone();
    assert_eq!(troubles.len(), 3, "{troubles:?}");
    for trouble in &troubles {
        assert!(trouble.starts_with("pods: object skipped: no key: "), "{trouble}");
    }
    assert_eq!(informer.status().source.reflector.unwrap().skipped, 3);
    running.stop().await;
}
