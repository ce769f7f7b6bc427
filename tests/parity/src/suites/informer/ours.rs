//! Our side: a shared informer over the fake source, in tokio's paused time.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    panic::resume_unwind,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use informer_core::{Change, Entry, ObjectKey};
use informer_sharedinformer::{
    BacklogPolicy, Filtered, HandlerOptions, Registration, Resync, Running, SharedInformer,
};
use informer_store::Reader;
use tokio::sync::watch;

use super::{
    bench::{begin, line_of, milliseconds, pass, paused, play_source},
    lines::in_order,
    source::Source,
};
use crate::{
    object::{By, Thing},
    oracle::Version,
    sequence::{Op, Step},
    view::View,
};

/// Plays a sequence.
pub(super) fn play(version: Version, ops: &[String]) -> Vec<Step> {
    paused(async {
        let mut ours = Ours::new(version, ops);
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
    fn new(version: Version, ops: &[String]) -> Self {
        let source = Source::default();
        let (builder, reader) = begin(version, ops, &source);
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
            "index" => {
                if self.reader.add_index(op.arg(), By::name(op.arg())).is_err() {
                    said.push(format!("there is an index {}", op.arg()));
                }
            }
            _ => play_source(&self.source, op).await,
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
        let mut line = line_of(change);
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
