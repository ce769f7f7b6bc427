//! What a list has brought so far.

use std::collections::BTreeMap;

use informer_core::{Entry, Key};

use crate::ingest::Held;

/// Objects of a whole state that is being taken, in the order in which they came.
///
/// The common case, objects and nothing else, is a plain vector. What takes objects back (deletes and unreadable states within a streaming
/// list) is noted beside it with its place in the order, and worked in at the end.
#[derive(Debug)]
pub(crate) struct Buffer<Q, K> {
    items: Vec<Entry<Q, K>>,
    marks: BTreeMap<Q, Mark>,
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    /// Items that came before it.
    after: usize,
    unreadable: bool,
}

impl<Q: Key, K> Buffer<Q, K> {
    pub(crate) fn new() -> Self {
        Self {
            items: Vec::new(),
            marks: BTreeMap::new(),
        }
    }

    pub(crate) fn keep(&mut self, held: Held<Q, K>) {
        let after = self.items.len();
        match held {
            Held::Upsert(entry, _) => self.items.push(entry),
            Held::Delete { key, .. } => {
                self.marks.insert(
                    key,
                    Mark {
                        after,
                        unreadable: false,
                    },
                );
            }
            Held::Unreadable { key, .. } => {
                self.marks.insert(
                    key,
                    Mark {
                        after,
                        unreadable: true,
                    },
                );
            }
        }
    }

    pub(crate) fn forget(&mut self) {
        *self = Self::new();
    }

    /// The objects that are there in the end, and the keys of those that are there and cannot be read. Leaves it empty.
    pub(crate) fn take(&mut self) -> (Vec<Entry<Q, K>>, Vec<Q>) {
        let (mut items, mut marks) = (std::mem::take(&mut self.items), std::mem::take(&mut self.marks));
        if !marks.is_empty() {
            let mut place = 0;
            items.retain(|item| {
                let stays = match marks.get(&item.key) {
                    None => true,
                    Some(mark) => place >= mark.after,
                };
                if stays {
                    marks.remove(&item.key);
                }
                place += 1;
                stays
            });
        }
        // A store counts a key that is both read and unreadable as unreadable; here the later state counts, and has been settled.
        let unreadable = marks
            .into_iter()
            .filter_map(|(key, mark)| mark.unreadable.then_some(key))
            .collect();
        (items, unreadable)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use informer_core::{Cause, Stamp};
    use proptest::prelude::*;

    use super::*;

    fn held(key: u8, what: u8, at: usize) -> Held<u8, ()> {
        let stamp = Stamp::new(at.to_string().as_str(), "");
        match what {
            0 => Held::Delete {
                key,
                stamp,
                last: None,
            },
            1 => Held::Unreadable { key, stamp },
            _ => Held::Upsert(Entry::new(key, stamp, Arc::new(())), Cause::Added),
        }
    }

    proptest! {
        /// Against a map that is changed step by step.
        #[test]
        fn the_last_state_of_each_key_counts(steps in prop::collection::vec((0_u8..6, 0_u8..5), 0..60)) {
            let mut buffer = Buffer::new();
            let mut model: BTreeMap<u8, (u8, usize)> = BTreeMap::new();
            for (at, (key, what)) in steps.into_iter().enumerate() {
                buffer.keep(held(key, what, at));
                model.insert(key, (what, at));
            }
            let (items, unreadable) = buffer.take();
            let mut seen: BTreeMap<u8, String> = BTreeMap::new();
            for item in items {
                seen.insert(item.key, item.stamp.version.as_str().to_owned());
            }
            let wanted: BTreeMap<u8, String> = model
                .iter()
                .filter(|(_, (what, _))| *what > 1)
                .map(|(key, (_, at))| (*key, at.to_string()))
                .collect();
            prop_assert_eq!(seen, wanted);
            let wanted: Vec<u8> = model
                .iter()
                .filter(|(_, (what, _))| *what == 1)
                .map(|(key, _)| *key)
                .collect();
            prop_assert_eq!(unreadable, wanted);
            prop_assert!(buffer.take().0.is_empty());
        }
    }
}
