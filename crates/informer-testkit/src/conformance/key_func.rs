//! The suite for [`KeyFunc`]: what objects are known by.
//!
//! ```
//! use informer_core::NamespaceName;
//! use informer_testkit::conformance::key_func;
//!
//! key_func::Suite::new("NamespaceName", || NamespaceName).run().assert_conforms();
//! ```
//!
//! A function that reads the object itself is shown objects of its own:
//! ```
//! # use informer_core::{Identity, KeyError, KeyFunc};
//! use informer_testkit::conformance::key_func;
//!
//! # #[derive(Clone)]
//! # struct Invoice { number: u32 }
//! # struct ByNumber;
//! # impl KeyFunc<Invoice> for ByNumber {
//! #     type Key = u32;
//! #     fn key(&self, identity: &Identity, invoice: &Invoice) -> Result<u32, KeyError> {
//! #         if invoice.number == 0 { return Err(KeyError::new(format!("invoice {identity} has no number"))); }
//! #         Ok(invoice.number)
//! #     }
//! # }
//! let identity = |name: &str| Identity { name: name.into(), ..Identity::default() };
//! key_func::Suite::over("ByNumber", || ByNumber)
//!     .object(identity("first"), Invoice { number: 1 })
//!     .object(identity("second"), Invoice { number: 2 })
//!     .without_key(identity("draft"), Invoice { number: 0 })
//!     .run()
//!     .assert_conforms();
//! ```

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hasher},
};

use informer_core::{Identity, Key, KeyError, KeyFunc, Stamp};

use super::check::{Check, Outcome, Plain, Scope, checks, ensure, runs, shown};
use crate::Rng;

/// Checks a key function of objects `K`.
pub struct Suite<F, K> {
    subject: String,
    rig: Rig<F, K>,
    scope: Scope,
}

struct Rig<F, K> {
    make: Box<dyn Fn() -> F>,
    objects: Vec<(Identity, K)>,
    without: Vec<(Identity, K)>,
}

impl<F: KeyFunc<()> + 'static> Suite<F, ()> {
    /// For a function that looks at nothing but the identity. It is shown objects with and without a namespace, with names long and short.
    pub fn new(subject: &str, make: impl Fn() -> F + 'static) -> Self {
        let mut suite = Self::over(subject, make);
        let long = "n".repeat(253);
        for namespace in [None, Some("a"), Some("a-b"), Some("kube-system")] {
            for name in ["a", "b", "web-0", "web-1", "10", "9", "example.com", &*long] {
                suite = suite.object(identity(namespace, name), ());
            }
        }
        suite.without_key(identity(Some("kube-system"), ""), ())
    }
}

impl<F: KeyFunc<K> + 'static, K: Send + Sync + 'static> Suite<F, K> {
    /// For a function of these objects, which [`object`](Self::object) adds.
    pub fn over(subject: &str, make: impl Fn() -> F + 'static) -> Self {
        Self {
            subject: subject.to_owned(),
            rig: Rig {
                make: Box::new(make),
                objects: Vec::new(),
                without: Vec::new(),
            },
            scope: Scope::default(),
        }
    }

    /// With this object. All of them are different ones.
    #[must_use]
    pub fn object(mut self, identity: Identity, object: K) -> Self {
        self.rig.objects.push((identity, object));
        self
    }

    /// With this object, which has no key.
    #[must_use]
    pub fn without_key(mut self, identity: Identity, object: K) -> Self {
        self.rig.without.push((identity, object));
        self
    }

    runs!("KeyFunc");
}

shown!([F, K] Suite<F, K>);

fn all<F: KeyFunc<K>, K: Send + Sync>() -> Vec<Check<Plain<Rig<F, K>>>> {
    checks! {
        directed every_object_has_one: "The key of `object`, whose metadata said `identity`.";
        directed two_objects_have_two: "Two objects of one source must never have the same key: one would take the place of the other.";
        random the_same_object_the_same_key: "The same object must always give the same key.";
        random another_state_the_same_key: "The same object must always give the same key.";
        directed no_key_is_an_error: "When the object has no usable key, with a sentence that names it.";
        directed by_the_identity_alone: "The key by the identity alone, where it depends on nothing else: what an object that could not be decoded is known by.";
        directed keys_have_an_order: "What a key of a store must be. Implemented for every type that fits.";
        directed from_any_thread: "Makes the key of an object. Called once per object, at ingest, with what the codec read of it.";
        random whatever_it_is_given: "When the object has no usable key, with a sentence that names it.";
    }
}

fn identity(namespace: Option<&str>, name: &str) -> Identity {
    Identity {
        namespace: namespace.map(Into::into),
        name: name.into(),
        stamp: Stamp::new("1", "a-uid"),
    }
}

fn key_of<F: KeyFunc<K>, K>(function: &F, (identity, object): &(Identity, K)) -> Outcome<F::Key> {
    function
        .key(identity, object)
        .map_err(|error| format!("{identity} has a key, but the function says: {error}"))
}

fn keys<F: KeyFunc<K>, K>(rig: &Rig<F, K>) -> Outcome<Vec<F::Key>> {
    let function = (rig.make)();
    rig.objects
        .iter()
        .map(|object| key_of(&function, object))
        .collect()
}

fn every_object_has_one<F: KeyFunc<K>, K>(rig: &Rig<F, K>) -> Outcome {
    keys(rig).map(drop)
}

fn two_objects_have_two<F: KeyFunc<K>, K>(rig: &Rig<F, K>) -> Outcome {
    let mut named: BTreeMap<F::Key, &Identity> = BTreeMap::new();
    for (key, (identity, _)) in keys(rig)?.into_iter().zip(&rig.objects) {
        let shown = format!("{key:?}");
        if let Some(other) = named.insert(key, identity) {
            return Err(format!("{other} and {identity} have one key, {shown}"));
        }
    }
    Ok(())
}

