//! The deltas of one key.

use std::{fmt, slice};

use informer_core::{Cause, Delta, Entry};
use smallvec::SmallVec;

/// What a delta of one key says (client-go `DeltaType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeltaKind {
    /// The watch said ADDED.
    Added,
    /// The watch said MODIFIED.
    Updated,
    /// It is gone: seen, or concluded from its absence in a list.
    Deleted,
    /// A list held it.
    Replaced,
    /// The cached state again.
    Sync,
    /// It exists in a state that could not be decoded. Client-go has no such: it drops the object.
    Unreadable,
}

impl DeltaKind {
    /// The kind of a delta; `None` for one that is not about one key.
    #[must_use]
    pub fn of<Q, K>(delta: &Delta<Q, K>) -> Option<Self> {
        match delta {
            Delta::Upsert(_, Cause::Added) => Some(Self::Added),
            Delta::Upsert(_, Cause::Modified) => Some(Self::Updated),
            Delta::Upsert(_, Cause::Listed) => Some(Self::Replaced),
            Delta::Upsert(_, Cause::Sync) => Some(Self::Sync),
            Delta::Delete { .. } => Some(Self::Deleted),
            Delta::Unreadable { .. } => Some(Self::Unreadable),
            Delta::Replace { .. } | Delta::Resync | Delta::Bookmark { .. } => None,
        }
    }
}

/// All deltas of one key that wait, oldest first. Never empty when a queue hands it out.
pub struct Deltas<Q, K>(SmallVec<[Delta<Q, K>; 1]>);

impl<Q: Clone, K> Deltas<Q, K> {
    pub(crate) fn new() -> Self {
        Self(SmallVec::new())
    }

    /// Appends a delta. Only two deletes in a row become one (client-go `dedupDeltas`). Says whether there is one more now.
    pub(crate) fn push(&mut self, delta: Delta<Q, K>) -> bool {
        if let Some(newest) = self.0.last_mut()
            && let Some(merged) = merge_deletes(newest, &delta)
        {
            *newest = merged;
            return false;
        }
        self.0.push(delta);
        true
    }

    /// The first that happened.
    #[must_use]
    pub fn oldest(&self) -> Option<&Delta<Q, K>> {
        self.0.first()
    }

    /// The last that happened: the state of the key once all of them are processed.
    #[must_use]
    pub fn newest(&self) -> Option<&Delta<Q, K>> {
        self.0.last()
    }

    /// All of them, oldest first.
    pub fn iter(&self) -> slice::Iter<'_, Delta<Q, K>> {
        self.0.iter()
    }

    /// What each of them says, oldest first.
    pub fn kinds(&self) -> impl Iterator<Item = DeltaKind> {
        self.0.iter().filter_map(DeltaKind::of)
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where these deltas leave the key; `None` where they only tell that its state cannot be read.
    pub(crate) fn outcome(&self) -> Option<Outcome<Q, K>> {
        let mut unread = false;
        self.0.iter().rev().find_map(|delta| match delta {
            Delta::Upsert(entry, _) => Some(Outcome::Present(entry.clone())),
            Delta::Delete { .. } if unread => Some(Outcome::Unread),
            Delta::Delete { .. } => Some(Outcome::Absent),
            _ => {
                unread = true;
                None
            }
        })
    }

    /// The last state of the object that these deltas hold.
    pub(crate) fn last_state(&self) -> Option<Entry<Q, K>> {
        self.0.iter().rev().find_map(|delta| match delta {
            Delta::Upsert(entry, _) => Some(entry.clone()),
            Delta::Delete {
                key,
                stamp,
                last: Some(last),
                ..
            } => Some(Entry::new(key.clone(), stamp.clone(), last.clone())),
            _ => None,
        })
    }
}

/// What there is of a key once its deltas are processed.
pub(crate) enum Outcome<Q, K> {
    /// The last state that could be read.
    Present(Entry<Q, K>),
    /// It is there, in no state that could ever be read.
    Unread,
    Absent,
}

/// Two deletes in a row are one. The one that was seen counts, not the one that was concluded (client-go `isDeletionDup`), and between
/// two of a sort the first that was seen, or the last that was concluded; a last state is kept from either, and with it its stamp where
/// there is no other.
fn merge_deletes<Q: Clone, K>(older: &Delta<Q, K>, newer: &Delta<Q, K>) -> Option<Delta<Q, K>> {
    let (
        Delta::Delete {
            observed: older_observed,
            ..
        },
        Delta::Delete { .. },
    ) = (older, newer)
    else {
        return None;
    };
    let (kept, spare) = if *older_observed {
        (older, newer)
    } else {
        (newer, older)
    };
    let mut merged = kept.clone();
    if let Delta::Delete {
        last: last @ None,
        stamp,
        ..
    } = &mut merged
        && let Delta::Delete {
            last: spare_last @ Some(_),
            stamp: spare_stamp,
            ..
        } = spare
    {
        last.clone_from(spare_last);
        if stamp.version.is_none() {
            stamp.clone_from(spare_stamp);
        }
    }
    Some(merged)
}

impl<Q, K> IntoIterator for Deltas<Q, K> {
    type Item = Delta<Q, K>;
    type IntoIter = IntoIter<Q, K>;

    fn into_iter(self) -> IntoIter<Q, K> {
        IntoIter(self.0.into_iter())
    }
}

impl<'a, Q: Clone, K> IntoIterator for &'a Deltas<Q, K> {
    type Item = &'a Delta<Q, K>;
    type IntoIter = slice::Iter<'a, Delta<Q, K>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The deltas of one key, taken out of [`Deltas`], oldest first.
pub struct IntoIter<Q, K>(smallvec::IntoIter<[Delta<Q, K>; 1]>);

impl<Q, K> Iterator for IntoIter<Q, K> {
    type Item = Delta<Q, K>;

    fn next(&mut self) -> Option<Delta<Q, K>> {
        self.0.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<Q, K> fmt::Debug for IntoIter<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").finish_non_exhaustive()
    }
}

impl<Q: Clone, K> Clone for Deltas<Q, K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<Q: fmt::Debug, K> fmt::Debug for Deltas<Q, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0).finish()
    }
}
