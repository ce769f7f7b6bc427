//! A store under test and what it is driven with: for the suites of readers and of the writer.

use std::{
    collections::BTreeSet,
    fmt::Debug,
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
};

use informer_core::{
    Batch, Cause, Change, CommitError, Delta, Entry, IndexError, IndexFunc, Snapshot, Store, StoreWriter,
};

use super::{
    Indices, Samples,
    check::{Outcome, ensure},
    samples,
};

/// Both sides of a store under test.
type Sides<Q, K> = (Box<dyn StoreWriter<Q, K>>, Arc<dyn Store<Q, K>>);

type MakeSides<S> =
    Box<dyn Fn(Indices<<S as Samples>::Object>) -> Sides<<S as Samples>::Key, <S as Samples>::Object>>;

/// Makes stores under test.
pub(super) struct StoreRig<S: Samples> {
    pub(super) samples: S,
    make: MakeSides<S>,
    pub(super) indexed: bool,
}

/// What is called whenever the store asks an index function.
type Hook = Arc<Mutex<Option<Box<dyn FnMut() + Send>>>>;

/// A store under test, empty at first.
pub(super) struct Instance<'a, S: Samples> {
    pub(super) samples: &'a S,
    pub(super) writer: Box<dyn StoreWriter<S::Key, S::Object>>,
    pub(super) store: Arc<dyn Store<S::Key, S::Object>>,
    /// What it was built with.
    pub(super) indices: Indices<S::Object>,
    hook: Hook,
}

impl<S: Samples> StoreRig<S> {
    pub(super) fn new<W, R>(samples: S, make: impl Fn(Indices<S::Object>) -> (W, R) + 'static) -> Self
    where
        W: StoreWriter<S::Key, S::Object> + 'static,
        R: Store<S::Key, S::Object> + 'static,
    {
        Self {
            samples,
            make: Box::new(move |indices| {
                let (writer, store) = make(indices);
                (Box::new(writer), Arc::new(store))
            }),
            indexed: true,
        }
    }

    pub(super) fn fresh(&self) -> Instance<'_, S> {
        let indices = if self.indexed {
            self.samples.indices()
        } else {
            Vec::new()
        };
        let hook = Hook::default();
        let hooked = indices.iter().map(|(name, function)| {
            let hooked = Hooked {
                function: function.clone(),
                hook: hook.clone(),
            };
            (name.clone(), Arc::new(hooked) as Arc<dyn IndexFunc<S::Object>>)
        });
        let (writer, store) = (self.make)(hooked.collect());
        Instance {
            samples: &self.samples,
            writer,
            store,
            indices,
            hook,
        }
    }

    /// A store that lists the first `n` objects at version 10.
    pub(super) fn filled(&self, n: u32) -> Outcome<Instance<'_, S>> {
        let mut instance = self.fresh();
        let items = (0..n).map(|n| instance.entry(n, 0, &format!("{}", n + 1)));
        let list = list(items.collect(), "10");
        instance.commit(list)?;
        Ok(instance)
    }
}

struct Hooked<K> {
    function: Arc<dyn IndexFunc<K>>,
    hook: Hook,
}

impl<K> IndexFunc<K> for Hooked<K> {
    fn values(&self, object: &K, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        // Outside of the lock, since it may come back here.
        let hook = self.hook.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut hook) = hook {
            hook();
            *self.hook.lock().unwrap_or_else(PoisonError::into_inner) = Some(hook);
        }
        self.function.values(object, emit)
    }
}

/// What a commit told.
pub(super) type Told<S> = Vec<Change<<S as Samples>::Key, <S as Samples>::Object>>;

