//! The classic picture of an informer, by hand and from its pieces:
//!
//! ```text
//! ListWatch ─▶ Reflector ─▶ delta queue ─▶ indexer ─▶ three callbacks ─▶ work queue ─▶ workers ─▶ lister
//! ```
//!
//! The source is two closures over a small cluster in memory. The callbacks enqueue keys, nothing else. A worker reads the object through
//! the lister, where a key that is missing means that the object was deleted; success makes the queue forget the key, failure adds it again
//! at a limited rate. The whole runs twice, with the queue in order and with the coalescing one (client-go's `DeltaFIFO`), through creates,
//! updates, deletes, an object that is replaced by another of its name, and an outage after which the watch cannot be resumed. What the
//! callbacks were told of each key, and what the workers made of it, must be the same: else this exits with a failure.
//!
//! A program would write `Controller::builder("pods").watches(&informer, ForObject)` instead; this shows what is behind it.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "an example tells what it does"
)]

use std::{
    collections::BTreeMap,
    error::Error,
    process::ExitCode,
    sync::{Arc, Mutex},
    time::Duration,
};

use informer::{
    contracts::{
        Batch, Change, Clock, DeltaQueue, Entry, Handle, NamespaceName, ObjectKey, ResourceVersion, Store,
        StoreExt, StoreWriter, TokioClock,
    },
    deltafifo::{self, Coalescing, InOrder},
    reflector::{self, ListWatch, Reflector},
    store::{Indexers, indexed},
    workqueue::{AddOptions, Config, ItemExponential, Outcome, Queue, Shutdown, WorkQueue},
};
use tokio::task::JoinSet;

use self::cluster::{Cluster, Pod};

#[path = "control_loop/cluster.rs"]
mod cluster;

/// What the callbacks were told of each key, in order.
type Histories = BTreeMap<ObjectKey, Vec<String>>;

/// What the workers made of each key: the node on which they "run" its pod.
type Made = BTreeMap<ObjectKey, String>;

