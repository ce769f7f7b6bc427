//! Our side: a shared informer over the fake source, in tokio's paused time.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    panic::resume_unwind,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use informer_core::{Change, Clock as _, Entry, Identity, ObjectKey, TokioClock};
use informer_reflector::Start;
use informer_sharedinformer::{
    BacklogPolicy, Filtered, HandlerOptions, QueueKind, ReflectorOptions, Registration, Resync, Running,
    SharedInformer,
};
use informer_store::{Indexers, Reader, indexed};
use tokio::sync::watch;

use super::{lines::in_order, source::Source};
use crate::{
    object::{By, Thing, show},
    oracle::Version,
    sequence::{Op, Step},
    view::View,
};

/// Plays a sequence in a runtime of its own.
pub(super) fn play(version: Version, ops: &[String]) -> Vec<Step> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without I/O needs nothing from the system");
    runtime.block_on(async {
        let said_of = |verb| ops.iter().map(|op| Op::read(op)).find(|op| op.verb == verb);
        let resync = said_of("new").map(|op| milliseconds(op.arg()));
        let drops = said_of("transform").is_some_and(|op| op.arg() == "drop");
        let mut ours = Ours::new(version, resync, drops);
        let mut view = View::default();
        let mut steps = Vec::with_capacity(ops.len());
        for op in ops {
            let mut said = Vec::new();
            ours.play(Op::read(op), &mut said).await;
            ours.look(&mut view);
            steps.push(Step {
                said,
                seen: view.changes(),
            });
        }
        ours.end().await;
        steps
    })
}

struct Ours {
    version: Version,
    source: Source,
    informer: SharedInformer<ObjectKey, Thing>,
    reader: Reader<ObjectKey, Thing>,
    running: Option<Running<ObjectKey, Thing>>,
    joined: BTreeMap<String, (Registration, Arc<Handler>)>,
    gone: Vec<Arc<Handler>>,
}

impl Ours {
    fn new(version: Version, resync: Option<Duration>, drops: bool) -> Self {
        let source = Source::default();
        let (writer, reader) = indexed(Indexers::new().with("first", By::First)).expect("one index");
        let mut options = ReflectorOptions::default();
        options.start = Start::List;
        options.seed = Some(1);
        // The fake source never ends a watch by itself, so nor do we.
        options.min_watch_timeout = Duration::from_secs(1 << 30);
        let queue = match version {
            Version::Atomic | Version::Spread => QueueKind::InOrder,
            Version::Old => QueueKind::Coalescing,
        };
        let builder = SharedInformer::builder(source.list_watch())
            .reflector_options(options)
            .store(writer, Arc::new(reader.clone()))
            // Versions are read before a transform runs: one that blanks them changes nothing here.
            .transform(move |_: &Identity, thing: &mut Thing| {
                thing.values.retain(|value| !drops || value != "s");
                Ok(())
            })
            .queue(queue)
            .clock(TokioClock)
            .resync(resync.unwrap_or_default());
        Self {
            version,
            source,
            informer: builder.build().expect("the parts fit"),
            reader,
            running: None,
            joined: BTreeMap::new(),
            gone: Vec::new(),
        }
    }

    async fn play(&mut self, op: Op<'_>, said: &mut Vec<String>) {
        match op.verb {
            "new" | "transform" => {}
            "start" if self.running.is_some() || self.informer.is_stopped() => {}
            "start" => self.running = Some(self.informer.spawn().expect("it was not run before")),
            "stop" if self.running.is_some() => self.end().await,
            "stop" => {}
            "join" | "filter" => self.join(op, said),
            "leave" => {
                if let Some((registration, handler)) = self.joined.remove(op.arg()) {
                    registration.remove();
                    self.gone.push(handler);
                }
            }
            "hold" | "release" => {
                let named = self.all().into_iter().filter(|handler| handler.name == op.arg());
                named.for_each(|handler| handler.hold(op.verb == "hold"));
            }
            "panic" => {
                let key = op.args().nth(1).unwrap_or_default().to_owned();
                if let Some((_, handler)) = self.joined.get(op.arg()) {
                    handler.state().bad.insert(key);
                }
            }
            "cut" => self.source.cut(),
            "heal" => {
                self.source.heal();
                pass(Duration::from_secs(200)).await;
            }
            "index" => {
                if self.reader.add_index(op.arg(), By::name(op.arg())).is_err() {
                    said.push(format!("there is an index {}", op.arg()));
                }
            }
            "wait" => pass(milliseconds(op.arg())).await,
            "burst" => Op::parts(op.rest).for_each(|op| self.source.change(op)),
            _ => self.source.change(op),
        }
        self.settle().await;
        for handler in self.all() {
            let lines = mem::take(&mut handler.state().lines);
            if !self.joined.contains_key(&handler.name) && !lines.is_empty() {
                said.push(format!("{} {} more", handler.name, lines.len()));
                continue;
            }
            let lines = in_order(lines, self.version == Version::Old);
            said.extend(lines.iter().map(|line| format!("{} {line}", handler.name)));
        }
    }

