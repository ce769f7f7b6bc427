//! `Delta` (source to queue to store) and `Change` (store to handlers): the two types that join everything.

use std::{fmt, sync::Arc};

use crate::{ResourceVersion, Stamp};

/// One object as it is held: key, stamp, and the object, allocated once and shared.
pub struct Entry<Q, K> {
    /// The key, computed once at ingest.
    pub key: Q,
    /// Version and uid.
    pub stamp: Stamp,
    /// The object.
    pub object: Arc<K>,
    /// The server has a newer state that could not be decoded.
    pub stale: bool,
}

impl<Q, K> Entry<Q, K> {
    /// An entry that is current.
    #[must_use]
    pub fn new(key: Q, stamp: Stamp, object: Arc<K>) -> Self {
        Self {
            key,
            stamp,
            object,
            stale: false,
        }
    }
}

impl<Q: Clone, K> Clone for Entry<Q, K> {
    fn clone(&self) -> Self {
        Self {
            key: self.key.clone(),
            stamp: self.stamp.clone(),
            object: self.object.clone(),
            stale: self.stale,
        }
    }
}

/// Prints key and stamp, never the object: it may be large or secret.
impl<Q: fmt::Debug, K> fmt::Debug for Entry<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{:?}", self.key, self.stamp.version)?;
        if !self.stamp.uid.is_empty() {
            write!(f, "#{}", self.stamp.uid)?;
        }
        if self.stale {
            f.write_str(" (stale)")
        } else {
            Ok(())
        }
    }
}

/// Why an object is upserted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The watch said ADDED.
    Added,
    /// The watch said MODIFIED.
    Modified,
    /// A list, or the initial part of a stream, held it (client-go `Replaced`).
    Listed,
    /// The cached state again, for handlers that resync (client-go `Sync`).
    Sync,
}

/// What happened at the source, on its way through the queue to the store.
pub enum Delta<Q, K> {
    /// The object is now this.
    Upsert(Entry<Q, K>, Cause),
    /// The object is gone.
    Delete {
        /// Its key.
        key: Q,
        /// The stamp at which it was seen to be absent, or of its last known state.
        stamp: Stamp,
        /// The last state, where the source sent it.
        last: Option<Arc<K>>,
        /// The source said so. `false`: concluded from its absence in a list (client-go `DeletedFinalStateUnknown`).
        observed: bool,
    },
    /// The object exists in a state that could not be decoded: the stored copy turns stale and is not removed.
    Unreadable {
        /// Its key.
        key: Q,
        /// The stamp of the state that could not be read.
        stamp: Stamp,
    },
    /// The whole of the source at one version: one atomic delta whose difference to the store is taken at commit.
    Replace {
        /// All objects that could be read. The same key twice: the later one counts.
        items: Vec<Entry<Q, K>>,
        /// Keys that exist but could not be read.
        unreadable: Vec<Q>,
        /// The version of the list.
        at: ResourceVersion,
        /// The list may be older than what the store has: the applied version follows it backward.
        may_rewind: bool,
    },
    /// Repeat the cached state to handlers that are due.
    Resync,
    /// Nothing of interest happened up to this version.
    Bookmark {
        /// The version.
        at: ResourceVersion,
        /// As in [`Delta::Replace`], for a queue that spreads a replace over several deltas and ends it with a bookmark.
        may_rewind: bool,
    },
}

impl<Q, K> Delta<Q, K> {
    /// The key it is about; `None` for those that are about the whole.
    pub fn key(&self) -> Option<&Q> {
        match self {
            Self::Upsert(entry, _) => Some(&entry.key),
            Self::Delete { key, .. } | Self::Unreadable { key, .. } => Some(key),
            Self::Replace { .. } | Self::Resync | Self::Bookmark { .. } => None,
        }
    }
}

impl<Q: Clone, K> Clone for Delta<Q, K> {
    fn clone(&self) -> Self {
        match self {
            Self::Upsert(entry, cause) => Self::Upsert(entry.clone(), *cause),
            Self::Delete {
                key,
                stamp,
                last,
                observed,
            } => Self::Delete {
                key: key.clone(),
                stamp: stamp.clone(),
                last: last.clone(),
                observed: *observed,
            },
            Self::Unreadable { key, stamp } => Self::Unreadable {
                key: key.clone(),
                stamp: stamp.clone(),
            },
            Self::Replace {
                items,
                unreadable,
                at,
                may_rewind,
            } => Self::Replace {
                items: items.clone(),
                unreadable: unreadable.clone(),
                at: at.clone(),
                may_rewind: *may_rewind,
            },
            Self::Resync => Self::Resync,
            Self::Bookmark { at, may_rewind } => Self::Bookmark {
                at: at.clone(),
                may_rewind: *may_rewind,
            },
        }
    }
}

