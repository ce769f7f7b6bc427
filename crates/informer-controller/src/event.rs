//! Changes of any kind of object, for filters that are to apply to all.

use std::{any::Any, fmt};

use informer_core::{Change, Entry, Key, Meta, ObjectKey, Stamp};

/// What kind of change it is (controller-runtime's create, update, delete and generic events).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventKind {
    /// A new object.
    Added {
        /// Of the first list.
        initial: bool,
    },
    /// A new state.
    Updated,
    /// The end of an object.
    Removed {
        /// It was seen; otherwise the object was missing from a list, and the state is the last one known.
        observed: bool,
    },
    /// The current state again.
    Resynced,
}

/// A change of an object whatever its type: what a filter of the whole controller is asked of
/// ([`Builder::with_event_filter`](crate::Builder::with_event_filter)).
pub struct Event<'a> {
    kind: EventKind,
    old: Option<State<'a>>,
    new: State<'a>,
}

impl<'a> Event<'a> {
    pub(crate) fn with<Q: Key, K: Send + Sync + 'static, T>(
        change: &Change<Q, K>,
        meta: Option<&dyn Meta<K>>,
        ask: impl FnOnce(&Event<'_>) -> T,
    ) -> T {
        let kind = match change {
            Change::Added { initial, .. } => EventKind::Added { initial: *initial },
            Change::Updated { .. } => EventKind::Updated,
            Change::Removed { observed, .. } => EventKind::Removed { observed: *observed },
            Change::Resynced { .. } => EventKind::Resynced,
        };
        let new = Typed {
            entry: change.entry(),
            meta,
        };
        match change {
            Change::Updated { old, .. } => {
                let old = Typed { entry: old, meta };
                ask(&Event {
                    kind,
                    old: Some(State(&old)),
                    new: State(&new),
                })
            }
            _ => ask(&Event {
                kind,
                old: None,
                new: State(&new),
            }),
        }
    }

    /// What kind of change it is.
    #[must_use]
    pub fn kind(&self) -> EventKind {
        self.kind
    }

    /// The state before, of an update.
    #[must_use]
    pub fn old(&self) -> Option<State<'a>> {
        self.old
    }

    /// The state now; of a removal, the last one.
    #[must_use]
    pub fn current(&self) -> State<'a> {
        self.new
    }
}

impl fmt::Debug for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("kind", &self.kind)
            .field("old", &self.old)
            .field("new", &self.new)
            .finish()
    }
}

/// A state of an object whatever its type. What the kind's [`Meta`] does not hold, or a kind without one, is `None`.
#[derive(Clone, Copy)]
pub struct State<'a>(&'a dyn AnyState);

impl<'a> State<'a> {
    /// Its key, where that is an [`ObjectKey`].
    #[must_use]
    pub fn key(self) -> Option<&'a ObjectKey> {
        self.0.key().downcast_ref()
    }

    /// Its version and uid.
    #[must_use]
    pub fn stamp(self) -> &'a Stamp {
        self.0.stamp()
    }

    /// The object, where it is of this type.
    #[must_use]
    pub fn object<K: 'static>(self) -> Option<&'a K> {
        self.0.object().downcast_ref()
    }

    /// The value of a label.
    #[must_use]
    pub fn label(self, name: &str) -> Option<&'a str> {
        self.0.label(name)
    }

    /// Its generation.
    #[must_use]
    pub fn generation(self) -> Option<i64> {
        self.0.generation()
    }

    /// Whether it is marked for deletion.
    #[must_use]
    pub fn deleting(self) -> Option<bool> {
        self.0.deleting()
    }
}

impl fmt::Debug for State<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("State").field(&self.0.stamp().version).finish()
    }
}

trait AnyState {
    fn key(&self) -> &dyn Any;
    fn stamp(&self) -> &Stamp;
    fn object(&self) -> &dyn Any;
    fn label(&self, name: &str) -> Option<&str>;
    fn generation(&self) -> Option<i64>;
    fn deleting(&self) -> Option<bool>;
}

struct Typed<'a, Q, K> {
    entry: &'a Entry<Q, K>,
    meta: Option<&'a dyn Meta<K>>,
}

impl<Q: Key, K: Send + Sync + 'static> AnyState for Typed<'_, Q, K> {
    fn key(&self) -> &dyn Any {
        &self.entry.key
    }

    fn stamp(&self) -> &Stamp {
        &self.entry.stamp
    }

    fn object(&self) -> &dyn Any {
        &*self.entry.object
    }

    fn label(&self, name: &str) -> Option<&str> {
        self.meta?.label(&self.entry.object, name)
    }

    fn generation(&self) -> Option<i64> {
        self.meta?.generation(&self.entry.object)
    }

    fn deleting(&self) -> Option<bool> {
        let meta = self.meta.filter(|meta| meta.fields().deletion)?;
        Some(meta.deleting(&self.entry.object))
    }
}
