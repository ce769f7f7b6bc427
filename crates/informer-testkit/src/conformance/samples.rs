//! What the suites fill an implementation with.

use std::{fmt, sync::Arc};

use informer_core::{Entry, IndexError, IndexFunc, Key, ObjectKey, Stamp};

/// Index functions by name.
pub type Indices<K> = Vec<(Arc<str>, Arc<dyn IndexFunc<K>>)>;

/// How an index function fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It returns an error.
    Error,
    /// It panics.
    Panic,
}

/// Keys and objects to fill an implementation with. For a layer that takes any key and object, [`Things`] will do; one that takes only its
/// own gets its own.
pub trait Samples: Send + Sync + 'static {
    /// The key.
    type Key: Key;
    /// The object.
    type Object: Send + Sync + 'static;

    /// The key of the nth object. Other numbers give other keys.
    fn key(&self, n: u32) -> Self::Key;

    /// The nth object in one of its states. What the index functions say of it should differ from state to state.
    fn object(&self, n: u32, state: u32) -> Self::Object;

    /// The index functions that a store is made with.
    fn indices(&self) -> Indices<Self::Object> {
        Vec::new()
    }

    /// The nth object in a state for which an index function fails like this, where there is one.
    fn refused(&self, _n: u32, _how: Refusal) -> Option<Self::Object> {
        None
    }
}

/// The samples for whatever takes any object: [`Thing`]s by [`ObjectKey`].
///
/// Their keys lie in no namespace, in `a` and in `a-b`, so that the order of keys is not that of their text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Things;

/// An object that has nothing but what indices need.
#[derive(Clone, PartialEq, Eq)]
pub struct Thing {
    /// Its number and state, to recognise it by.
    pub name: String,
    /// What index `color` finds it by; some twice.
    pub colors: Vec<&'static str>,
    /// Index `color` fails for it.
    pub refused: Option<Refusal>,
}

impl fmt::Debug for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Samples for Things {
    type Key = ObjectKey;
    type Object = Thing;

    fn key(&self, n: u32) -> ObjectKey {
        let namespace = [Some("a"), Some("a-b"), None][n as usize % 3];
        ObjectKey::new(namespace, &format!("thing-{}", n / 3))
    }

    fn object(&self, n: u32, state: u32) -> Thing {
        let colors: &[&str] = match (n + state) % 5 {
            0 => &["red"],
            1 => &["red", "blue"],
            2 => &[],
            3 => &["blue", "red", "blue"],
            _ => &["green"],
        };
        Thing {
            name: format!("thing {n} in state {state}"),
            colors: colors.to_vec(),
            refused: None,
        }
    }

    fn indices(&self) -> Indices<Thing> {
        vec![
            ("color".into(), Arc::new(Color)),
            (
                "n-colors".into(),
                Arc::new(|thing: &Thing, emit: &mut dyn FnMut(&str)| emit(&thing.colors.len().to_string())),
            ),
        ]
    }

    fn refused(&self, n: u32, how: Refusal) -> Option<Thing> {
        Some(Thing {
            name: format!("thing {n}, refused"),
            colors: vec!["grey"],
            refused: Some(how),
        })
    }
}

struct Color;

impl IndexFunc<Thing> for Color {
    #[expect(
        clippy::panic,
        clippy::panic_in_result_fn,
        reason = "what an index function of a user's might do"
    )]
    fn values(&self, thing: &Thing, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        // Some values first: what was emitted before a failure must not count.
        thing.colors.iter().for_each(|color| emit(color));
        match thing.refused {
            None => Ok(()),
            Some(Refusal::Error) => Err(IndexError::new("the color of this thing cannot be told")),
            Some(Refusal::Panic) => panic!("the color function panics for this thing, as it should"),
        }
    }
}

/// An entry of the nth object.
pub(super) fn entry<S: Samples>(samples: &S, n: u32, state: u32, version: &str) -> Entry<S::Key, S::Object> {
    let stamp = Stamp::new(version, format!("uid-{n}"));
    Entry::new(samples.key(n), stamp, Arc::new(samples.object(n, state)))
}

/// An entry of the nth object, in another life.
pub(super) fn reborn<S: Samples>(samples: &S, n: u32, state: u32, version: &str) -> Entry<S::Key, S::Object> {
    let stamp = Stamp::new(version, format!("uid-{n}-of-{version}"));
    Entry::new(samples.key(n), stamp, Arc::new(samples.object(n, state)))
}
