//! Predicates of functions.

use std::fmt;

use informer_core::Entry;

use crate::Predicate;

/// A function of the object as a [`Predicate`]: see [`object_fn`].
#[derive(Clone, Copy)]
pub struct ObjectFn<F>(F);

/// Lets objects pass of which the function says so; an update if it does of the old or the new state. Removals pass.
pub fn object_fn<Q, K, F: Fn(&Entry<Q, K>) -> bool>(function: F) -> ObjectFn<F> {
    ObjectFn(function)
}

impl<Q, K, F: Fn(&Entry<Q, K>) -> bool + Send + Sync> Predicate<Q, K> for ObjectFn<F> {
    fn added(&self, new: &Entry<Q, K>, _: bool) -> bool {
        (self.0)(new)
    }

    fn updated(&self, old: &Entry<Q, K>, new: &Entry<Q, K>) -> bool {
        (self.0)(new) || (self.0)(old)
    }

    fn resynced(&self, current: &Entry<Q, K>) -> bool {
        (self.0)(current)
    }
}

/// A function of the object's new state as a [`Predicate`]: see [`new_object_fn`].
#[derive(Clone, Copy)]
pub struct NewObjectFn<F>(F);

/// Lets objects pass of whose new state the function says so, whatever the old one was (controller-runtime `NewPredicateFuncs`). Removals
/// pass. An object that leaves what is wanted is not heard of then: see [`object_fn`].
pub fn new_object_fn<Q, K, F: Fn(&Entry<Q, K>) -> bool>(function: F) -> NewObjectFn<F> {
    NewObjectFn(function)
}

impl<Q, K, F: Fn(&Entry<Q, K>) -> bool + Send + Sync> Predicate<Q, K> for NewObjectFn<F> {
    fn added(&self, new: &Entry<Q, K>, _: bool) -> bool {
        (self.0)(new)
    }

    fn updated(&self, _: &Entry<Q, K>, new: &Entry<Q, K>) -> bool {
        (self.0)(new)
    }

    fn resynced(&self, current: &Entry<Q, K>) -> bool {
        (self.0)(current)
    }
}

type OnAdded<Q, K> = Box<dyn Fn(&Entry<Q, K>, bool) -> bool + Send + Sync>;
type OnUpdated<Q, K> = Box<dyn Fn(&Entry<Q, K>, &Entry<Q, K>) -> bool + Send + Sync>;
type OnResynced<Q, K> = Box<dyn Fn(&Entry<Q, K>) -> bool + Send + Sync>;

/// One function for each kind of change; without one, that kind passes (controller-runtime `predicate.Funcs`).
///
/// ```
/// use informer_controller::{Predicate, PredicateFns};
/// use informer_core::ObjectKey;
///
/// let no_news: PredicateFns<ObjectKey, ()> = PredicateFns::new()
///     .added(|_, initial| !initial)
///     .updated(|old, new| old.stamp.uid != new.stamp.uid);
/// # let _: &dyn Predicate<ObjectKey, ()> = &no_news;
/// ```
#[must_use]
pub struct PredicateFns<Q, K> {
    added: Option<OnAdded<Q, K>>,
    updated: Option<OnUpdated<Q, K>>,
    removed: Option<OnAdded<Q, K>>,
    resynced: Option<OnResynced<Q, K>>,
}

impl<Q, K> PredicateFns<Q, K> {
    /// Lets everything pass.
    pub fn new() -> Self {
        Self {
            added: None,
            updated: None,
            removed: None,
            resynced: None,
        }
    }

    /// Which new objects pass; the second argument: of the first list.
    pub fn added(mut self, function: impl Fn(&Entry<Q, K>, bool) -> bool + Send + Sync + 'static) -> Self {
        self.added = Some(Box::new(function));
        self
    }

    /// Which updates pass, by the old and the new state.
    pub fn updated(
        mut self,
        function: impl Fn(&Entry<Q, K>, &Entry<Q, K>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.updated = Some(Box::new(function));
        self
    }

    /// Which removals pass; the second argument: it was observed.
    pub fn removed(mut self, function: impl Fn(&Entry<Q, K>, bool) -> bool + Send + Sync + 'static) -> Self {
        self.removed = Some(Box::new(function));
        self
    }

    /// Which resyncs pass.
    pub fn resynced(mut self, function: impl Fn(&Entry<Q, K>) -> bool + Send + Sync + 'static) -> Self {
        self.resynced = Some(Box::new(function));
        self
    }
}

impl<Q, K> Default for PredicateFns<Q, K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<Q, K> Predicate<Q, K> for PredicateFns<Q, K> {
    fn added(&self, new: &Entry<Q, K>, initial: bool) -> bool {
        self.added.as_ref().is_none_or(|it| it(new, initial))
    }

    fn updated(&self, old: &Entry<Q, K>, new: &Entry<Q, K>) -> bool {
        self.updated.as_ref().is_none_or(|it| it(old, new))
    }

    fn removed(&self, last: &Entry<Q, K>, observed: bool) -> bool {
        self.removed.as_ref().is_none_or(|it| it(last, observed))
    }

    fn resynced(&self, current: &Entry<Q, K>) -> bool {
        self.resynced.as_ref().is_none_or(|it| it(current))
    }
}

impl<Q, K> fmt::Debug for PredicateFns<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PredicateFns").finish_non_exhaustive()
    }
}

impl<F> fmt::Debug for ObjectFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ObjectFn").finish_non_exhaustive()
    }
}

impl<F> fmt::Debug for NewObjectFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewObjectFn").finish_non_exhaustive()
    }
}
