//! The suite for [`DeltaSink`](informer_core::DeltaSink): what a reflector, or whatever stands in its place, pushes to.
//!
//! A sink alone shows nothing, so that the suite needs its [`Ends`]: the sink, and how to learn what became of what was pushed. For a queue
//! without a handle use [`delta_queue`](super::delta_queue): this suite asks that who waits is woken, which is not a passive queue's part.
//!
//! ```
//! use informer_core::{Batch, DeltaQueue, Handle};
//! use informer_deltafifo::{InOrder, Options};
//! use informer_testkit::conformance::delta_sink::{Ends, Suite};
//!
//! Suite::new("a handle around InOrder", || {
//!     let handle = Handle::new(InOrder::new(Options::default()));
//!     let (consumer, closer) = (handle.clone(), handle.clone());
//!     let take = move || {
//!         let mut batch = Batch::default();
//!         while !consumer.is_empty() {
//!             let popped = consumer.pop_blocking(&mut batch, 1000);
//!             popped.expect("something waits");
//!             consumer.settle(Vec::new());
//!         }
//!         batch.deltas
//!     };
//!     Ends::handing_out(handle, take).closed_by(move || closer.close())
//! })
//! .run()
//! .assert_conforms();
//! ```

use std::{
    fmt,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use informer_core::{Batch, Closed, Delta, DeltaSink, Entry, Key, Stamp, Store};

use super::{
    Report, Samples, Things,
    check::{self, Check, Outcome, Plain, Scope, checks, ensure, scoped},
    probe::{Wakes, elsewhere},
    reference::SharedReference,
    rig::{bookmark, deleted, list, modified, scanned},
    samples::entry,
    world::World,
};
use crate::Rng;

/// A sink under test, and its other side.
pub struct Ends<Q, K> {
    sink: Option<Box<dyn DeltaSink<Q, K>>>,
    store: Arc<dyn Store<Q, K>>,
    process: Box<dyn FnMut()>,
    close: Option<Box<dyn FnMut()>>,
}

impl<Q: Key, K: Send + Sync + 'static> Ends<Q, K> {
    /// A sink whose deltas end in a store. `process` returns when all that was pushed has got there.
    pub fn into_store(
        sink: impl DeltaSink<Q, K> + 'static,
        store: impl Store<Q, K> + 'static,
        process: impl FnMut() + 'static,
    ) -> Self {
        Self {
            sink: Some(Box::new(sink)),
            store: Arc::new(store),
            process: Box::new(process),
            close: None,
        }
    }

    /// A sink whose deltas `take` hands out: all that were pushed since it was last called, in their order.
    pub fn handing_out(
        sink: impl DeltaSink<Q, K> + 'static,
        mut take: impl FnMut() -> Vec<Delta<Q, K>> + 'static,
    ) -> Self {
        let store = SharedReference::new();
        let writer = store.clone();
        Self::into_store(sink, store, move || {
            for delta in take() {
                writer.lock().commit(&mut Batch::of(delta, false), &|_| true);
            }
        })
    }

    /// With what makes the other side go away.
    #[must_use]
    pub fn closed_by(mut self, close: impl FnMut() + 'static) -> Self {
        self.close = Some(Box::new(close));
        self
    }
}

impl<Q, K> fmt::Debug for Ends<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ends").finish_non_exhaustive()
    }
}

/// Checks a sink.
pub struct Suite<S: Samples = Things> {
    subject: String,
    rig: Rig<S>,
    scope: Scope,
}

struct Rig<S: Samples> {
    samples: S,
    make: Box<dyn Fn() -> Ends<S::Key, S::Object>>,
    n_pushes: u32,
}

impl Suite {
    /// For a sink of any key and object. `make` makes an empty one, and its other side.
    pub fn new(
        subject: &str,
        make: impl Fn() -> Ends<<Things as Samples>::Key, <Things as Samples>::Object> + 'static,
    ) -> Self {
        Self::over(Things, subject, make)
    }
}

impl<S: Samples> Suite<S> {
    /// For a sink of these keys and objects.
    pub fn over(samples: S, subject: &str, make: impl Fn() -> Ends<S::Key, S::Object> + 'static) -> Self {
        Self {
            subject: subject.to_owned(),
            rig: Rig {
                samples,
                make: Box::new(make),
                n_pushes: 10_000,
            },
            scope: Scope::default(),
        }
    }

