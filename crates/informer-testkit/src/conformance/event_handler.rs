//! The suite for [`EventHandler`]: who is told of changes. Its counterpart is the
//! [`Witness`](super::Witness), a handler that checks who tells.
//!
//! ```
//! use std::sync::mpsc;
//!
//! use informer_core::Change;
//! use informer_testkit::conformance::event_handler;
//!
//! // A handler, and the keys that it was told of since it was last asked.
//! let enqueue = || {
//!     let (queue, keys) = mpsc::channel();
//!     let handler = move |change: &Change<_, _>| drop(queue.send(Clone::clone(change.key())));
//!     (handler, move || keys.try_iter().collect())
//! };
//! event_handler::Suite::new("enqueue", enqueue).run().assert_conforms();
//! ```

use informer_core::{Change, Entry, EventHandler};

use super::{
    Samples, Things,
    check::{Check, Outcome, Plain, Scope, checks, ensure, runs, shown},
    probe::step_by_step,
    samples::{entry, reborn},
};
use crate::Rng;

type HandlerOf<S> = Box<dyn EventHandler<<S as Samples>::Key, <S as Samples>::Object>>;
type Heard<Q> = Box<dyn FnMut() -> Vec<Q>>;
type Made<S> = (HandlerOf<S>, Heard<<S as Samples>::Key>);
type ChangeOf<S> = Change<<S as Samples>::Key, <S as Samples>::Object>;

/// Checks a handler.
pub struct Suite<S: Samples = Things> {
    subject: String,
    rig: Rig<S>,
    scope: Scope,
}

struct Rig<S: Samples> {
    samples: S,
    make: Box<dyn Fn() -> Made<S>>,
    /// It tells what it heard, and does not only keep quiet.
    hears: bool,
}

