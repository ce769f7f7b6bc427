//! Driven from a shared informer.

use std::{convert::Infallible, sync::Arc};

use informer_controller::{
    Action, Attempt, Controller, ForObject, InformerSource, LOW_PRIORITY, VersionChanged, map_fn,
};
use informer_core::ObjectKey;
use informer_sharedinformer::HandlerOptions;

use crate::support::{Feed, Log, PodEntry, key, secs, settle, sleep};

/// A level-based reconciler that reads through the lister: a missing key means deleted.
#[tokio::test(start_paused = true)]
async fn reconciles_what_the_informer_sees() {
    let (feed, pods) = Feed::informer();
    let log = Log::new();
    let controller = Controller::builder("pods")
        .watches(&pods, ForObject)
        .reconcile({
            let (log, lister) = (log.clone(), pods.lister());
            move |key: ObjectKey, attempt: Attempt| {
                let version = lister.entry(&key).map(|entry| entry.stamp.version.to_string());
                log.push((
                    key.to_string(),
                    version.unwrap_or_else(|| "gone".to_owned()),
                    attempt.priority,
                ));
                async { Ok::<_, Infallible>(Action::Done) }
            }
        })
        .build()
        .unwrap();
    let informer = pods.spawn().unwrap();
    let running = controller.spawn().unwrap();
    settle().await;
    assert_eq!(controller.status().waiting_for, [Arc::from("pods")]);
    feed.list(&["ns/a", "ns/b"]);
    let seen = log.wait_for(2).await;
    let initial = |name: &str| (name.to_owned(), "1".to_owned(), LOW_PRIORITY);
    assert_eq!(seen, [initial("ns/a"), initial("ns/b")]);

    feed.upsert("ns/a", "5");
    log.wait_for(3).await;
    feed.delete("ns/b", "6");
    let seen = log.wait_for(4).await;
    let change = |name: &str, version: &str| (name.to_owned(), version.to_owned(), 0);
    assert_eq!(seen[2..], [change("ns/a", "5"), change("ns/b", "gone")]);

    // The resync of the informer comes at low priority, and does not disturb what is deleted.
    let seen = log.wait_for(5).await;
    assert_eq!(seen[4], ("ns/a".to_owned(), "5".to_owned(), LOW_PRIORITY));

    running.stop().await.unwrap();
    feed.upsert("ns/c", "7");
    settle().await;
    assert_eq!(log.all().len(), 5);
    assert!(pods.status().handlers.is_empty(), "the handler is still there");
    informer.stop().await;
}

#[tokio::test(start_paused = true)]
async fn late_and_filtered_and_mapped() {
    let (feed, pods) = Feed::informer();
    let informer = pods.spawn().unwrap();
    feed.list(&["ns/a", "ns/b", "other/c"]);
    pods.synced().await.unwrap();

    let log = Log::new();
    let namespaces = map_fn(|entry: &PodEntry| entry.key.namespace().map(str::to_owned));
    let source = InformerSource::new(&pods, namespaces)
        .predicate(VersionChanged)
        .options(HandlerOptions::named("by-namespace"));
    let controller = Controller::builder("namespaces")
        .source(source)
        .reconcile({
            let log = log.clone();
            move |namespace: String, _: Attempt| {
                log.push(namespace);
                async { Ok::<_, Infallible>(Action::Done) }
            }
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    assert_eq!(log.wait_for(2).await, ["ns", "other"]);
    assert_eq!(&*pods.status().handlers[0].name, "by-namespace");
    // Resyncs do not pass.
    sleep(secs(600)).await;
    assert_eq!(log.all().len(), 2);
    feed.delete("other/c", "9");
    assert_eq!(log.wait_for(3).await[2], "other");
    drop(running);
    informer.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_informer_that_has_stopped_is_named() {
    let (_feed, pods) = Feed::informer();
    let build = || {
        Controller::builder("c")
            .watches(&pods, ForObject)
            .reconcile(|_: ObjectKey, _| async { Ok::<_, Infallible>(Action::Done) })
            .build()
            .unwrap()
    };
    let (early, late) = (build(), build());
    let running = early.spawn().unwrap();
    settle().await;
    pods.stop();
    let error = running.ended().await.unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with(r#"controller "c" cannot follow pods: "#),
        "{error}"
    );
    let error = late.run().await.unwrap_err();
    assert_eq!(error.sources(), [Arc::from("pods")]);
}

/// The initial objects are in the queue before the first reconcile.
#[tokio::test(start_paused = true)]
async fn t52_all_initial_objects_are_enqueued_before_the_first_reconcile() {
    let (feed, pods) = Feed::informer();
    let names: Vec<String> = (0..100_000).map(|n| format!("ns/{n:06}")).collect();
    let log = Log::new();
    let controller = Controller::builder("pods")
        .watches(&pods, ForObject)
        .build_with(&log);
    let informer = pods.spawn().unwrap();
    let running = controller.spawn().unwrap();
    feed.list(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let seen = log.wait_for(100_000).await;
    assert_eq!(seen[0], (key("ns/000000"), 99_999));
    drop(running);
    informer.stop().await;
}

trait BuildWith {
    fn build_with(self, log: &Log<(ObjectKey, usize)>) -> Controller<ObjectKey>;
}

impl BuildWith for informer_controller::Builder<ObjectKey> {
    /// Logs each key and how many wait behind it.
    fn build_with(self, log: &Log<(ObjectKey, usize)>) -> Controller<ObjectKey> {
        let cell = Arc::new(std::sync::OnceLock::<Controller<ObjectKey>>::new());
        let (log, queue) = (log.clone(), cell.clone());
        let controller = self
            .reconcile(move |key: ObjectKey, _| {
                log.push((key, queue.get().map_or(0, |it| it.queue().len())));
                async { Ok::<_, Infallible>(Action::Done) }
            })
            .build()
            .unwrap();
        cell.set(controller.clone()).unwrap();
        controller
    }
}