    /// So many pushes in a row, at most, fill a sink that can be full. 10 000 unless you say otherwise. One that is never full is none the
    /// worse.
    #[must_use]
    pub fn full_after(mut self, n_pushes: u32) -> Self {
        self.rig.n_pushes = n_pushes;
        self
    }

    scoped!();

    /// Runs the checks.
    pub fn run(&self) -> Report {
        let mut report = Report::new(&self.subject, "DeltaSink");
        check::run(&mut report, &self.rig, all(), &self.scope);
        report
    }
}

impl<S: Samples> fmt::Debug for Suite<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suite")
            .field("subject", &self.subject)
            .finish_non_exhaustive()
    }
}

fn all<S: Samples>() -> Vec<Check<Plain<Rig<S>>>> {
    checks! {
        directed welcome_at_first: "Whether a push is welcome. While pending, the driver stops reading its watch; nothing ever blocks a thread.";
        directed what_is_pushed_arrives: "Takes a delta.";
        directed nothing_blocks: "Whether a push is welcome. While pending, the driver stops reading its watch; nothing ever blocks a thread.";
        directed push_when_not_ready: "Legal also when not ready (a list that was begun is finished), dropped when closed.";
        directed whoever_waits_is_woken: "Whether a push is welcome. While pending, the driver stops reading its watch; nothing ever blocks a thread.";
        directed closed_is_said: "[`Closed`]: nobody reads any more, and the driver ends.";
        directed closed_wakes: "Ready once nobody reads any more, also while a push would be welcome: what a driver waits on beside a quiet watch.";
        directed closed_drops: "Legal also when not ready (a list that was begun is finished), dropped when closed.";
        directed known_is_exact: "The stored object of exactly this stamp, so that a relist reuses it and drops its own copy.";
        random the_store_follows: "Takes a delta.";
    }
}

/// A sink under test, in use.
struct Used<S: Samples> {
    sink: Box<dyn DeltaSink<S::Key, S::Object>>,
    ends: Ends<S::Key, S::Object>,
}

impl<S: Samples> Used<S> {
    fn new(rig: &Rig<S>) -> Outcome<Self> {
        let mut ends = (rig.make)();
        match ends.sink.take() {
            Some(sink) => Ok(Self { sink, ends }),
            None => Err("it was made without a sink".to_owned()),
        }
    }

    fn ready(&mut self, waker: &Waker) -> Poll<Result<(), Closed>> {
        self.sink.poll_ready(&mut Context::from_waker(waker))
    }

    fn is_closed(&mut self, waker: &Waker) -> bool {
        self.sink.poll_closed(&mut Context::from_waker(waker)).is_ready()
    }

    fn push(&mut self, deltas: impl IntoIterator<Item = Delta<S::Key, S::Object>>) {
        deltas.into_iter().for_each(|delta| self.sink.push(delta));
    }

    fn held(&mut self) -> Vec<Entry<S::Key, S::Object>> {
        (self.ends.process)();
        scanned(&*self.ends.store.snapshot(), None)
    }

    /// Pushes until it is full. `None`: it never is.
    fn fill(&mut self, rig: &Rig<S>) -> Option<u32> {
        self.push([list(Vec::new(), "10")]);
        for n in 0..rig.n_pushes {
            if self.ready(Waker::noop()).is_pending() {
                return Some(n);
            }
            self.push([modified(entry(&rig.samples, n, 0, &format!("{}", 20 + n)))]);
        }
        None
    }
}

fn welcome_at_first<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut used = Used::new(rig)?;
    let ready = used.ready(Waker::noop());
    ensure!(
        ready == Poll::Ready(Ok(())),
        "nothing was pushed yet, and a push is not welcome: {ready:?}"
    );
    ensure!(
        !used.is_closed(Waker::noop()),
        "nothing was pushed yet, and it says that nobody reads any more"
    );
    Ok(())
}

