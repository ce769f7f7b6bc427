//! The suite for [`IndexFunc`]: under which values an object stands in an index.
//!
//! ```
//! use informer_testkit::conformance::index_func;
//!
//! struct Pod { node: Option<&'static str> }
//!
//! let by_node = || |pod: &Pod, emit: &mut dyn FnMut(&str)| pod.node.into_iter().for_each(emit);
//! index_func::Suite::new("by node", by_node)
//!     .object(Pod { node: Some("worker-1") }, ["worker-1"])
//!     .object(Pod { node: None }, [])
//!     .run()
//!     .assert_conforms();
//! ```

use std::collections::BTreeSet;

use informer_core::{IndexError, IndexFunc};

use super::check::{Check, Outcome, Plain, Scope, checks, ensure, runs, shown};
use crate::Rng;

/// Checks an index function of objects `K`.
pub struct Suite<F, K> {
    subject: String,
    rig: Rig<F, K>,
    scope: Scope,
}

struct Rig<F, K> {
    make: Box<dyn Fn() -> F>,
    /// With the values they must have.
    objects: Vec<(K, BTreeSet<String>)>,
    refused: Vec<K>,
}

impl<F: IndexFunc<K> + 'static, K: Send + Sync + 'static> Suite<F, K> {
    /// For a function of these objects, which [`object`](Self::object) adds.
    pub fn new(subject: &str, make: impl Fn() -> F + 'static) -> Self {
        Self {
            subject: subject.to_owned(),
            rig: Rig {
                make: Box::new(make),
                objects: Vec::new(),
                refused: Vec::new(),
            },
            scope: Scope::default(),
        }
    }

    /// With this object, which must have these values.
    #[must_use]
    pub fn object<const N: usize>(mut self, object: K, values: [&str; N]) -> Self {
        let values = values.into_iter().map(str::to_owned).collect();
        self.rig.objects.push((object, values));
        self
    }

    /// With this object, of which the function cannot tell.
    #[must_use]
    pub fn refused(mut self, object: K) -> Self {
        self.rig.refused.push(object);
        self
    }

    runs!("IndexFunc");
}

shown!([F, K] Suite<F, K>);

fn all<F: IndexFunc<K>, K: Sync>() -> Vec<Check<Plain<Rig<F, K>>>> {
    checks! {
        directed these_values: "Emits the values of `object`.";
        directed it_cannot_tell: "When it cannot tell: the change is applied to no index and not to the store, and the object is reported.";
        random the_same_every_time: "The same object must always give the same values.";
        directed from_any_thread: "The same object must always give the same values.";
    }
}

fn ask<F: IndexFunc<K>, K>(function: &F, object: &K) -> Result<BTreeSet<String>, IndexError> {
    let mut values = BTreeSet::new();
    function.values(object, &mut |value| {
        values.insert(value.to_owned());
    })?;
    Ok(values)
}

/// The answers for all objects, those of which it cannot tell at the end.
fn answers<F: IndexFunc<K>, K>(rig: &Rig<F, K>, function: &F) -> Vec<Result<BTreeSet<String>, IndexError>> {
    let objects = rig.objects.iter().map(|(object, _)| object);
    objects
        .chain(&rig.refused)
        .map(|object| ask(function, object))
        .collect()
}

fn these_values<F: IndexFunc<K>, K>(rig: &Rig<F, K>) -> Outcome {
    let function = (rig.make)();
    for (at, (object, wanted)) in rig.objects.iter().enumerate() {
        let values = ask(&function, object);
        ensure!(
            values.as_ref() == Ok(wanted),
            "object {at} gives {values:?} instead of {wanted:?}"
        );
    }
    Ok(())
}

fn it_cannot_tell<F: IndexFunc<K>, K>(rig: &Rig<F, K>) -> Outcome {
    let function = (rig.make)();
    for (at, object) in rig.refused.iter().enumerate() {
        match ask(&function, object) {
            Ok(values) => {
                return Err(format!(
                    "it cannot tell of refused object {at}, and gives {values:?}"
                ));
            }
            Err(error) => ensure!(
                !error.to_string().trim().is_empty(),
                "its error about refused object {at} says nothing"
            ),
        }
    }
    Ok(())
}

fn the_same_every_time<F: IndexFunc<K>, K>(rig: &Rig<F, K>, rng: &mut Rng) -> Outcome {
    let (function, other) = ((rig.make)(), (rig.make)());
    let first = answers(rig, &function);
    for _ in 0..first.len() * 2 {
        let at = rng.index(first.len());
        let asked = if rng.chance(0.5) { &function } else { &other };
        let again = match rig.objects.get(at) {
            Some((object, _)) => ask(asked, object),
            None => ask(asked, &rig.refused[at - rig.objects.len()]),
        };
        ensure!(
            again == first[at],
            "object {at} gave {:?}, and asked again {again:?}",
            first[at]
        );
    }
    Ok(())
}

fn from_any_thread<F: IndexFunc<K>, K: Sync>(rig: &Rig<F, K>) -> Outcome {
    let function = (rig.make)();
    let here = answers(rig, &function);
    let (function, objects, refused) = (&function, &rig.objects, &rig.refused);
    let there: Vec<Vec<_>> = std::thread::scope(|scope| {
        let all = || {
            let objects = objects.iter().map(|(object, _)| object);
            objects
                .chain(refused)
                .map(|object| ask(function, object))
                .collect()
        };
        let threads = [(); 3].map(|()| scope.spawn(all));
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    for answers in there {
        ensure!(
            answers == here,
            "asked by several threads at once it gives {answers:?} instead of {here:?}"
        );
    }
    Ok(())
}
