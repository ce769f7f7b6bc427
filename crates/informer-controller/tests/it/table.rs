//! The outcome table, with what is counted, and what a timeout is.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use informer_controller::{
    Action, Attempt, BoxError, Controller, ReconcileMetrics, ReconcileMetricsProvider, ReconcileResult,
    Reconciler, channel, terminal,
};
use informer_workqueue::Metrics;
use tokio::time::timeout;

use crate::support::{Log, Oops, Watch, ms, secs, settle, sleep};

/// Writes down what it is told.
#[derive(Debug, Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn push(&self, what: impl Into<String>) {
        self.0.lock().unwrap().push(what.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl ReconcileMetrics for Told {
    fn max_concurrent(&self, workers: usize) {
        self.push(format!("at most {workers}"));
    }

    fn began(&self) {
        self.push("began");
    }

    fn ended(&self) {
        self.push("ended");
    }

    fn reconciled(&self, result: ReconcileResult, took: Duration) {
        self.push(format!("{} after {took:?}", result.label()));
    }

    fn terminal_error(&self) {
        self.push("terminal");
    }

    fn panicked(&self) {
        self.push("panicked");
    }

    fn timed_out(&self) {
        self.push("timed out");
    }

    fn gone(&self) {
        self.push("gone");
    }
}

#[derive(Debug, Clone, Copy)]
enum Say {
    Done,
    After(u64),
    Requeue,
    Fail,
    FailForGood,
    Panic,
    Hang,
}

/// Does what it is told, then is done.
struct Script {
    says: Vec<Say>,
    log: Log<(u32, u64, i32)>,
    watch: Watch,
}

impl Reconciler<u32> for Script {
    type Error = BoxError;

    async fn reconcile(&self, _: u32, attempt: Attempt) -> Result<Action, BoxError> {
        let turn = self.log.all().len();
        self.log.push((attempt.number, self.watch.ms(), attempt.priority));
        match self.says.get(turn).copied().unwrap_or(Say::Done) {
            Say::Done => Ok(Action::Done),
            Say::After(after) => Ok(Action::requeue_after(ms(after))),
            Say::Requeue => Ok(Action::requeue()),
            Say::Fail => Err(Oops(1).into()),
            Say::FailForGood => Err(terminal(Oops(13)).into()),
            Say::Panic => panic!("as told"),
            Say::Hang => std::future::pending().await,
        }
    }
}

/// Runs the script for one request: attempts, and what was told between the beginning and the end of each.
async fn play(says: &[Say]) -> (Vec<(u32, u64, i32)>, Vec<String>, u32) {
    let (requests, source) = channel("test");
    let (log, told) = (Log::new(), Told::default());
    let controller = Controller::builder("table")
        .skip_name_validation()
        .source(source)
        .timeout(secs(10))
        .metrics(told.clone())
        .reconciler(Script {
            says: says.to_vec(),
            log: log.clone(),
            watch: Watch::start(),
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    requests.send(1).await.unwrap();
    sleep(secs(60)).await;
    let failures = {
        // What the queue's limiter still counts, seen at the next hand-out.
        requests.send(1).await.unwrap();
        log.wait_for(log.all().len() + 1).await.last().unwrap().0 - 1
    };
    drop((running, controller));
    settle().await;
    (log.all(), told.take(), failures)
}

/// controller-runtime `reconcileHandler`: what each outcome does to the queue, and its label.
#[tokio::test(start_paused = true)]
async fn t44_each_outcome_does_to_the_queue_what_the_table_says() {
    let labels = |told: &[String]| -> Vec<String> {
        let counted = told
            .iter()
            .filter(|it| !matches!(&***it, "began" | "ended" | "gone"));
        counted
            .filter(|it| !it.starts_with("at most"))
            .map(|it| it.split(" after ").next().unwrap().to_owned())
            .collect()
    };
    // A result without anything: forgotten, nothing comes.
    let (seen, told, failures) = play(&[Say::Done]).await;
    assert_eq!((seen.len(), failures), (2, 0));
    assert_eq!(labels(&told), ["success", "success"]);
    assert_eq!(told[0], "at most 1");
    assert_eq!(told[1..4], ["began", "success after 0ns", "ended"]);
    assert_eq!(told.last().unwrap(), "gone");

    // An error: again when the limiter allows it.
    let (seen, told, failures) = play(&[Say::Fail, Say::Fail]).await;
    assert_eq!(seen[..3], [(1, 0, 0), (2, 5, 0), (3, 15, 0)]);
    assert_eq!(
        (labels(&told)[..3].to_vec(), failures),
        (vec!["error".to_owned(), "error".into(), "success".into()], 0)
    );

    // One that is terminal: nothing, and its failures are not forgotten.
    let (seen, told, failures) = play(&[Say::FailForGood]).await;
    assert_eq!((seen.len(), failures), (2, 1));
    assert_eq!(labels(&told), ["terminal", "error", "success"]);

    // Later: forgotten, and again then.
    let (seen, told, _) = play(&[Say::Fail, Say::After(7000)]).await;
    assert_eq!(seen[..3], [(1, 0, 0), (2, 5, 0), (1, 7005, 0)]);
    assert_eq!(labels(&told)[..3], ["error", "requeue_after", "success"]);

    // Again, without a time: as the limiter allows, nothing forgotten, and no error to tell of.
    let (seen, told, _) = play(&[Say::Requeue, Say::Requeue, Say::Fail]).await;
    assert_eq!(seen[..4], [(1, 0, 0), (2, 5, 0), (3, 15, 0), (4, 35, 0)]);
    assert_eq!(labels(&told)[..4], ["requeue", "requeue", "error", "success"]);

    // A panic and the own deadline are errors, and counted beside.
    let (seen, told, _) = play(&[Say::Panic, Say::Hang]).await;
    assert_eq!(seen[..3], [(1, 0, 0), (2, 5, 0), (3, 10_015, 0)]);
    assert_eq!(
        labels(&told)[..5],
        ["panicked", "error", "timed out", "error", "success"]
    );
    assert!(told.contains(&"error after 10s".to_owned()), "{told:?}");
}

/// The labels are upstream's.
#[test]
fn t44_results_are_called_as_upstream_calls_them() {
    let labels = ReconcileResult::ALL.map(ReconcileResult::label);
    assert_eq!(labels, ["success", "error", "requeue", "requeue_after"]);
}

/// Some other deadline inside the reconcile is an error like another; a reconcile that is cut at the end of the grace time is none at all.
#[tokio::test(start_paused = true)]
async fn t48_only_the_controllers_own_deadline_counts_as_a_timeout() {
    let (requests, source) = channel("test");
    let (log, told) = (Log::new(), Told::default());
    let controller = Controller::builder("own-deadline")
        .source(source)
        .timeout(secs(10))
        .grace(secs(1))
        .metrics(told.clone())
        .reconcile({
            let log = log.clone();
            move |request: &'static str, attempt: Attempt| {
                log.push((request, attempt.number, attempt.deadline.is_some()));
                async move {
                    let limit = if request == "inner" && attempt.number == 1 {
                        3
                    } else {
                        3600
                    };
                    match request {
                        "inner" if attempt.number > 1 => Ok(Action::Done),
                        _ => timeout(secs(limit), std::future::pending::<()>())
                            .await
                            .map(|()| Action::Done),
                    }
                }
            }
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    requests.send("inner").await.unwrap();
    log.wait_for(2).await;
    settle().await;
    let counts = controller.status().counts;
    assert_eq!((counts.failed, counts.timed_out, counts.succeeded), (1, 0, 1));

    requests.send("own").await.unwrap();
    log.wait_for(4).await;
    let counts = controller.status().counts;
    assert_eq!((counts.failed, counts.timed_out), (2, 1));

    // The second attempt runs, and is cut.
    let ended = running.stop().await.unwrap();
    assert_eq!(ended.cut, ["own"]);
    assert_eq!(controller.status().counts.timed_out, 1);
    let told = told.take();
    let n = |what: &str| told.iter().filter(|it| *it == what).count();
    assert_eq!((n("timed out"), n("began"), n("ended")), (1, 4, 4));
    assert_eq!(told.iter().filter(|it| it.starts_with("error")).count(), 2);
}

/// A limit that no test can wait for in real time: the delay grows to 1000 s and no further.
#[tokio::test(start_paused = true)]
async fn t46_the_delay_grows_to_1000_s() {
    let (requests, source) = channel("test");
    let log = Log::new();
    let watch = Watch::start();
    let controller = Controller::builder("c")
        .source(source)
        .reconcile({
            let log = log.clone();
            move |_: u32, _: Attempt| {
                log.push(watch.ms());
                async { Err::<Action, _>(Oops(0)) }
            }
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    requests.send(1).await.unwrap();
    sleep(secs(6000)).await;
    let at = log.all();
    assert!(at.len() >= 22, "{}", at.len());
    let gaps: Vec<u64> = at.windows(2).map(|it| it[1] - it[0]).collect();
    for (n, gap) in gaps.iter().enumerate() {
        assert_eq!(*gap, (5 << n).min(1_000_000));
    }
    drop(running);
}

/// Not contained, a panic ends the controller with it.
#[tokio::test(start_paused = true)]
async fn t47_a_panic_that_is_not_recovered_ends_the_controller() {
    let (requests, source) = channel("test");
    let controller = Controller::builder("c")
        .source(source)
        .recover_panics(false)
        .reconciler(Script {
            says: vec![Say::Panic],
            log: Log::new(),
            watch: Watch::start(),
        })
        .build()
        .unwrap();
    let running = controller.spawn().unwrap();
    requests.send(1).await.unwrap();
    #[expect(clippy::disallowed_methods, reason = "the test owns it")]
    let ended = tokio::spawn(running.ended()).await;
    assert!(ended.unwrap_err().is_panic());
    assert!(requests.send(1).await.is_err());
}

struct Registry(Told);

impl ReconcileMetricsProvider for Registry {
    fn reconciles(&self, controller: &str) -> Arc<dyn ReconcileMetrics> {
        self.0.push(format!("reconciles of {controller}"));
        Arc::new(self.0.clone())
    }

    fn queue(&self, controller: &str) -> Arc<dyn Metrics> {
        self.0.push(format!("queue of {controller}"));
        Arc::new(())
    }
}

/// Two that are measured never share a name, until one is gone or says that it may.
#[test]
fn names_are_unique_among_what_is_measured() {
    let told = Told::default();
    let builder = || {
        Controller::builder("measured")
            .source(channel::<u32>("x").1)
            .metrics_from(Registry(told.clone()))
            .reconcile(|_, _| async { Ok::<_, Oops>(Action::Done) })
    };
    let first = builder().build().unwrap();
    assert_eq!(
        told.take(),
        ["reconciles of measured", "queue of measured", "at most 1"]
    );
    assert_eq!(
        builder().build().unwrap_err().to_string(),
        r#"controller "measured" is not the only one of that name, and would write into another's metrics"#
    );
    let beside = builder().skip_name_validation().build().unwrap();
    // One that is not measured takes no name.
    let quiet = Controller::builder("measured")
        .source(channel::<u32>("x").1)
        .reconcile(|_, _| async { Ok::<_, Oops>(Action::Done) })
        .build()
        .unwrap();
    drop((first, beside, quiet));
    builder().build().unwrap();
}