fn what_is_pushed_arrives<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut used = Used::new(rig)?;
    let entry = |n, state, version: &str| entry(&rig.samples, n, state, version);
    used.push([list(
        vec![entry(0, 0, "1"), entry(1, 0, "2"), entry(2, 0, "3")],
        "10",
    )]);
    used.push([
        modified(entry(0, 1, "11")),
        deleted(entry(1, 0, "12")),
        Delta::Unreadable {
            key: rig.samples.key(2),
            stamp: Stamp::new("13", "uid-2"),
        },
        bookmark("14"),
    ]);
    let held = used.held();
    let wanted = [("11", false), ("3", true)];
    let found = held.iter().map(|it| (it.stamp.version.as_str(), it.stale));
    let mut found: Vec<_> = found.collect();
    found.sort_unstable();
    ensure!(
        found == wanted,
        "of a list, an update, a delete and an unreadable state this came: {held:?}"
    );
    let applied = used.ends.store.snapshot().applied().clone();
    ensure!(
        applied.as_str() == "14",
        "a bookmark of 14 was pushed, and {applied:?} is applied"
    );
    used.push([Delta::Replace {
        items: vec![entry(5, 0, "4")],
        unreadable: vec![rig.samples.key(0)],
        at: "9".into(),
        may_rewind: true,
    }]);
    let held = used.held();
    let applied = used.ends.store.snapshot().applied().clone();
    ensure!(
        held.len() == 2 && held.iter().filter(|it| it.stale).count() == 1 && applied.as_str() == "9",
        "of a list at 9 that may rewind, with one object that could not be read, this came: {held:?} at {applied:?}"
    );
    Ok(())
}

fn nothing_blocks<S: Samples>(rig: &Rig<S>) -> Outcome {
    let Used { mut sink, mut ends } = Used::new(rig)?;
    let first = list(Vec::new(), "10");
    let deltas = (0..rig.n_pushes).map(|n| modified(entry(&rig.samples, n, 0, &format!("{}", 20 + n))));
    let deltas = [first].into_iter().chain(deltas).collect::<Vec<_>>();
    let n_pushed = deltas.len() - 1;
    let sink = elsewhere(move || {
        for delta in deltas {
            // Whatever it says, a push is legal.
            let _ = sink.poll_ready(&mut Context::from_waker(Waker::noop()));
            sink.push(delta);
        }
        sink
    });
    ensure!(
        sink.is_some(),
        "nobody processes what is pushed, and after at most {n_pushed} deltas a call blocks"
    );
    (ends.process)();
    let held = ends.store.len();
    ensure!(
        held == n_pushed,
        "{n_pushed} objects were pushed, and {held} came"
    );
    Ok(())
}

fn push_when_not_ready<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut used = Used::new(rig)?;
    let Some(n) = used.fill(rig) else {
        return Ok(());
    };
    used.push((n..n + 5).map(|n| modified(entry(&rig.samples, n, 0, &format!("{}", 20 + n)))));
    let held = used.held().len();
    ensure!(
        held == n as usize + 5,
        "{n} objects were pushed until it was full, then five more, and {held} came"
    );
    Ok(())
}

fn whoever_waits_is_woken<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut used = Used::new(rig)?;
    let Some(n) = used.fill(rig) else {
        return Ok(());
    };
    let (wakes, waker) = Wakes::new();
    ensure!(
        used.ready(&waker).is_pending(),
        "after {n} pushes it was full, and asked again it is not"
    );
    (used.ends.process)();
    ensure!(
        wakes.count() > 0,
        "after {n} pushes it was full, all of them were processed, and one who waited was not woken"
    );
    ensure!(
        used.ready(&waker).is_ready(),
        "all that was pushed is processed, and it is still full"
    );
    Ok(())
}

/// One that was closed, after it had taken a list. `None`: it cannot be.
fn closed<S: Samples>(rig: &Rig<S>) -> Outcome<Option<Used<S>>> {
    let mut used = Used::new(rig)?;
    let Some(mut close) = used.ends.close.take() else {
        return Ok(None);
    };
    used.push([list(vec![entry(&rig.samples, 0, 0, "1")], "10")]);
    (used.ends.process)();
    close();
    Ok(Some(used))
}