/// Only keys go into the work queue: what there is to do is found out when a worker has one.
type WorkQueueOfKeys = Queue<ObjectKey, TokioClock>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match compare().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("control_loop: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs with both queues, and fails where they differ.
pub(crate) async fn compare() -> Result<(), Box<dyn Error>> {
    let options = deltafifo::Options::default;
    let in_order = run("in order", |_| Box::new(InOrder::new(options()))).await?;
    let coalescing = run("coalescing", |store| Box::new(Coalescing::new(store, options()))).await?;
    if in_order != coalescing {
        return Err(
            format!("the queues differ.\nIn order: {in_order:#?}\nCoalescing: {coalescing:#?}").into(),
        );
    }
    println!("Both queues told the callbacks the same of each key, and the workers made the same of it.");
    Ok(())
}

async fn run(
    name: &str,
    queue: impl FnOnce(Arc<dyn Store<ObjectKey, Pod>>) -> Box<dyn DeltaQueue<ObjectKey, Pod>>,
) -> Result<(Histories, Made), Box<dyn Error>> {
    let cluster = Cluster::new();
    cluster.grow(12);

    // The indexer: written by one, read by many.
    let by_node = |pod: &Pod, emit: &mut dyn FnMut(&str)| emit(&pod.node);
    let (writer, reader) = indexed(Indexers::new().with("node", by_node))?;
    let lister: Arc<dyn Store<ObjectKey, Pod>> = Arc::new(reader);

    // The delta queue, with a handle at each end.
    let deltas = Handle::new(queue(lister.clone()));

    // The reflector, over a source of two closures.
    let (lists, watches) = (cluster.clone(), cluster.clone());
    let source = ListWatch::new(
        move |request| {
            let answer = lists.list(&request);
            async move { answer }
        },
        move |request| {
            let answer = watches.watch(&request);
            async move { answer }
        },
    );
    let mut options = reflector::Options::named("pods");
    options.start = reflector::Start::List;
    options.backoff.initial = Duration::from_millis(5);
    let reflector = Reflector::new(source, NamespaceName, deltas.clone(), TokioClock, options);

    // The work queue, and the callbacks in front of it.
    let limiter = ItemExponential::new(Duration::from_millis(2), Duration::from_secs(1));
    let work = Arc::new(Queue::with(Config::default().limiter(limiter), TokioClock));
    let histories = Arc::new(Mutex::new(Histories::new()));
    let callbacks = Callbacks {
        work: work.clone(),
        histories: histories.clone(),
    };

    let made = Arc::new(Mutex::new(Made::new()));
    let mut tasks = JoinSet::new();
    tasks.spawn(reflector.run());
    tasks.spawn(pump(deltas.clone(), writer, callbacks));
    let mut workers = JoinSet::new();
    for _ in 0..3 {
        workers.spawn(worker(work.clone(), lister.clone(), made.clone()));
    }

    for step in Cluster::STORY {
        let version = step(&cluster);
        caught_up(&*lister, &work, version).await?;
    }

    deltas.close();
    work.shut_down(Shutdown::Drain { queued: true });
    work.drained().await;
    while let Some(ended) = tasks.join_next().await {
        ended?;
    }
    let mut n_retries = 0;
    while let Some(ended) = workers.join_next().await {
        n_retries += ended?;
    }
    let histories = histories.lock().map_err(|_| "a callback panicked")?.clone();
    let made = made.lock().map_err(|_| "a worker panicked")?.clone();
    let expected: Made = lister
        .list()
        .into_iter()
        .map(|entry| (entry.key, entry.object.node.clone()))
        .collect();
    if made != expected {
        return Err(format!("the workers made {made:?} of {expected:?}").into());
    }
    let n_told: usize = histories.values().map(Vec::len).sum();
    println!(
        "{name}: {n_told} changes of {} keys, of which {} are left; {n_retries} retries",
        histories.len(),
        made.len(),
    );
    Ok((histories, made))
}

/// From the queue to the indexer to the callbacks. Store first: a worker that is quicker than the callback reads at least that state.
async fn pump(
    deltas: Handle<Box<dyn DeltaQueue<ObjectKey, Pod>>, ObjectKey, Pod>,
    mut indexer: impl StoreWriter<ObjectKey, Pod>,
    callbacks: Callbacks,
) {
    let mut batch = Batch::default();
    let mut changes = Vec::new();
    while deltas.pop(&mut batch, 100).await.is_ok() {
        if let Err(error) = indexer.commit(&mut batch, &mut changes) {
            eprintln!("control_loop: {error}");
        }
        deltas.settle(std::mem::take(&mut batch.deltas));
        for change in changes.drain(..) {
            match change {
                Change::Added { new, .. } => callbacks.on_add(&new),
                Change::Updated { old, new } => callbacks.on_update(&old, &new),
                Change::Removed { last, observed } => callbacks.on_delete(&last, observed),
                Change::Resynced { .. } => {}
            }
        }
        tokio::task::yield_now().await;
    }
}

/// Three callbacks. Each notes what it was told, for the comparison at the end, and enqueues the key.
struct Callbacks {
    work: Arc<WorkQueueOfKeys>,
    histories: Arc<Mutex<Histories>>,
}

impl Callbacks {
    fn on_add(&self, new: &Entry<ObjectKey, Pod>) {
        self.enqueue(new, format!("add {}", state(new)));
    }

    fn on_update(&self, old: &Entry<ObjectKey, Pod>, new: &Entry<ObjectKey, Pod>) {
        self.enqueue(new, format!("update {} to {}", state(old), state(new)));
    }

    fn on_delete(&self, last: &Entry<ObjectKey, Pod>, observed: bool) {
        let how = if observed { "delete" } else { "miss the end of" };
        self.enqueue(last, format!("{how} {}", state(last)));
    }

    fn enqueue(&self, entry: &Entry<ObjectKey, Pod>, told: String) {
        if let Ok(mut histories) = self.histories.lock() {
            histories.entry(entry.key.clone()).or_default().push(told);
        }
        self.work.add(entry.key.clone(), AddOptions::default());
    }
}

fn state(entry: &Entry<ObjectKey, Pod>) -> String {
    format!(
        "{}@{} on {}",
        entry.stamp.uid, entry.stamp.version, entry.object.node
    )
}

/// Takes keys until the queue ends. Returns how often it failed.
async fn worker(
    work: Arc<WorkQueueOfKeys>,
    lister: Arc<dyn Store<ObjectKey, Pod>>,
    made: Arc<Mutex<Made>>,
) -> u64 {
    let mut n_retries = 0;
    while let Some(lease) = work.take().await {
        match reconcile(&*lister, &made, lease.item(), lease.failures()) {
            Ok(()) => lease.finish(Outcome::Forget),
            Err(_) => {
                n_retries += 1;
                lease.finish(Outcome::Retry);
            }
        }
    }
    n_retries
}

/// Makes the world as the object wants it, whatever happened to it meanwhile. It fails now and then, as the world does.
fn reconcile(
    lister: &dyn Store<ObjectKey, Pod>,
    made: &Mutex<Made>,
    key: &ObjectKey,
    failures: u32,
) -> Result<(), Box<dyn Error>> {
    let found = lister.get(key);
    let clumsy = key.name().ends_with(['3', '6', '9']);
    if clumsy && failures < 2 {
        return Err(format!("{key} is not ready").into());
    }
    let mut made = made.lock().map_err(|_| "a worker panicked")?;
    match found {
        Some(entry) => made.insert(key.clone(), entry.object.node.clone()),
        None => made.remove(key),
    };
    Ok(())
}

/// Waits until the indexer has this version and the workers have nothing left to do.
async fn caught_up(
    lister: &dyn Store<ObjectKey, Pod>,
    work: &WorkQueueOfKeys,
    version: ResourceVersion,
) -> Result<(), Box<dyn Error>> {
    let patience = TokioClock.now() + Duration::from_secs(30);
    tokio::select! {
        reached = lister.wait_for(&version) => reached?,
        () = TokioClock.sleep_until(patience) => return Err(format!("{version} never arrived").into()),
    }
    loop {
        let stats = work.stats();
        if stats.ready + stats.delayed + stats.running == 0 {
            return Ok(());
        }
        TokioClock
            .sleep_until(TokioClock.now() + Duration::from_millis(1))
            .await;
    }
}
