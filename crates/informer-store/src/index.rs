//! One index: its function and where each value leads.

use std::{
    any::Any,
    cmp::Ordering,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use informer_core::{IndexError, IndexFunc, Key};
use smallvec::SmallVec;

use crate::{indexers::Named, tree::Tree};

/// The values of one object in one index, sorted, each once.
///
/// They are kept beside the object, so that taking it out asks no function: one that fails, or answers differently the second time,
/// can leave no ghost behind.
pub(crate) type Values = SmallVec<[Arc<str>; 1]>;

/// One tree of (value, key) instead of a set per value: a value without objects is simply not there, and a unique value costs no set.
pub(crate) struct Index<Q: Key, K> {
    pub(crate) name: Arc<str>,
    function: Arc<dyn IndexFunc<K>>,
    postings: Tree<Posting<Q>, ()>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Posting<Q> {
    value: Arc<str>,
    key: Q,
}

impl<Q: Key, K> Index<Q, K> {
    pub(crate) fn new(of: Named<K>) -> Self {
        Self {
            name: of.name,
            function: of.function,
            postings: Tree::new(),
        }
    }

    /// Asks the function. Equal values share one text with those that are in the index.
    pub(crate) fn evaluate(&self, object: &K) -> Result<Values, IndexError> {
        let mut values = Values::new();
        let asked = catch_unwind(AssertUnwindSafe(|| {
            self.function
                .values(object, &mut |value| values.push(self.shared(value)))
        }));
        match asked {
            Ok(answer) => answer?,
            Err(panic) => {
                let message = format!("the index function panicked: {}", message_of(&*panic));
                return Err(IndexError::new(message));
            }
        }
        values.sort_unstable();
        values.dedup();
        Ok(values)
    }

    fn shared(&self, value: &str) -> Arc<str> {
        match self.postings.range(|it| *it.value < *value).next() {
            Some((posting, ())) if *posting.value == *value => posting.value.clone(),
            _ => value.into(),
        }
    }

    /// Moves a key from its old values to its new ones.
    pub(crate) fn shift(&mut self, key: &Q, old: &[Arc<str>], new: &[Arc<str>]) {
        let posting = |value: &Arc<str>| Posting {
            value: value.clone(),
            key: key.clone(),
        };
        for gone in old.iter().filter(|value| new.binary_search(value).is_err()) {
            self.postings.remove(&posting(gone));
        }
        for come in new.iter().filter(|value| old.binary_search(value).is_err()) {
            self.postings.insert(posting(come), ());
        }
    }

    /// The keys under a value, in order.
    pub(crate) fn keys<'a>(&'a self, value: &str) -> impl Iterator<Item = &'a Q> {
        self.postings
            .range(|it| *it.value < *value)
            .take_while(move |(it, ())| *it.value == *value)
            .map(|(it, ())| &it.key)
    }

    /// The values that lead to at least one object, in order.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Arc<str>> {
        let mut next = self.postings.iter().next();
        std::iter::from_fn(move || {
            let value = &next?.0.value;
            next = self
                .postings
                .range(|it| it.value.cmp(value) != Ordering::Greater)
                .next();
            Some(value)
        })
    }
}

impl<Q: Key, K> Clone for Index<Q, K> {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            function: self.function.clone(),
            postings: self.postings.clone(),
        }
    }
}

fn message_of(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
