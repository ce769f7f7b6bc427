//! What becomes of a request after each outcome of its reconcile.

use std::{convert::Infallible, error::Error as _, fmt, time::Duration};

use informer_controller::{
    Action, Attempt, BoxError, BoxReconciler, Controller, ReconcileError, Reconciler, Terminal, channel,
    reconcile_objects, terminal,
};
use informer_workqueue::{AddOptions, FastSlow};

use crate::support::{Feed, Log, Oops, PodEntry, Watch, ms, secs, settle, sleep};

/// Fails `attempt.number` under three; 5 ms, then 10.
#[tokio::test(start_paused = true)]
async fn t46_failures_back_off_from_5_ms_and_success_forgets() {
    let (requests, source) = channel("test");
    let (log, seen) = (Log::new(), Log::new());
    let watch = Watch::start();
    let controller = Controller::builder("c")
        .source(source)
        .reconcile({
            let (log, seen) = (log.clone(), seen.clone());
            move |request: &'static str, attempt: Attempt| {
                log.push((request, attempt.number, watch.ms()));
                seen.push(
                    attempt
                        .last_error
                        .map(|error| (error.to_string(), error.source().unwrap().to_string())),
                );
                async move {
                    if attempt.number < 3 {
                        Err(Oops(attempt.number))
                    } else {
                        Ok(Action::Done)
                    }
                }
            }
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    requests.send("x").await.unwrap();
    assert_eq!(log.wait_for(3).await, [("x", 1, 0), ("x", 2, 5), ("x", 3, 15)]);
    let failed = |n| Some(("reconcile failed".to_owned(), format!("oops {n}")));
    assert_eq!(seen.all(), [None, failed(1), failed(2)]);

    // Success forgot the failures: it begins at 5 ms again.
    settle().await;
    requests.send("x").await.unwrap();
    let again = log.wait_for(6).await;
    assert_eq!((again[3].1, again[4].1, again[5].1), (1, 2, 3));
    assert_eq!((again[4].2 - again[3].2, again[5].2 - again[4].2), (5, 10));
    settle().await;
    let counts = controller.status().counts;
    assert_eq!((counts.succeeded, counts.failed, counts.terminal), (2, 4, 0));
    assert_eq!(running.stop().await.unwrap().left, [] as [&str; 0]);
}

#[tokio::test(start_paused = true)]
async fn requeue_after_comes_back_and_forgets_failures() {
    let (requests, source) = channel("test");
    let log = Log::new();
    let watch = Watch::start();
    let controller = Controller::builder("c")
        .source(source)
        .reconcile({
            let log = log.clone();
            move |_: u32, attempt: Attempt| {
                log.push((attempt.number, watch.ms()));
                let turn = log.all().len();
                async move {
                    match turn {
                        1 | 3 => Err(Oops(0)),
                        2 => Ok(Action::requeue_after(secs(7))),
                        4 => Ok(Action::requeue_after(Duration::ZERO)),
                        _ => Ok(Action::Done),
                    }
                }
            }
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    requests.send(1).await.unwrap();
    let times = log.wait_for(5).await;
    assert_eq!(times, [(1, 0), (2, 5), (1, 7005), (2, 7010), (1, 7010)]);
    settle().await;
    assert_eq!(controller.status().counts.requeued, 2);
    drop(running);
}

struct Picky;

impl Reconciler<u32> for Picky {
    type Error = BoxError;

    async fn reconcile(&self, request: u32, attempt: Attempt) -> Result<Action, BoxError> {
        if attempt.number == 1 && request == 13 {
            Err(terminal(Oops(request)).into())
        } else if attempt.number == 1 {
            Err(Oops(request).into())
        } else {
            Ok(Action::Done)
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_terminal_error_waits_for_the_next_change() {
    let (requests, source) = channel("test");
    let boxed = BoxReconciler::new(Picky);
    let controller = Controller::builder("c")
        .source(source)
        .reconciler(boxed)
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    requests.send(13).await.unwrap();
    sleep(secs(3600)).await;
    let counts = controller.status().counts;
    assert_eq!((counts.failed, counts.terminal, counts.succeeded), (1, 1, 0));
    requests.send(13).await.unwrap();
    requests.send(7).await.unwrap();
    sleep(secs(3600)).await;
    let counts = controller.status().counts;
    assert_eq!((counts.failed, counts.terminal, counts.succeeded), (2, 1, 2));
    drop(running);
}

#[tokio::test(start_paused = true)]
async fn t47_a_panic_is_a_failure_of_that_request_only() {
    struct Clumsy(Log<(u32, u32)>);

    impl Reconciler<u32> for Clumsy {
        type Error = Infallible;

        fn reconcile(
            &self,
            request: u32,
            attempt: Attempt,
        ) -> impl Future<Output = Result<Action, Infallible>> + Send {
            self.0.push((request, attempt.number));
            assert!(request != 1 || attempt.number > 2, "in the call");
            async move {
                assert!(request != 2 || attempt.number > 1, "in the future of {request}");
                if let Some(error) = attempt.last_error {
                    assert!(error.is_panic() && error.to_string().starts_with("reconcile panicked: in the "));
                }
                Ok(Action::Done)
            }
        }
    }

    let (requests, source) = channel("test");
    let log = Log::new();
    let controller = Controller::builder("c")
        .source(source)
        .reconciler(std::sync::Arc::new(Clumsy(log.clone())))
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    for request in 1..=3 {
        requests.send(request).await.unwrap();
    }
    let mut seen = log.wait_for(6).await;
    seen.sort_unstable();
    assert_eq!(seen, [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 1)]);
    settle().await;
    let counts = controller.status().counts;
    assert_eq!((counts.succeeded, counts.failed, counts.panicked), (3, 3, 3));
    drop(running);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_a_failure() {
    let (requests, source) = channel("test");
    let log = Log::new();
    let watch = Watch::start();
    let controller = Controller::builder("c")
        .source(source)
        .timeout(secs(10))
        .limiter(FastSlow::new(ms(1), ms(1), 1))
        .reconcile({
            let log = log.clone();
            move |(): (), attempt: Attempt| {
                let timed_out = attempt.last_error.as_ref().map(ToString::to_string);
                log.push((watch.ms(), timed_out));
                assert!(attempt.deadline.is_some());
                async move {
                    if attempt.number == 1 {
                        std::future::pending::<()>().await;
                    }
                    sleep(secs(9)).await;
                    Ok::<_, Infallible>(Action::Done)
                }
            }
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    requests.send(()).await.unwrap();
    let seen = log.wait_for(2).await;
    assert_eq!(
        seen,
        [
            (0, None),
            (10_001, Some("reconcile took longer than 10s".to_owned()))
        ]
    );
    sleep(secs(10)).await;
    let counts = controller.status().counts;
    assert_eq!((counts.timed_out, counts.failed, counts.succeeded), (1, 1, 1));
    drop(running);
}

/// Kept over retries and requeues, unless the action has its own.
#[tokio::test(start_paused = true)]
async fn t49_priority_is_kept_over_requeues_and_overridden_by_the_action() {
    let (_requests, source) = channel("test");
    let log = Log::new();
    let controller = Controller::builder("c")
        .source(source)
        .reconcile({
            let log = log.clone();
            move |_: u32, attempt: Attempt| {
                log.push(attempt.priority);
                let turn = log.all().len();
                async move {
                    match turn {
                        1 => Err(Oops(1)),
                        2 => Ok(Action::requeue_after(ms(1))),
                        3 => Ok(Action::requeue_after(ms(1)).at_priority(-3)),
                        _ => Ok(Action::Done.at_priority(1)),
                    }
                }
            }
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    controller.queue().add(1, AddOptions::default().priority(42));
    assert_eq!(log.wait_for(4).await, [42, 42, 42, -3]);
    drop(running);
}

/// An error of the user's whose cause is somebody else's.
#[derive(Debug)]
struct Outer(BoxError);

impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the outer")
    }
}

impl std::error::Error for Outer {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.0)
    }
}

/// As `anyhow::Error` boxes what it holds: shown and asked for its source like the error itself, and of another type.
#[derive(Debug)]
struct Disguise(Terminal);

impl fmt::Display for Disguise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Disguise {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }
}

/// However the error is wrapped, and whatever kind of reconciler returned it.
#[tokio::test(start_paused = true)]
async fn t44_an_error_says_that_it_is_terminal_wherever_it_is_in_the_chain() {
    let errors: [(fn() -> BoxError, bool); 9] = [
        (|| terminal(Oops(1)).into(), true),
        (|| terminal("just text").into(), true),
        (|| Outer(terminal(Oops(1)).into()).into(), true),
        (|| Outer(Outer(terminal(Oops(1)).into()).into()).into(), true),
        (|| terminal(Outer(Oops(1).into())).into(), true),
        (|| Disguise(terminal(Oops(1))).into(), true),
        (|| ReconcileError::terminal(Oops(1)).into(), true),
        (|| Outer(Oops(1).into()).into(), false),
        (|| ReconcileError::new(Oops(1)).into(), false),
    ];
    for (n, (make, is_terminal)) in errors.into_iter().enumerate() {
        let (requests, source) = channel("test");
        let controller = Controller::builder("c")
            .source(source)
            .reconcile(move |(), _| async move { Err::<Action, _>(make()) })
            .build()
            .unwrap();
        let running = controller.spawn().unwrap();
        requests.send(()).await.unwrap();
        sleep(secs(10)).await;
        let counts = controller.status().counts;
        assert_eq!(counts.terminal, u64::from(is_terminal), "{n}");
        assert_eq!(counts.failed == 1, is_terminal, "{n}");
        running.stop().await.unwrap();
    }
    // The user's own error is the cause of ours, not the mark.
    let error = ReconcileError::new(terminal(Oops(1)));
    assert_eq!(error.to_string(), "reconcile failed for good");
    assert_eq!(error.source().unwrap().downcast_ref(), Some(&Oops(1)));
    let twice = ReconcileError::new(ReconcileError::new(Outer(Oops(1).into())));
    assert_eq!(twice.source().unwrap().to_string(), "the outer");
}

/// A reconciler of objects may say so, too, and fail with what is no error by itself.
#[tokio::test(start_paused = true)]
async fn errors_are_whatever_becomes_one() {
    let (feed, informer) = Feed::informer();
    let _informing = informer.spawn().unwrap();
    feed.list(&["ns/bad", "ns/worse"]);
    let reconciler = reconcile_objects(informer.store(), |pod: PodEntry, _| async move {
        match pod.key.name() {
            "bad" => Err(format!("{} is bad", pod.key).into()),
            _ => Err::<Action, BoxError>(terminal(format!("{} is worse", pod.key)).into()),
        }
    });
    let controller = Controller::builder("c")
        .for_(&informer)
        .reconciler(reconciler)
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    sleep(secs(10)).await;
    let counts = controller.status().counts;
    assert_eq!(counts.terminal, 1);
    assert!(counts.failed > 5, "{counts:?}");
    running.stop().await.unwrap();

    let (requests, source) = channel("test");
    let controller = Controller::builder("c")
        .source(source)
        .reconcile(|(), attempt: Attempt| async move {
            match attempt.last_error {
                None => Err("text is an error".to_owned()),
                Some(_) => Ok(Action::Done),
            }
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    requests.send(()).await.unwrap();
    sleep(secs(1)).await;
    assert_eq!(controller.status().counts.succeeded, 1);
    running.stop().await.unwrap();
}