fn closed_is_said<S: Samples>(rig: &Rig<S>) -> Outcome {
    let Some(mut used) = closed(rig)? else {
        return Ok(());
    };
    for _ in 0..3 {
        let ready = used.ready(Waker::noop());
        ensure!(
            ready == Poll::Ready(Err(Closed)),
            "it was closed, and asked whether a push is welcome it says {ready:?}"
        );
    }
    Ok(())
}

fn closed_wakes<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut used = Used::new(rig)?;
    let Some(mut close) = used.ends.close.take() else {
        return Ok(());
    };
    let (wakes, waker) = Wakes::new();
    ensure!(
        !used.is_closed(&waker),
        "it is open, and says that nobody reads any more"
    );
    // What happens meanwhile must not take the place of the one who waits.
    used.push([list(vec![entry(&rig.samples, 0, 0, "1")], "10")]);
    let full = used.fill(rig).is_some();
    let (pressed, presser) = Wakes::new();
    let waits = full && used.ready(&presser).is_pending();
    let before = wakes.count();
    close();
    ensure!(
        wakes.count() > before,
        "one waited for it to be closed, and was not woken when it was"
    );
    ensure!(
        !waits || pressed.count() > 0,
        "one waited for a push to be welcome, and was not woken when it was closed"
    );
    ensure!(
        used.is_closed(&waker) && used.is_closed(Waker::noop()),
        "it was closed, and does not say so"
    );
    Ok(())
}

fn closed_drops<S: Samples>(rig: &Rig<S>) -> Outcome {
    let Some(mut used) = closed(rig)? else {
        return Ok(());
    };
    let entry = |n, version: &str| entry(&rig.samples, n, 0, version);
    used.push([
        modified(entry(1, "11")),
        list(vec![entry(2, "12")], "13"),
        Delta::Resync,
    ]);
    let held = used.held();
    ensure!(
        held.len() == 1 && held[0].stamp.version.as_str() == "1",
        "pushed to after it was closed it took something: {held:?}"
    );
    Ok(())
}

fn known_is_exact<S: Samples>(rig: &Rig<S>) -> Outcome {
    let mut used = Used::new(rig)?;
    let entries = [0, 1, 2].map(|n| entry(&rig.samples, n, 0, &format!("{}", n + 1)));
    used.push([
        list(entries.to_vec(), "10"),
        modified(entry(&rig.samples, 0, 1, "11")),
    ]);
    let held = used.held();
    for n in 0..5 {
        let key = rig.samples.key(n);
        let stored = held.iter().find(|it| it.key == key);
        for stamp in [
            Stamp::new(&*format!("{}", n + 1), format!("uid-{n}")),
            Stamp::new("11", format!("uid-{n}")),
            Stamp::new("11", "another"),
            Stamp::new("", format!("uid-{n}")),
        ] {
            let known = used.sink.known(&key, &stamp);
            let right = known.as_ref().is_none_or(|known| {
                stored.is_some_and(|it| it.stamp == stamp && Arc::ptr_eq(&it.object, known))
            });
            ensure!(
                right,
                "asked for {key:?} in state {stamp:?} it gives an object, and stored is {stored:?}"
            );
        }
    }
    Ok(())
}

/// What a reflector pushes, with a consumer that processes now and then.
fn the_store_follows<S: Samples>(rig: &Rig<S>, rng: &mut Rng) -> Outcome {
    let mut used = Used::new(rig)?;
    let mut world = World::new(&rig.samples, rng);
    used.push([world.list()]);
    for _ in 0..60 {
        match rng.index(12) {
            0 => used.push([world.list()]),
            1 => used.push([bookmark(&world.now.to_string())]),
            2 => used.push([Delta::Resync]),
            3 => {
                for _ in 0..rng.index(6) {
                    world.change(rng);
                }
                used.push([world.list()]);
            }
            4 => {
                let held = used.held();
                world.is(&held)?;
                world.may_be(&held, used.ends.store.snapshot().applied().as_str())?;
            }
            _ => {
                let delta = world.change(rng);
                used.push([delta]);
            }
        }
    }
    let held = used.held();
    world.is(&held)?;
    world.may_be(&held, used.ends.store.snapshot().applied().as_str())
}
