//! Workers: how many, and never two with one request.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    sync::{Arc, Mutex},
};

use informer_controller::{Action, Attempt, Controller, channel};
use informer_core::TokioClock;
use informer_workqueue::{Config, Fifo, Queue};

use crate::support::{Log, ms, secs, settle, sleep};

#[derive(Debug, Default)]
struct Gauge {
    running: BTreeMap<u32, u32>,
    most: usize,
    total: usize,
}

async fn run_with(concurrency: usize) -> Gauge {
    let gauge = Arc::new(Mutex::new(Gauge::default()));
    let (requests, source) = channel("test");
    let controller = Controller::builder("c")
        .source(source)
        .concurrency(concurrency)
        .reconcile({
            let gauge = gauge.clone();
            move |request: u32, _: Attempt| {
                let gauge = gauge.clone();
                async move {
                    {
                        let mut gauge = gauge.lock().unwrap();
                        let n = gauge.running.entry(request).or_default();
                        *n += 1;
                        assert_eq!(*n, 1, "{request} is reconciled twice at once");
                        let now = gauge.running.values().filter(|n| **n > 0).count();
                        gauge.most = gauge.most.max(now);
                        gauge.total += 1;
                    }
                    sleep(ms(3)).await;
                    gauge.lock().unwrap().running.insert(request, 0);
                    Ok::<_, Infallible>(Action::Done)
                }
            }
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    for turn in 0..400 {
        requests.send(turn % 20).await.unwrap();
        if turn % 10 == 0 {
            settle().await;
        }
    }
    sleep(secs(10)).await;
    let status = controller.status();
    assert_eq!((status.running, status.queued, status.counts.failed), (0, 0, 0));
    running.stop().await.unwrap();
    Arc::try_unwrap(gauge).map_or_else(
        |it| std::mem::take(&mut *it.lock().unwrap()),
        |it| it.into_inner().unwrap(),
    )
}

#[tokio::test(start_paused = true)]
async fn t45_one_by_default_and_never_more_than_said() {
    let one = run_with(1).await;
    assert_eq!(one.most, 1);
    assert!(one.total >= 20);
    let five = run_with(5).await;
    assert_eq!(five.most, 5);
    let many = run_with(64).await;
    assert!(many.most <= 20 && many.most > 5, "{}", many.most);
}

/// The same with real threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn t45_no_request_is_with_two_of_64_workers_on_threads() {
    let busy: Arc<Vec<Mutex<u32>>> = Arc::new((0..8).map(|_| Mutex::new(0)).collect());
    let (requests, source) = channel("test");
    let controller = Controller::builder("c")
        .source(source)
        .concurrency(64)
        .reconcile({
            let busy = busy.clone();
            move |request: usize, _: Attempt| {
                let busy = busy.clone();
                async move {
                    let runs = {
                        let mut runs = busy[request].try_lock().expect("somebody else has it");
                        *runs += 1;
                        *runs
                    };
                    tokio::task::yield_now().await;
                    let still = *busy[request].try_lock().expect("somebody else has it");
                    assert_eq!(runs, still);
                    Ok::<_, Infallible>(Action::Done)
                }
            }
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    for turn in 0..5000 {
        requests.send(turn % 8).await.unwrap();
    }
    while requests.try_send(0).is_err() || controller.status().queued > 0 {
        tokio::task::yield_now().await;
    }
    running.stop().await.unwrap();
    assert_eq!(controller.status().counts.failed, 0);
    assert!(controller.status().counts.succeeded >= 8);
}

#[tokio::test(start_paused = true)]
async fn a_queue_of_ones_own_is_used_and_ended() {
    let queue = Queue::with(Config::default().order(Fifo::default()), TokioClock);
    let (requests, source) = channel("test");
    let log = Log::new();
    let controller = Controller::builder("c")
        .source(source)
        .queue(queue.clone())
        .reconcile({
            let log = log.clone();
            move |request: u32, _: Attempt| {
                log.push(request);
                async { Ok::<_, Infallible>(Action::Done) }
            }
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    requests.send(1).await.unwrap();
    log.wait_for(1).await;
    assert!(!queue.is_shutting_down());
    running.stop().await.unwrap();
    assert!(queue.is_shutting_down());
    assert!(requests.send(2).await.is_err());
}
