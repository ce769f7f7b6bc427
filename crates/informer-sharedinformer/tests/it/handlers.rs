//! The forms of handlers: on a task, asynchronous, on a thread, as a stream; panics and removal.

use std::{
    pin::pin,
    sync::{Arc, Mutex, mpsc},
    time::Duration,
};

use futures_core::Stream as _;
use informer_core::Change;
use informer_sharedinformer::{HandlerOptions, Registration, Trouble};
use tokio::{sync::Notify, task::yield_now};

use crate::support::{BOTH, Log, Tap, idle, pass, pod, tapped};

#[tokio::test]
async fn a_blocking_handler_has_a_thread_of_its_own() {
    let (tap, informer) = tapped(BOTH[0]());
    let log = Log::default();
    let (told, hears) = mpsc::channel();
    let (go, wait) = mpsc::channel::<()>();
    let mut record = log.handler();
    let handler = move |change: &Change<_, _>| {
        told.send(std::thread::current().name().map(str::to_owned))
            .unwrap();
        wait.recv().unwrap();
        record(change);
    };
    let handler = informer
        .add_blocking_handler(handler, HandlerOptions::named("worker"))
        .unwrap();
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1), pod("ns/b", 2)], 2);
    informer.synced().await.unwrap();
    // It blocks in its first call, and nobody else does.
    let name = tokio::task::spawn_blocking(move || (hears.recv().unwrap(), hears));
    let (name, hears) = name.await.unwrap();
    assert_eq!(name.as_deref(), Some("worker"));
    assert!(!handler.has_synced());
    assert_eq!(handler.backlog(), 1);
    go.send(()).unwrap();
    go.send(()).unwrap();
    handler.synced().await.unwrap();
    assert_eq!(log.len(), 2);
    drop(hears);
    assert!(running.stop().await.still_running.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_subscription_is_a_stream_and_handles_a_change_when_the_next_is_asked_for() {
    let (tap, informer) = tapped(BOTH[0]());
    let mut changes = informer.subscribe(HandlerOptions::default()).unwrap();
    let registration = changes.registration();
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1), pod("ns/b", 2)], 2);
    let first = changes.next().await.unwrap();
    assert_eq!(format!("{first:?}"), r#"Added "ns/a"@1 initial"#);
    {
        let mut stream = pin!(&mut changes);
        let second = std::future::poll_fn(|cx| stream.as_mut().poll_next(cx))
            .await
            .unwrap();
        assert_eq!(format!("{second:?}"), r#"Added "ns/b"@2 initial"#);
    }
    idle().await;
    assert!(!registration.has_synced(), "the second is in hand");
    let next = changes.next();
    let mut next = pin!(next);
    assert!(
        std::future::poll_fn(|cx| std::task::Poll::Ready(next.as_mut().poll(cx)))
            .await
            .is_pending()
    );
    assert!(registration.has_synced());
    running.stop().await;
    assert!(next.await.is_none());
}

#[tokio::test(start_paused = true)]
async fn dropping_a_subscription_removes_it() {
    let (tap, informer) = tapped(BOTH[0]());
    let changes = informer.subscribe(HandlerOptions::named("stream")).unwrap();
    let running = informer.spawn().unwrap();
    tap.list([], 1);
    idle().await;
    assert_eq!(informer.status().handlers.len(), 1);
    let registration = changes.registration();
    drop(changes);
    registration.removed().await;
    assert!(informer.status().handlers.is_empty());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_contained_counted_and_reported_and_the_handler_goes_on() {
    let tap = Tap::default();
    let reports = Arc::new(Mutex::new(Vec::new()));
    let seen = reports.clone();
    let informer = informer_sharedinformer::SharedInformer::fed_by(tap.clone())
        .on_error(move |trouble: &Trouble| seen.lock().unwrap().push(trouble.to_string()))
        .build()
        .unwrap();
    let log = Log::default();
    let mut record = log.handler();
    let sync = move |change: &Change<_, crate::support::Pod>| {
        record(change);
        assert_ne!(change.entry().object.version, 2, "two is too many");
    };
    let sync = informer.add_handler(sync, HandlerOptions::named("sync")).unwrap();
    let asynchronous = |change: Change<_, crate::support::Pod>| async move {
        yield_now().await;
        assert_ne!(change.entry().object.version, 3, "three is too many");
    };
    let asynchronous = informer
        .add_async_handler(asynchronous, HandlerOptions::named("async"))
        .unwrap();
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1), pod("ns/b", 2), pod("ns/c", 3)], 3);
    idle().await;
    assert_eq!(log.len(), 3);
    for handler in [sync, asynchronous] {
        assert!(handler.has_synced());
        assert_eq!((handler.n_panics(), handler.n_delivered()), (1, 3));
    }
    let reports = reports.lock().unwrap().clone();
    assert_eq!(reports.len(), 2, "{reports:?}");
    assert!(
        reports[0].starts_with(r#"handler "sync" panicked at "ns/b": "#),
        "{reports:?}"
    );
    assert!(reports[0].contains("two is too many"));
    assert!(reports[1].contains("three is too many"));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn after_a_removal_no_call_begins_and_the_running_one_can_be_waited_for() {
    let (tap, informer) = tapped(BOTH[0]());
    let log = Log::default();
    let go_on = Arc::new(Notify::new());
    let (record, wait) = (log.clone(), go_on.clone());
    let handler = move |change| {
        let (record, wait) = (record.clone(), wait.clone());
        async move {
            record.push(change);
            wait.notified().await;
        }
    };
    let handler = informer
        .add_async_handler(handler, HandlerOptions::default())
        .unwrap();
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1), pod("ns/b", 2)], 2);
    idle().await;
    handler.remove();
    handler.remove();
    assert_eq!(handler.backlog(), 0);
    let removed = handler.removed();
    let mut removed = pin!(removed);
    tap.modify(pod("ns/a", 3));
    tokio::select! {
        () = &mut removed => panic!("a call still runs"),
        () = idle() => {}
    }
    go_on.notify_one();
    removed.await;
    assert_eq!(log.len(), 1);
    assert!(handler.synced().await.is_err());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_handler_can_remove_itself() {
    let (tap, informer) = tapped(BOTH[0]());
    let log = Log::default();
    let own: Arc<Mutex<Option<Registration>>> = Arc::default();
    let (record, own_in) = (log.clone(), own.clone());
    let handler = move |change: &Change<_, _>| {
        record.push(change.clone());
        if let Some(own) = &*own_in.lock().unwrap() {
            own.remove();
        }
    };
    let handler = informer.add_handler(handler, HandlerOptions::default()).unwrap();
    *own.lock().unwrap() = Some(handler.clone());
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1), pod("ns/b", 2)], 2);
    handler.removed().await;
    assert_eq!(log.len(), 1);

    // An asynchronous one may even wait for its own removal: it is not waited for.
    let own: Arc<Mutex<Option<Registration>>> = Arc::default();
    let (record, own_in) = (log.clone(), own.clone());
    let handler = move |change| {
        record.push(change);
        let own = own_in.lock().unwrap().clone();
        async move {
            if let Some(own) = own {
                own.remove();
                own.removed().await;
            }
        }
    };
    let handler = informer
        .add_async_handler(handler, HandlerOptions::default())
        .unwrap();
    *own.lock().unwrap() = Some(handler.clone());
    handler.removed().await;
    assert_eq!(log.len(), 2);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn removal_before_the_start_and_after_the_stop_is_harmless() {
    let (tap, informer) = tapped(BOTH[0]());
    let log = Log::default();
    let early = informer
        .add_handler(log.handler(), HandlerOptions::default())
        .unwrap();
    early.remove();
    early.removed().await;
    let stays = informer
        .add_handler(|_: &Change<_, _>| {}, HandlerOptions::default())
        .unwrap();
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1)], 1);
    stays.synced().await.unwrap();
    running.stop().await;
    stays.remove();
    stays.removed().await;
    assert_eq!(log.len(), 0);
    assert!(stays.has_synced(), "once true, always true");
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_blocks_the_informer_stops_its_reading_and_no_other_loss() {
    use informer_sharedinformer::BacklogPolicy;
    let (tap, informer) = tapped(BOTH[0]());
    let log = Log::default();
    let record = log.clone();
    let handler = move |change| {
        let record = record.clone();
        async move {
            pass(Duration::from_secs(1)).await;
            record.push(change);
        }
    };
    let options = HandlerOptions::default().backlog(BacklogPolicy::Block { limit: 2 });
    let handler = informer.add_async_handler(handler, options).unwrap();
    let running = informer.spawn().unwrap();
    tap.list([], 1);
    informer.synced().await.unwrap();
    for n in 0..10 {
        tap.modify(pod("ns/a", n + 2));
        idle().await;
    }
    assert!(handler.backlog() <= 3, "{}", handler.backlog());
    assert!(informer.status().queued > 0);
    pass(Duration::from_secs(30)).await;
    let versions: Vec<_> = log
        .changes()
        .iter()
        .map(|change| change.entry().object.version)
        .collect();
    assert_eq!(versions, (2..12).collect::<Vec<_>>());
    // Full again, and removed: the others go on.
    for n in 20..30 {
        tap.modify(pod("ns/a", n));
        idle().await;
    }
    assert!(informer.status().queued > 0);
    handler.remove();
    idle().await;
    assert_eq!(informer.status().queued, 0);
    running.stop().await;
}
