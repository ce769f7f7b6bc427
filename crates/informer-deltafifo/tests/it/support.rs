//! Small deltas, and a naive store that counts as known.

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    ops::{Bound, ControlFlow},
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use informer_core::{
    Batch, Cause, Delta, DeltaQueue, Entry, ResourceVersion, Snapshot, Stamp, Store, UnknownIndex,
};

pub(crate) type Q = String;
/// An object is a number; queues never look at it.
pub(crate) type K = u32;

/// `a@5#u1`: key, version, uid, the last two optional.
pub(crate) fn parts(text: &str) -> (Q, Stamp) {
    let (text, uid) = text.split_once('#').unwrap_or((text, ""));
    let (key, version) = text.split_once('@').unwrap_or((text, ""));
    (key.to_owned(), Stamp::new(version, uid))
}

pub(crate) fn entry(text: &str) -> Entry<Q, K> {
    let (key, stamp) = parts(text);
    Entry::new(key, stamp, Arc::new(0))
}

pub(crate) fn upsert(text: &str, cause: Cause) -> Delta<Q, K> {
    Delta::Upsert(entry(text), cause)
}

pub(crate) fn delete(text: &str, observed: bool) -> Delta<Q, K> {
    let (key, stamp) = parts(text);
    Delta::Delete {
        key,
        stamp,
        last: None,
        observed,
    }
}

pub(crate) fn list<'a>(items: impl IntoIterator<Item = &'a str>, at: &str) -> Delta<Q, K> {
    Delta::Replace {
        items: items.into_iter().map(entry).collect(),
        unreadable: Vec::new(),
        at: at.into(),
        may_rewind: false,
    }
}

pub(crate) fn is_ready(queue: &mut impl DeltaQueue<Q, K>) -> bool {
    let ready = queue.poll_ready(&mut Context::from_waker(Waker::noop()));
    ready == Poll::Ready(Ok(()))
}

pub(crate) fn pop(queue: &mut impl DeltaQueue<Q, K>, max: usize) -> Option<Batch<Q, K>> {
    let mut batch = Batch::default();
    let n = queue.pop_into(&mut batch, max);
    assert_eq!(n, batch.deltas.len());
    (n > 0).then_some(batch)
}

/// The simplest store there is. It applies what a queue hands out without a thought of versions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known(Arc<Mutex<Held>>);

/// What is in it, and what is there in no state that could ever be read.
#[derive(Debug, Clone, Default)]
struct Held {
    entries: BTreeMap<Q, Entry<Q, K>>,
    unread: BTreeSet<Q>,
}

impl Held {
    fn put(&mut self, entry: Entry<Q, K>) {
        self.unread.remove(&entry.key);
        self.entries.insert(entry.key.clone(), entry);
    }

    fn put_unread(&mut self, key: &Q) {
        if !self.entries.contains_key(key) {
            self.unread.insert(key.clone());
        }
    }
}

impl Known {
    pub(crate) fn shared(&self) -> Arc<dyn Store<Q, K>> {
        Arc::new(self.clone())
    }

    pub(crate) fn put(&self, entry: Entry<Q, K>) {
        self.0.lock().unwrap().put(entry);
    }

    pub(crate) fn apply(&self, delta: &Delta<Q, K>) {
        let mut held = self.0.lock().unwrap();
        match delta {
            Delta::Upsert(_, Cause::Sync) | Delta::Resync | Delta::Bookmark { .. } => {}
            Delta::Unreadable { key, .. } => held.put_unread(key),
            Delta::Upsert(entry, _) => held.put(entry.clone()),
            Delta::Delete { key, .. } => {
                held.entries.remove(key);
                held.unread.remove(key);
            }
            Delta::Replace {
                items, unreadable, ..
            } => {
                let before = mem::take(&mut *held);
                items.iter().for_each(|it| held.put(it.clone()));
                for key in unreadable {
                    match before.entries.get(key) {
                        Some(entry) => {
                            held.entries.entry(key.clone()).or_insert_with(|| entry.clone());
                        }
                        None => held.put_unread(key),
                    }
                }
            }
        }
    }

    pub(crate) fn show(&self) -> String {
        format!(
            "{:?}",
            self.0.lock().unwrap().entries.values().collect::<Vec<_>>()
        )
    }

    /// The keys of what could never be read.
    pub(crate) fn unread(&self) -> BTreeSet<Q> {
        self.0.lock().unwrap().unread.clone()
    }
}

impl Store<Q, K> for Known {
    fn snapshot(&self) -> Arc<dyn Snapshot<Q, K>> {
        Arc::new(Frozen(self.0.lock().unwrap().clone(), ResourceVersion::none()))
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap().entries.len()
    }

    fn poll_changed(&self, _: &mut Context<'_>, _: &ResourceVersion) -> Poll<()> {
        unreachable!("queues do not wait for a store")
    }
}

struct Frozen(Held, ResourceVersion);

impl Snapshot<Q, K> for Frozen {
    fn get(&self, key: &Q) -> Option<&Entry<Q, K>> {
        self.0.entries.get(key)
    }

    fn scan(&self, after: Option<&Q>, visit: &mut dyn FnMut(&Entry<Q, K>) -> ControlFlow<()>) {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let _ = self
            .0
            .entries
            .range::<Q, _>((from, Bound::Unbounded))
            .try_for_each(|(_, entry)| visit(entry));
    }

    fn by_index(
        &self,
        index: &str,
        _: &str,
        _: &mut dyn FnMut(&Entry<Q, K>) -> ControlFlow<()>,
    ) -> Result<(), UnknownIndex> {
        Err(UnknownIndex::new(index, []))
    }

    fn unreadable(&self, visit: &mut dyn FnMut(&Q) -> ControlFlow<()>) {
        let _ = self.0.unread.iter().try_for_each(visit);
    }

    fn applied(&self) -> &ResourceVersion {
        &self.1
    }
}