impl<Q: fmt::Debug, K> fmt::Debug for Delta<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Upsert(entry, cause) => write!(f, "{cause:?} {entry:?}"),
            Self::Delete {
                key, stamp, observed, ..
            } => {
                write!(
                    f,
                    "{} {key:?}{:?}",
                    if *observed { "Deleted" } else { "Vanished" },
                    stamp.version
                )
            }
            Self::Unreadable { key, stamp } => write!(f, "Unreadable {key:?}{:?}", stamp.version),
            Self::Replace {
                items,
                unreadable,
                at,
                may_rewind,
            } => {
                write!(f, "Replace{at:?} {items:?}")?;
                if !unreadable.is_empty() {
                    write!(f, " unreadable {unreadable:?}")?;
                }
                if *may_rewind {
                    f.write_str(" may rewind")
                } else {
                    Ok(())
                }
            }
            Self::Resync => f.write_str("Resync"),
            Self::Bookmark { at, may_rewind } => {
                write!(
                    f,
                    "Bookmark{at:?}{}",
                    if *may_rewind { " may rewind" } else { "" }
                )
            }
        }
    }
}

/// What a queue hands out at once and a store commits in one step.
///
/// Keys are pairwise distinct; `Replace`, `Resync` and `Bookmark` come alone; deltas of the initial list and later ones never mix.
#[derive(Debug)]
pub struct Batch<Q, K> {
    /// In order.
    pub deltas: Vec<Delta<Q, K>>,
    /// They belong to the initial list.
    pub initial: bool,
    /// They come in the order of the source, so that the version of an upsert or delete tells how far the source was followed. `false`
    /// from a queue that reorders across keys: then only `Replace` and `Bookmark` tell it.
    pub in_order: bool,
}

impl<Q, K> Default for Batch<Q, K> {
    fn default() -> Self {
        Self {
            deltas: Vec::new(),
            initial: false,
            in_order: true,
        }
    }
}

impl<Q, K> Batch<Q, K> {
    /// A batch of one.
    #[must_use]
    pub fn of(delta: Delta<Q, K>, initial: bool) -> Self {
        Self {
            deltas: vec![delta],
            initial,
            in_order: true,
        }
    }

    /// Whether nothing is in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.deltas.is_empty()
    }
}

/// What changed in the store, as handlers are told. Per key they form a gapless forward chain.
pub enum Change<Q, K> {
    /// The key is new.
    Added {
        /// Its state.
        new: Entry<Q, K>,
        /// It belongs to the initial list, or to the replay for a handler that came late.
        initial: bool,
    },
    /// The key has another state, of the same incarnation.
    Updated {
        /// The state of the previous change.
        old: Entry<Q, K>,
        /// The state now.
        new: Entry<Q, K>,
    },
    /// The key is gone.
    Removed {
        /// The last state that is known.
        last: Entry<Q, K>,
        /// `false`: its end was not seen, only its absence (client-go `DeletedFinalStateUnknown`).
        observed: bool,
    },
    /// The current state again, to handlers that asked for a resync and are due.
    Resynced {
        /// That state.
        current: Entry<Q, K>,
    },
}

impl<Q, K> Change<Q, K> {
    /// The entry that the change leads to, or ended.
    pub fn entry(&self) -> &Entry<Q, K> {
        match self {
            Self::Added { new, .. } | Self::Updated { new, .. } => new,
            Self::Removed { last, .. } => last,
            Self::Resynced { current } => current,
        }
    }

    /// The key it is about.
    pub fn key(&self) -> &Q {
        &self.entry().key
    }
}

impl<Q: Clone, K> Clone for Change<Q, K> {
    fn clone(&self) -> Self {
        match self {
            Self::Added { new, initial } => Self::Added {
                new: new.clone(),
                initial: *initial,
            },
            Self::Updated { old, new } => Self::Updated {
                old: old.clone(),
                new: new.clone(),
            },
            Self::Removed { last, observed } => Self::Removed {
                last: last.clone(),
                observed: *observed,
            },
            Self::Resynced { current } => Self::Resynced {
                current: current.clone(),
            },
        }
    }
}

impl<Q: fmt::Debug, K> fmt::Debug for Change<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Added { new, initial } => {
                write!(f, "Added {new:?}{}", if *initial { " initial" } else { "" })
            }
            Self::Updated { old, new } => write!(f, "Updated {old:?} -> {new:?}"),
            Self::Removed { last, observed } => {
                write!(
                    f,
                    "Removed {last:?}{}",
                    if *observed { "" } else { " unobserved" }
                )
            }
            Self::Resynced { current } => write!(f, "Resynced {current:?}"),
        }
    }
}