impl<S: Samples> Instance<'_, S> {
    pub(super) fn entry(&self, n: u32, state: u32, version: &str) -> Entry<S::Key, S::Object> {
        samples::entry(self.samples, n, state, version)
    }

    /// Calls this from within the next commit, each time it asks an index function.
    pub(super) fn during_a_commit(&self, hook: impl FnMut() + Send + 'static) {
        *self.hook.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(hook));
    }

    /// Commits one delta that the store must be able to take.
    pub(super) fn commit(&mut self, delta: Delta<S::Key, S::Object>) -> Outcome<Told<S>> {
        self.commit_all(vec![delta])
    }

    /// Commits deltas that the store must be able to take.
    pub(super) fn commit_all(&mut self, deltas: Vec<Delta<S::Key, S::Object>>) -> Outcome<Told<S>> {
        let mut batch = Batch {
            deltas,
            initial: false,
            in_order: true,
        };
        let (told, result) = self.commit_batch(&mut batch);
        ensure!(
            result.is_ok(),
            "a commit failed that must not: {}",
            result.err().map_or_else(String::new, |error| error.to_string())
        );
        ensure!(
            batch.is_empty(),
            "after a commit that did not fail, {:?} was left in the batch",
            batch.deltas
        );
        Ok(told)
    }

    pub(super) fn commit_batch(
        &mut self,
        batch: &mut Batch<S::Key, S::Object>,
    ) -> (Told<S>, Result<(), CommitError<S::Key>>) {
        let mut told = Vec::new();
        let result = self.writer.commit(batch, &mut told);
        (told, result)
    }

    /// Whether every answer of a snapshot fits every other, and the index functions.
    pub(super) fn agrees(&self, snapshot: &dyn Snapshot<S::Key, S::Object>) -> Outcome {
        agrees(snapshot, &self.indices)
    }
}

/// Whether every answer of a snapshot fits every other, and the index functions.
pub(super) fn agrees<Q: Ord + Clone + Debug, K>(
    snapshot: &dyn Snapshot<Q, K>,
    indices: &Indices<K>,
) -> Outcome {
    let all = scanned(snapshot, None);
    ensure!(
        all.iter().map(|entry| &entry.key).is_sorted_by(|a, b| a < b),
        "a scan visits {all:?}, which is not in key order"
    );
    ensure!(
        snapshot.len() == all.len() && snapshot.is_empty() == all.is_empty(),
        "a scan visits {} entries, but `len` is {} and `is_empty` {}",
        all.len(),
        snapshot.len(),
        snapshot.is_empty()
    );
    for entry in &all {
        let got = snapshot.get(&entry.key);
        ensure!(
            got.is_some_and(|got| same(got, entry)),
            "a scan visits {entry:?}, but `get` gives {got:?}"
        );
    }
    for (name, function) in indices {
        let mut values = BTreeSet::from(["a value that no object has".to_owned()]);
        for entry in &all {
            values.extend(values_of(&**function, &entry.object)?);
        }
        for value in values {
            let mut wanted = Vec::new();
            for entry in &all {
                if values_of(&**function, &entry.object)?.contains(&value) {
                    wanted.push(entry.clone());
                }
            }
            let found = indexed(snapshot, name, &value)?;
            ensure!(
                same_all(&found, &wanted),
                "index {name:?} has {found:?} under {value:?}, but by its function it is {wanted:?}"
            );
        }
    }
    Ok(())
}

fn values_of<K>(function: &dyn IndexFunc<K>, object: &K) -> Outcome<BTreeSet<String>> {
    let mut values = BTreeSet::new();
    function
        .values(object, &mut |value| {
            values.insert(value.to_owned());
        })
        .map_err(|error| format!("an object is in the store for which an index function fails: {error}"))?;
    Ok(values)
}

/// Everything from behind a key.
pub(super) fn scanned<Q: Clone, K>(snapshot: &dyn Snapshot<Q, K>, after: Option<&Q>) -> Vec<Entry<Q, K>> {
    let mut entries = Vec::new();
    snapshot.scan(after, &mut |entry| {
        entries.push(entry.clone());
        ControlFlow::Continue(())
    });
    entries
}

/// Everything under a value of an index that there is.
pub(super) fn indexed<Q: Clone, K>(
    snapshot: &dyn Snapshot<Q, K>,
    index: &str,
    value: &str,
) -> Outcome<Vec<Entry<Q, K>>> {
    let mut entries = Vec::new();
    snapshot
        .by_index(index, value, &mut |entry| {
            entries.push(entry.clone());
            ControlFlow::Continue(())
        })
        .map_err(|error| format!("the store was made with index {index:?}, but says: {error}"))?;
    Ok(entries)
}

/// Whether both are one entry: key, stamp, mark, and the very same object.
pub(super) fn same<Q: PartialEq, K>(a: &Entry<Q, K>, b: &Entry<Q, K>) -> bool {
    a.key == b.key && a.stamp == b.stamp && a.stale == b.stale && Arc::ptr_eq(&a.object, &b.object)
}