    /// Lets everything run that can, as long as the oracle does.
    async fn settle(&self) {
        let may_panic = self.all().iter().any(|handler| !handler.state().bad.is_empty());
        pass(if may_panic {
            Duration::from_secs(30)
        } else {
            Duration::from_millis(1)
        })
        .await;
    }

    async fn end(&mut self) {
        for handler in self.all() {
            handler.hold(false);
        }
        self.settle().await;
        if let Some(running) = self.running.take() {
            running.stop().await;
        }
    }

    fn join(&mut self, op: Op<'_>, said: &mut Vec<String>) {
        let mut args = op.args();
        let name = args.next().unwrap_or_default();
        let argument = args.next();
        let resync = match argument {
            Some("0") => Resync::Never,
            Some(period) if op.verb == "join" => Resync::Every(milliseconds(period)),
            _ => Resync::Inherit,
        };
        let options = HandlerOptions::named(name)
            .resync(resync)
            .backlog(BacklogPolicy::Unbounded);
        let handler = Arc::new(Handler {
            name: name.to_owned(),
            held: watch::Sender::new(false),
            state: Mutex::default(),
        });
        let told = handler.clone();
        let on_change = move |change: Change<ObjectKey, Thing>| {
            let told = told.clone();
            async move { told.on_change(&change).await }
        };
        let added = if op.verb == "filter" {
            let value = argument.unwrap_or_default().to_owned();
            let wanted = move |entry: &Entry<ObjectKey, Thing>| entry.object.values.contains(&value);
            let filtered = Filtered::new(wanted, on_change);
            self.informer.add_async_handler(filtered, options)
        } else {
            self.informer.add_async_handler(on_change, options)
        };
        match added {
            Ok(registration) => drop(self.joined.insert(name.to_owned(), (registration, handler))),
            Err(_) => said.push("refused".to_owned()),
        }
    }

    /// Handlers by name, and those that left.
    fn all(&self) -> Vec<Arc<Handler>> {
        let joined = self.joined.values().map(|(_, handler)| handler);
        let mut all: Vec<Arc<Handler>> = self.gone.iter().chain(joined).cloned().collect();
        all.sort_by(|left, right| left.name.cmp(&right.name));
        all
    }

    fn look(&self, view: &mut View) {
        if self.informer.has_synced() {
            view.put("synced", "yes");
        }
        if self.informer.is_stopped() {
            view.put("stopped", "yes");
        }
        for (name, (registration, _)) in &self.joined {
            if registration.has_synced() {
                view.put(format!("synced {name}"), "yes");
            }
        }
        view.put_store(&self.reader.view());
        if self.version != Version::Atomic {
            // client-go tells it with atomic events only.
            view.forget("applied");
        }
    }
}

/// Writes down what it is told.
struct Handler {
    name: String,
    held: watch::Sender<bool>,
    state: Mutex<Told>,
}

#[derive(Default)]
struct Told {
    lines: Vec<String>,
    /// Calls about these panic.
    bad: BTreeSet<String>,
}

impl Handler {
    async fn on_change(&self, change: &Change<ObjectKey, Thing>) {
        let mut held = self.held.subscribe();
        // The sender lives in `self`.
        let _ = held.wait_for(|held| !held).await;
        let mut line = match change {
            Change::Added { new, initial } => {
                format!("add {}{}", show(new), if *initial { " initial" } else { "" })
            }
            Change::Updated { old, new } => format!("update {} -> {}", show(old), show(new)),
            Change::Removed { last, observed: true } => format!("delete {}", show(last)),
            Change::Removed { last, .. } => format!("vanished {}", show(last)),
            Change::Resynced { current } => format!("again {}", show(current)),
        };
        let bad = self.state().bad.contains(&change.key().to_string());
        if bad {
            line.push_str(" panics");
        }
        self.state().lines.push(line);
        if bad {
            // A panic that nobody reports on standard error.
            resume_unwind(Box::new("asked to"));
        }
    }

    fn hold(&self, hold: bool) {
        self.held.send_replace(hold);
    }

    fn state(&self) -> MutexGuard<'_, Told> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn milliseconds(text: &str) -> Duration {
    Duration::from_millis(text.parse().expect("a number of milliseconds"))
}

/// Lets virtual time pass; it moves on only when nothing else does.
async fn pass(time: Duration) {
    TokioClock.sleep_until(TokioClock.now() + time).await;
}
