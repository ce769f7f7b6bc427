//! IH-04: stop means stop.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::Poll,
    time::Duration,
};

use informer_core::{
    BoxFeed, Change, Clock, FailureClass, Listed, SourceError, TokioClock, WatchRequest, Watched,
};
use informer_reflector::{ListWatch, feed};
use informer_sharedinformer::{HandlerOptions, ReflectorOptions, Running, SharedInformer};

use crate::support::{BOTH, Informer, Log, Pod, idle, pass, pod, tapped};

const BOUND: Duration = Duration::from_millis(200);

async fn stops_in_time(running: Running<informer_core::ObjectKey, Pod>) -> informer_sharedinformer::Ended {
    let before = TokioClock.now();
    let informer = running.informer().clone();
    let ended = running.stop().await;
    let took = TokioClock.now() - before;
    assert!(took <= BOUND, "it took {took:?}");
    informer.ended().await;
    ended
}

fn by_list() -> ReflectorOptions {
    let mut options = ReflectorOptions::default();
    options.start = informer_reflector::Start::List;
    options
}

/// Counts what is alive of it.
#[derive(Clone, Default)]
struct Alive(Arc<AtomicUsize>);

struct Life(Arc<AtomicUsize>);

impl Alive {
    fn begin(&self) -> Life {
        self.0.fetch_add(1, Ordering::Relaxed);
        Life(self.0.clone())
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn listing(
    list: impl Fn() -> Option<SourceError> + Clone + Send + Sync + 'static,
    alive: &Alive,
) -> Informer {
    let (listing, watching) = (alive.clone(), alive.clone());
    let source = ListWatch::new(
        move |_| {
            let (list, alive) = (list.clone(), listing.begin());
            async move {
                let _alive = alive;
                match list() {
                    Some(error) => Err::<BoxFeed<Listed<Pod>>, _>(error),
                    None => pending().await,
                }
            }
        },
        move |_: WatchRequest| {
            let alive = watching.begin();
            async move {
                Ok::<_, SourceError>(feed::from_poll_fn(
                    move |_| -> Poll<Option<Result<Watched<Pod>, SourceError>>> {
                        let _alive = &alive;
                        Poll::Pending
                    },
                ))
            }
        },
    );
    SharedInformer::builder(source)
        .reflector_options(by_list())
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn ih_04_a_in_the_middle_of_a_long_backoff() {
    let alive = Alive::default();
    let refused = || Some(SourceError::new(FailureClass::Refused, "connection refused"));
    let informer = listing(refused, &alive);
    let running = informer.spawn().unwrap();
    // Long enough for the delays to have grown to their cap.
    pass(Duration::from_secs(300)).await;
    assert!(informer.status().source.error.is_some());
    stops_in_time(running).await;
    assert_eq!(alive.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn ih_04_b_during_a_hanging_list_and_a_quiet_watch() {
    let alive = Alive::default();
    let informer = listing(|| None, &alive);
    let running = informer.spawn().unwrap();
    pass(Duration::from_secs(10)).await;
    assert_eq!(alive.count(), 1);
    stops_in_time(running).await;
    assert_eq!(alive.count(), 0, "the request is closed");

    let source = ListWatch::new(
        |_| async { Ok::<_, SourceError>(feed::list(Vec::<informer_core::Decoded<Pod>>::new(), "1")) },
        {
            let alive = alive.clone();
            move |_| {
                let alive = alive.begin();
                async move {
                    Ok::<_, SourceError>(feed::from_poll_fn(
                        move |_| -> Poll<Option<Result<Watched<Pod>, SourceError>>> {
                            let _alive = &alive;
                            Poll::Pending
                        },
                    ))
                }
            }
        },
    );
    let informer = SharedInformer::builder(source)
        .reflector_options(by_list())
        .build()
        .unwrap();
    let running = informer.spawn().unwrap();
    informer.synced().await.unwrap();
    pass(Duration::from_secs(1)).await;
    assert_eq!(alive.count(), 1);
    stops_in_time(running).await;
    assert_eq!(alive.count(), 0, "the watch is closed");
}

#[tokio::test(start_paused = true)]
async fn ih_04_c_with_a_thousand_unread_events_while_the_producer_is_sending() {
    for queue in BOTH {
        let (tap, informer) = tapped(queue());
        let log = Log::default();
        let record = log.clone();
        let slow = move |change| {
            let record = record.clone();
            async move {
                record.push(change);
                pass(Duration::from_millis(10)).await;
            }
        };
        let handler = informer
            .add_async_handler(slow, HandlerOptions::default())
            .unwrap();
        let running = informer.spawn().unwrap();
        tap.list([], 1);
        for at in 0..1000 {
            tap.modify(pod(&format!("ns/{at}"), at + 2));
        }
        pass(Duration::from_millis(35)).await;
        assert!(handler.backlog() > 900);
        for at in 0..5000 {
            tap.modify(pod(&format!("ns/{at}"), at + 2000));
        }
        assert!(!tap.is_ready(), "the queue is full");
        let ended = stops_in_time(running).await;
        assert!(ended.still_running.is_empty(), "its call lasts 10 ms");
        let told = log.len();
        tap.modify(pod("ns/late", 9000));
        pass(Duration::from_secs(5)).await;
        assert_eq!(log.len(), told, "no call begins after the stop");
        handler.removed().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ih_04_d_ten_thousand_times_against_the_pop_of_an_idle_queue() {
    let rounds = async {
        for n in 0..10_000_usize {
            let (tap, informer) = tapped(BOTH[n % 2]());
            let running = informer.spawn().unwrap();
            if n % 3 > 0 {
                tap.list([], 1);
            }
            if n % 3 > 1 {
                tokio::task::yield_now().await;
            }
            running.stop().await;
        }
    };
    tokio::select! {
        () = rounds => {}
        () = TokioClock.sleep_until(TokioClock.now() + Duration::from_secs(120)) => panic!("it sleeps for ever"),
    }
}

#[tokio::test(start_paused = true)]
async fn ih_04_e_before_the_first_start() {
    let (tap, informer) = tapped(BOTH[0]());
    let log = Log::default();
    let handler = informer
        .add_handler(log.handler(), HandlerOptions::default())
        .unwrap();
    informer.stop();
    informer.ended().await;
    handler.removed().await;
    assert!(informer.run().await.unwrap_err().is_stopped());
    tap.list([pod("ns/a", 1)], 1);
    idle().await;
    assert_eq!(log.len(), 0);
    assert!(informer.synced().await.is_err());
}

#[tokio::test(start_paused = true)]
async fn ih_04_f_twice_and_by_dropping_the_run() {
    let (tap, informer) = tapped(BOTH[0]());
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1)], 1);
    informer.synced().await.unwrap();
    informer.stop();
    informer.stop();
    stops_in_time(running).await;
    informer.stop();

    let (tap, informer) = tapped(BOTH[0]());
    let log = Log::default();
    informer
        .add_handler(log.handler(), HandlerOptions::default())
        .unwrap();
    {
        let run = std::pin::pin!(informer.run());
        tap.list([pod("ns/a", 1)], 1);
        tokio::select! {
            _ = run => panic!("nobody stops it"),
            () = idle() => {}
        }
    }
    assert!(informer.is_stopped());
    tap.modify(pod("ns/a", 2));
    idle().await;
    assert_eq!(log.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn ih_04_a_callback_that_still_runs_is_named_not_awaited() {
    let (tap, informer) = tapped(BOTH[0]());
    let stuck = |_: Change<_, _>| pending();
    informer
        .add_async_handler(stuck, HandlerOptions::named("stuck"))
        .unwrap();
    let gone = informer
        .add_async_handler(stuck, HandlerOptions::named("removed"))
        .unwrap();
    informer
        .add_handler(|_: &Change<_, _>| {}, HandlerOptions::named("fine"))
        .unwrap();
    let running = informer.spawn().unwrap();
    tap.list([pod("ns/a", 1)], 1);
    idle().await;
    gone.remove();
    let ended = stops_in_time(running).await;
    assert_eq!(ended.still_running, ["stuck".into(), "removed".into()]);
}