/// Whether both are the same entries in the same order.
pub(super) fn same_all<Q: PartialEq, K>(a: &[Entry<Q, K>], b: &[Entry<Q, K>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
}

/// Whether both tell the same.
pub(super) fn same_change<Q: PartialEq, K>(a: &Change<Q, K>, b: &Change<Q, K>) -> bool {
    match (a, b) {
        (Change::Added { new: a, initial: c }, Change::Added { new: b, initial: d }) => same(a, b) && c == d,
        (Change::Updated { old: c, new: a }, Change::Updated { old: d, new: b }) => same(a, b) && same(c, d),
        (Change::Removed { last: a, observed: c }, Change::Removed { last: b, observed: d }) => {
            same(a, b) && c == d
        }
        (Change::Resynced { current: a }, Change::Resynced { current: b }) => same(a, b),
        _ => false,
    }
}

/// Whether both tell the same of every key, in the same order for each.
pub(super) fn same_told<Q: Ord, K>(a: &[Change<Q, K>], b: &[Change<Q, K>]) -> bool {
    let of = |told: &[Change<Q, K>], key: &Q| told.iter().filter(|it| it.key() == key).count();
    let keys: BTreeSet<&Q> = a.iter().chain(b).map(Change::key).collect();
    a.len() == b.len()
        && keys.into_iter().all(|key| {
            let mine = a.iter().filter(|it| it.key() == key);
            let theirs = b.iter().filter(|it| it.key() == key);
            of(a, key) == of(b, key) && mine.zip(theirs).all(|(a, b)| same_change(a, b))
        })
}

/// A whole list.
pub(super) fn list<Q, K>(items: Vec<Entry<Q, K>>, at: &str) -> Delta<Q, K> {
    Delta::Replace {
        items,
        unreadable: Vec::new(),
        at: at.into(),
        may_rewind: false,
    }
}

/// A change that the watch told.
pub(super) fn modified<Q, K>(entry: Entry<Q, K>) -> Delta<Q, K> {
    Delta::Upsert(entry, Cause::Modified)
}

/// An end that the watch told, with the last state.
pub(super) fn deleted<Q, K>(entry: Entry<Q, K>) -> Delta<Q, K> {
    Delta::Delete {
        key: entry.key,
        stamp: entry.stamp,
        last: Some(entry.object),
        observed: true,
    }
}

/// A version and nothing else.
pub(super) fn bookmark<Q, K>(at: &str) -> Delta<Q, K> {
    Delta::Bookmark {
        at: at.into(),
        may_rewind: false,
    }
}

/// A suite of what is made with index functions and has a writer and a reader.
macro_rules! store_suite {
    ($(#[$doc:meta])* $contract:literal) => {
        $(#[$doc])*
        pub struct Suite<S: Samples = Things> {
            subject: String,
            rig: StoreRig<S>,
            scope: Scope,
        }

        impl Suite {
            /// For a store that takes any key and object. `make` makes an empty one with these index functions: its writer and a reader.
            pub fn new<W, R>(
                subject: &str,
                make: impl Fn(Indices<<Things as Samples>::Object>) -> (W, R) + 'static,
            ) -> Self
            where
                W: StoreWriter<<Things as Samples>::Key, <Things as Samples>::Object> + 'static,
                R: Store<<Things as Samples>::Key, <Things as Samples>::Object> + 'static,
            {
                Self::over(Things, subject, make)
            }
        }

        impl<S: Samples> Suite<S> {
            /// For a store of these keys and objects.
            pub fn over<W, R>(
                samples: S,
                subject: &str,
                make: impl Fn(Indices<S::Object>) -> (W, R) + 'static,
            ) -> Self
            where
                W: StoreWriter<S::Key, S::Object> + 'static,
                R: Store<S::Key, S::Object> + 'static,
            {
                Self {
                    subject: subject.to_owned(),
                    rig: StoreRig::new(samples, make),
                    scope: Scope::default(),
                }
            }

            /// The store has no indices: it is made with none.
            #[must_use]
            pub fn without_indices(mut self) -> Self {
                self.rig.indexed = false;
                self
            }

            runs!($contract);
        }

        shown!([S: Samples] Suite<S>);
    };
}

pub(super) use store_suite;
