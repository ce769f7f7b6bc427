//! The objects that both sides move, and how they are written: `namespace/name@version#uid[values]`.

use std::{collections::BTreeSet, fmt, str::FromStr, sync::Arc};

use informer_core::{Entry, IndexError, IndexFunc, ObjectKey, Stamp};

/// The value that no index function bears.
pub const UNBEARABLE: &str = "!";

/// What is cached: the values by which it is indexed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Thing {
    /// In their order, perhaps one of them twice.
    pub values: Vec<String>,
}

/// An object and its identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    /// `namespace/name`, or a name alone.
    pub key: String,
    /// Its resource version; may be empty.
    pub version: String,
    /// Its uid; may be empty.
    pub uid: String,
    /// What it is indexed by.
    pub values: Vec<String>,
}

/// Says which part of an object's text is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoObject(String);

impl fmt::Display for NoObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no key@version#uid[values]", self.0)
    }
}

impl std::error::Error for NoObject {}

impl FromStr for Object {
    type Err = NoObject;

    fn from_str(text: &str) -> Result<Self, NoObject> {
        let parse = || {
            let (key, rest) = text.split_once('@')?;
            let (version, rest) = rest.split_once('#')?;
            let (uid, rest) = rest.split_once('[')?;
            let values = rest.strip_suffix(']')?;
            Some(Self {
                key: key.to_owned(),
                version: version.to_owned(),
                uid: uid.to_owned(),
                values: values
                    .split(',')
                    .filter(|value| !value.is_empty())
                    .map(str::to_owned)
                    .collect(),
            })
        };
        parse().ok_or_else(|| NoObject(text.to_owned()))
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.values.join(",");
        write!(f, "{}@{}#{}[{values}]", self.key, self.version, self.uid)
    }
}

impl Object {
    /// Reads an object that a suite or an oracle wrote.
    ///
    /// # Panics
    /// When the text is no object: sequences are made here, so that would be a mistake here.
    #[must_use]
    pub fn read(text: &str) -> Self {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    /// As the machinery holds it.
    #[must_use]
    pub fn entry(&self) -> Entry<ObjectKey, Thing> {
        let thing = Thing {
            values: self.values.clone(),
        };
        Entry::new(key(&self.key), self.stamp(), Arc::new(thing))
    }

    /// Its version and uid.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        Stamp::new(&*self.version, &*self.uid)
    }
}

/// A key from its text.
#[must_use]
pub fn key(text: &str) -> ObjectKey {
    match text.split_once('/') {
        Some((namespace, name)) => ObjectKey::namespaced(namespace, name),
        None => ObjectKey::cluster(text),
    }
}

/// An entry as its text.
#[must_use]
pub fn show(entry: &Entry<ObjectKey, Thing>) -> String {
    show_parts(&entry.key, &entry.stamp, &entry.object)
}

/// An object as its text, from what a delta carries.
#[must_use]
pub fn show_parts(key: &ObjectKey, stamp: &Stamp, thing: &Thing) -> String {
    format!(
        "{key}@{}#{}[{}]",
        stamp.version,
        stamp.uid,
        thing.values.join(",")
    )
}

/// The index functions, by name.
#[derive(Debug, Clone)]
pub enum By {
    /// The first of the values.
    First,
    /// Each of the values.
    Each,
}

impl By {
    /// The function of that name.
    #[must_use]
    pub fn name(name: &str) -> Self {
        match name {
            "first" => Self::First,
            _ => Self::Each,
        }
    }
}

impl IndexFunc<Thing> for By {
    fn values(&self, thing: &Thing, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        if thing.values.iter().any(|value| value == UNBEARABLE) {
            return Err(IndexError::new("an unbearable value"));
        }
        let n = match self {
            Self::First => 1,
            Self::Each => usize::MAX,
        };
        thing.values.iter().take(n).for_each(|value| emit(value));
        Ok(())
    }
}

/// Keys as oracles print them, in the order of their text.
#[must_use]
pub fn show_keys<'a>(keys: impl IntoIterator<Item = &'a ObjectKey>) -> String {
    let keys: BTreeSet<String> = keys.into_iter().map(ToString::to_string).collect();
    keys.into_iter().collect::<Vec<_>>().join(" ")
}