impl Suite {
    /// For a handler of any key and object. `make` makes one, and what hands out the keys that it was told of since the last time.
    pub fn new<H, P>(subject: &str, make: impl Fn() -> (H, P) + 'static) -> Self
    where
        H: EventHandler<<Things as Samples>::Key, <Things as Samples>::Object> + 'static,
        P: FnMut() -> Vec<<Things as Samples>::Key> + 'static,
    {
        Self::over(Things, subject, make)
    }
}

impl<S: Samples> Suite<S> {
    /// For a handler of these keys and objects.
    pub fn over<H, P>(samples: S, subject: &str, make: impl Fn() -> (H, P) + 'static) -> Self
    where
        H: EventHandler<S::Key, S::Object> + 'static,
        P: FnMut() -> Vec<S::Key> + 'static,
    {
        Self {
            subject: subject.to_owned(),
            rig: Rig {
                samples,
                make: Box::new(move || {
                    let (handler, heard) = make();
                    (Box::new(handler), Box::new(heard))
                }),
                hears: true,
            },
            scope: Scope::default(),
        }
    }

    /// For a handler of which nobody can learn what it was told.
    pub fn silent<H>(samples: S, subject: &str, make: impl Fn() -> H + 'static) -> Self
    where
        H: EventHandler<S::Key, S::Object> + 'static,
    {
        let mut suite = Self::over(samples, subject, move || (make(), Vec::new));
        suite.rig.hears = false;
        suite
    }

    runs!("EventHandler");
}

shown!([S: Samples] Suite<S>);

fn all<S: Samples>() -> Vec<Check<Plain<Rig<S>>>> {
    checks! {
        directed every_kind_of_change: "Is told of every change, in order (client-go `ResourceEventHandler`).";
        random in_order: "Is told of every change, in order (client-go `ResourceEventHandler`).";
        directed on_one_thread_or_another: "Called by one task or thread at a time.";
        directed it_returns: "It should be quick: enqueue a key and return.";
    }
}

/// One change of each kind, of the nth object.
fn one_of_each<S: Samples>(samples: &S, n: u32) -> Vec<ChangeOf<S>> {
    let first = entry(samples, n, 0, "1");
    let second = entry(samples, n, 1, "2");
    let third = reborn(samples, n, 2, "3");
    let stale = Entry {
        stale: true,
        ..third.clone()
    };
    vec![
        Change::Added {
            new: first.clone(),
            initial: true,
        },
        Change::Updated {
            old: first,
            new: second.clone(),
        },
        Change::Resynced {
            current: second.clone(),
        },
        Change::Removed {
            last: second,
            observed: false,
        },
        Change::Added {
            new: third,
            initial: false,
        },
        Change::Resynced {
            current: stale.clone(),
        },
        Change::Removed {
            last: stale,
            observed: true,
        },
    ]
}

/// Whether a handler may keep quiet about it.
fn may_be_ignored<S: Samples>(change: &ChangeOf<S>) -> bool {
    matches!(change, Change::Resynced { .. })
}

fn every_kind_of_change<S: Samples>(rig: &Rig<S>) -> Outcome {
    let (mut handler, mut heard) = (rig.make)();
    for change in one_of_each(&rig.samples, 0) {
        handler.on_change(&change);
        let keys = heard();
        ensure!(
            !rig.hears || may_be_ignored::<S>(&change) || keys.contains(change.key()),
            "told of {change:?} it has heard of {keys:?} when it returns"
        );
        ensure!(
            keys.iter().all(|key| key == change.key()),
            "told of {change:?} it has heard of {keys:?}"
        );
    }
    Ok(())
}

fn in_order<S: Samples>(rig: &Rig<S>, rng: &mut Rng) -> Outcome {
    let (mut handler, mut heard) = (rig.make)();
    let mut stories: Vec<_> = (0..6).map(|n| one_of_each(&rig.samples, n).into_iter()).collect();
    let mut told = Vec::new();
    while !stories.is_empty() {
        let at = rng.index(stories.len());
        match stories[at].next() {
            None => drop(stories.swap_remove(at)),
            Some(change) => {
                handler.on_change(&change);
                if !may_be_ignored::<S>(&change) {
                    told.push(change.key().clone());
                }
            }
        }
    }
    let keys = heard();
    // Some of them twice where it does not keep quiet; a resync repeats a key, and so may stand anywhere behind its first.
    let mut left = told.iter().peekable();
    for key in &keys {
        if left.peek() == Some(&key) {
            left.next();
        } else {
            ensure!(
                told.contains(key),
                "it has heard of {key:?}, of which it was never told"
            );
        }
    }
    ensure!(
        !rig.hears || left.peek().is_none(),
        "told of {told:?} it has heard of {keys:?}"
    );
    Ok(())
}

fn on_one_thread_or_another<S: Samples>(rig: &Rig<S>) -> Outcome {
    let (mut handler, mut heard) = (rig.make)();
    let changes = one_of_each(&rig.samples, 0);
    for change in &changes {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| handler.on_change(change));
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        });
    }
    let n_heard = heard().len();
    ensure!(
        !rig.hears || n_heard >= changes.len() - 2,
        "told of {} changes by a thread each, it has heard of {n_heard}",
        changes.len()
    );
    Ok(())
}

fn it_returns<S: Samples>(rig: &Rig<S>) -> Outcome {
    const MANY: u32 = 2000;
    let (mut handler, mut heard) = (rig.make)();
    let changes: Vec<_> = (0..MANY)
        .map(|n| Change::Added {
            new: entry(&rig.samples, n, 0, "1"),
            initial: true,
        })
        .collect();
    // Nobody works off what it enqueues.
    let returned = step_by_step(move |step| {
        for change in &changes {
            handler.on_change(change);
            step();
        }
    });
    ensure!(
        returned.is_some(),
        "nobody takes what it enqueues, and of {MANY} calls one does not return"
    );
    let n_heard = heard().len();
    ensure!(
        !rig.hears || n_heard >= MANY as usize,
        "told of {MANY} objects it has heard of {n_heard}"
    );
    Ok(())
}
