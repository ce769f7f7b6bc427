//! Small deltas, and a naive store that counts as known.

use std::{
    collections::BTreeMap,
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
pub(crate) struct Known(Arc<Mutex<BTreeMap<Q, Entry<Q, K>>>>);

impl Known {
    pub(crate) fn shared(&self) -> Arc<dyn Store<Q, K>> {
        Arc::new(self.clone())
    }

    pub(crate) fn put(&self, entry: Entry<Q, K>) {
        self.0.lock().unwrap().insert(entry.key.clone(), entry);
    }

    pub(crate) fn apply(&self, delta: &Delta<Q, K>) {
        match delta {
            Delta::Upsert(_, Cause::Sync)
            | Delta::Unreadable { .. }
            | Delta::Resync
            | Delta::Bookmark { .. } => {}
            Delta::Upsert(entry, _) => self.put(entry.clone()),
            Delta::Delete { key, .. } => {
                self.0.lock().unwrap().remove(key);
            }
            Delta::Replace { items, .. } => {
                let mut all = self.0.lock().unwrap();
                all.clear();
                all.extend(items.iter().map(|it| (it.key.clone(), it.clone())));
            }
        }
    }

    pub(crate) fn show(&self) -> String {
        format!("{:?}", self.0.lock().unwrap().values().collect::<Vec<_>>())
    }
}

impl Store<Q, K> for Known {
    fn snapshot(&self) -> Arc<dyn Snapshot<Q, K>> {
        Arc::new(Frozen(self.0.lock().unwrap().clone(), ResourceVersion::none()))
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    fn poll_changed(&self, _: &mut Context<'_>, _: &ResourceVersion) -> Poll<()> {
        unreachable!("queues do not wait for a store")
    }
}

struct Frozen(BTreeMap<Q, Entry<Q, K>>, ResourceVersion);

impl Snapshot<Q, K> for Frozen {
    fn get(&self, key: &Q) -> Option<&Entry<Q, K>> {
        self.0.get(key)
    }

    fn scan(&self, after: Option<&Q>, visit: &mut dyn FnMut(&Entry<Q, K>) -> ControlFlow<()>) {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let _ = self
            .0
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

    fn applied(&self) -> &ResourceVersion {
        &self.1
    }
}