fn the_same_object_the_same_key<F: KeyFunc<K>, K>(rig: &Rig<F, K>, rng: &mut Rng) -> Outcome {
    let first = keys(rig)?;
    // Asked in another order, and by another function made the same way.
    let (function, other) = ((rig.make)(), (rig.make)());
    for _ in 0..rig.objects.len() * 2 {
        let at = rng.index(rig.objects.len());
        let asked = if rng.chance(0.5) { &function } else { &other };
        let again = key_of(asked, &rig.objects[at])?;
        ensure!(
            again == first[at],
            "{} had the key {:?}, and asked again {again:?}",
            rig.objects[at].0,
            first[at]
        );
    }
    Ok(())
}

fn another_state_the_same_key<F: KeyFunc<K>, K>(rig: &Rig<F, K>, rng: &mut Rng) -> Outcome {
    let function = (rig.make)();
    for (identity, object) in &rig.objects {
        let before = function.key(identity, object);
        let mut later = identity.clone();
        later.stamp.version = (&*rng.bits().to_string()).into();
        let after = function.key(&later, object);
        ensure!(
            before == after,
            "{identity} had the key {before:?}, and at version {} it has {after:?}",
            later.stamp.version
        );
    }
    Ok(())
}

fn no_key_is_an_error<F: KeyFunc<K>, K>(rig: &Rig<F, K>) -> Outcome {
    let function = (rig.make)();
    for (identity, object) in &rig.without {
        match function.key(identity, object) {
            Ok(key) => return Err(format!("{identity} has no key, but the function gives {key:?}")),
            Err(error) => names(&error, identity)?,
        }
    }
    Ok(())
}

/// Whether an error tells which object it is about.
fn names(error: &KeyError, identity: &Identity) -> Outcome {
    let said = error.to_string();
    let part = [Some(&*identity.name), identity.namespace.as_deref()];
    let named = part
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .any(|part| said.contains(part));
    ensure!(
        named || (identity.name.is_empty() && identity.namespace.is_none()),
        "the error about {identity} does not name it: {said}"
    );
    Ok(())
}

fn by_the_identity_alone<F: KeyFunc<K>, K>(rig: &Rig<F, K>) -> Outcome {
    let function = (rig.make)();
    for (identity, object) in rig.objects.iter().chain(&rig.without) {
        let Some(alone) = function.key_of_identity(identity) else {
            continue;
        };
        let whole = function.key(identity, object);
        ensure!(
            whole.as_ref() == Ok(&alone),
            "{identity} has by its identity alone the key {alone:?}, and as a whole {whole:?}"
        );
    }
    Ok(())
}

/// `Ord`, `Eq`, `Hash` and `Clone` of one mind.
fn keys_have_an_order<F: KeyFunc<K>, K>(rig: &Rig<F, K>) -> Outcome {
    let keys = keys(rig)?;
    for a in &keys {
        let copy = a.clone();
        ensure!(
            *a == copy && a.cmp(&copy).is_eq() && hash(a) == hash(&copy),
            "{a:?} and a clone of it are not equal, in order, or in hash"
        );
        for b in &keys {
            ensure!(
                a.cmp(b) == b.cmp(a).reverse()
                    && (a == b) == a.cmp(b).is_eq()
                    && a.partial_cmp(b) == Some(a.cmp(b)),
                "{a:?} and {b:?} are {:?} one way, {:?} the other, and `==` says {}",
                a.cmp(b),
                b.cmp(a),
                a == b
            );
            ensure!(
                a != b || hash(a) == hash(b),
                "{a:?} and {b:?} are equal, and their hashes are not"
            );
        }
    }
    let mut sorted = keys;
    sorted.sort();
    for (at, a) in sorted.iter().enumerate() {
        ensure!(
            sorted[at..].iter().all(|b| a <= b),
            "sorted, {a:?} comes before a key that is less: {sorted:?}"
        );
    }
    Ok(())
}

fn hash<Q: Key>(key: &Q) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

fn from_any_thread<F: KeyFunc<K>, K: Send + Sync>(rig: &Rig<F, K>) -> Outcome {
    let here = keys(rig)?;
    let function = (rig.make)();
    let (function, objects) = (&function, &rig.objects);
    let there: Vec<Outcome<Vec<F::Key>>> = std::thread::scope(|scope| {
        let ask = || objects.iter().map(|object| key_of(function, object)).collect();
        let threads = [(); 3].map(|()| scope.spawn(ask));
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    for keys in there {
        ensure!(
            keys? == here,
            "asked by several threads at once it gives other keys"
        );
    }
    Ok(())
}

/// Odd identities: a key or an error, never a panic.
fn whatever_it_is_given<F: KeyFunc<K>, K>(rig: &Rig<F, K>, rng: &mut Rng) -> Outcome {
    const PARTS: [&str; 9] = ["", "/", "a", "a/b", "ä", "\u{0}", " ", "..", "🦀"];
    let function = (rig.make)();
    for (_, object) in &rig.objects {
        let mut text = || {
            (0..rng.index(4))
                .map(|_| PARTS[rng.index(PARTS.len())])
                .collect::<String>()
        };
        let (namespace, name) = (text(), text());
        let odd = identity(rng.chance(0.7).then_some(&*namespace), &name);
        let first = function.key(&odd, object);
        ensure!(
            first == function.key(&odd, object),
            "asked twice about {odd:?} it answers differently"
        );
        if let Some(alone) = function.key_of_identity(&odd) {
            ensure!(
                first == Ok(alone.clone()),
                "{odd:?} has by its identity alone the key {alone:?}, and as a whole {first:?}"
            );
        }
    }
    Ok(())
}
