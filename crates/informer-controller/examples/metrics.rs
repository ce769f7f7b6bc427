//! Who counts: the numbers of reconciles and of the queue, by traits that an adapter to a metrics library implements.

use std::{
    error::Error,
    fmt,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use informer_controller::{
    Action, Attempt, Controller, ReconcileMetrics, ReconcileMetricsProvider, ReconcileResult, channel,
};
use informer_workqueue::{Metrics, Probe};

/// Counts by label, as `controller_runtime_reconcile_total` does.
#[derive(Debug, Default)]
struct Numbers {
    results: [AtomicUsize; 4],
    active: AtomicUsize,
    added: AtomicUsize,
    probe: Mutex<Option<Probe>>,
}

impl ReconcileMetrics for Numbers {
    fn began(&self) {
        self.active.fetch_add(1, SeqCst);
    }

    fn ended(&self) {
        self.active.fetch_sub(1, SeqCst);
    }

    fn reconciled(&self, result: ReconcileResult, _: Duration) {
        let at = ReconcileResult::ALL.iter().position(|it| *it == result);
        if let Some(count) = at.and_then(|at| self.results.get(at)) {
            count.fetch_add(1, SeqCst);
        }
    }
}

impl Metrics for Numbers {
    fn opened(&self, probe: Probe) {
        if let Ok(mut it) = self.probe.lock() {
            *it = Some(probe);
        }
    }

    fn added(&self) {
        self.added.fetch_add(1, SeqCst);
    }
}

/// One set of numbers, whoever asks; an adapter would have one for each controller.
struct Registry(Arc<Numbers>);

impl ReconcileMetricsProvider for Registry {
    fn reconciles(&self, _: &str) -> Arc<dyn ReconcileMetrics> {
        self.0.clone()
    }

    fn queue(&self, _: &str) -> Arc<dyn Metrics> {
        self.0.clone()
    }
}

#[derive(Debug)]
struct Unlucky;

impl fmt::Display for Unlucky {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not this time")
    }
}

impl Error for Unlucky {}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let numbers = Arc::new(Numbers::default());
    let (requests, source) = channel("requests");
    let controller = Controller::builder("counted")
        .source(source)
        .metrics_from(Registry(numbers.clone()))
        .reconcile(|_: u32, attempt: Attempt| async move {
            match attempt.number {
                1 => Err(Unlucky),
                _ => Ok(Action::Done),
            }
        })
        .build()?;
    let running = controller.spawn()?;
    for request in 0..3 {
        requests.send(request).await?;
    }
    while numbers.results[0].load(SeqCst) < 3 {
        tokio::task::yield_now().await;
    }
    running.stop().await?;
    print(&numbers);
    Ok(())
}

#[expect(clippy::print_stdout, reason = "this is a program")]
fn print(numbers: &Numbers) {
    for (result, count) in ReconcileResult::ALL.iter().zip(&numbers.results) {
        println!(
            "reconcile_total{{result={:?}}} {}",
            result.label(),
            count.load(SeqCst)
        );
    }
    println!("active_workers {}", numbers.active.load(SeqCst));
    println!("workqueue_adds_total {}", numbers.added.load(SeqCst));
    let probe = numbers.probe.lock().ok().and_then(|it| it.clone());
    println!("in the queue: {:?}", probe.and_then(|probe| probe.stats()));
}
