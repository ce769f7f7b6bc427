//! Small objects, a store of them, and how changes are written down.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
};

use informer_core::{
    Batch, Cause, Change, CommitError, Delta, Entry, IndexError, ObjectKey, ResourceVersion, Stamp, Store,
    StoreWriter,
};
use informer_store::{Indexers, Reader, Writer, indexed};

/// An object: the values it has in the index `tag`, or that the function fails for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Thing {
    pub(crate) tags: Vec<String>,
    pub(crate) bad: Bad,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bad {
    No,
    Fails,
    Panics,
}

pub(crate) struct ByTag;

impl informer_core::IndexFunc<Thing> for ByTag {
    fn values(&self, thing: &Thing, emit: &mut dyn FnMut(&str)) -> Result<(), IndexError> {
        for tag in &thing.tags {
            emit(tag);
        }
        match thing.bad {
            Bad::No => Ok(()),
            Bad::Fails => Err(IndexError::new("no tags to be had")),
            Bad::Panics => panic!("a tag too many"),
        }
    }
}

pub(crate) type Things = (Writer<ObjectKey, Thing>, Reader<ObjectKey, Thing>);

pub(crate) fn tagged() -> Things {
    indexed(Indexers::new().with("tag", ByTag)).unwrap()
}

pub(crate) fn key(text: &str) -> ObjectKey {
    text.parse().unwrap()
}

/// `a@5#u1`: key, version and uid, the last two optional.
pub(crate) fn stamp(text: &str) -> (ObjectKey, Stamp) {
    let (text, uid) = text.split_once('#').unwrap_or((text, ""));
    let (name, version) = text.split_once('@').unwrap_or((text, ""));
    (key(name), Stamp::new(version, uid))
}

pub(crate) fn thing(tags: &[&str], bad: Bad) -> Arc<Thing> {
    let tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    Arc::new(Thing { tags, bad })
}

pub(crate) fn entry(text: &str, tags: &[&str]) -> Entry<ObjectKey, Thing> {
    let (key, stamp) = stamp(text);
    Entry::new(key, stamp, thing(tags, Bad::No))
}

pub(crate) fn bad(text: &str, bad: Bad) -> Entry<ObjectKey, Thing> {
    let (key, stamp) = stamp(text);
    Entry::new(key, stamp, thing(&["bad"], bad))
}

pub(crate) fn put(text: &str, tags: &[&str]) -> Delta<ObjectKey, Thing> {
    Delta::Upsert(entry(text, tags), Cause::Modified)
}

pub(crate) fn delete(text: &str) -> Delta<ObjectKey, Thing> {
    let (key, stamp) = stamp(text);
    Delta::Delete {
        key,
        stamp,
        last: None,
        observed: true,
    }
}

pub(crate) fn unreadable(text: &str) -> Delta<ObjectKey, Thing> {
    let (key, stamp) = stamp(text);
    Delta::Unreadable { key, stamp }
}

pub(crate) fn list(items: Vec<Entry<ObjectKey, Thing>>, at: &str) -> Delta<ObjectKey, Thing> {
    Delta::Replace {
        items,
        unreadable: Vec::new(),
        at: at.into(),
        may_rewind: false,
    }
}

pub(crate) fn bookmark(at: &str) -> Delta<ObjectKey, Thing> {
    Delta::Bookmark {
        at: at.into(),
        may_rewind: false,
    }
}

pub(crate) fn batch(deltas: impl Into<Vec<Delta<ObjectKey, Thing>>>) -> Batch<ObjectKey, Thing> {
    Batch {
        deltas: deltas.into(),
        ..Batch::default()
    }
}

/// Commits and writes the changes down, one a line.
pub(crate) fn commit(
    writer: &mut Writer<ObjectKey, Thing>,
    deltas: impl Into<Vec<Delta<ObjectKey, Thing>>>,
) -> String {
    let mut batch = batch(deltas);
    let changes = commit_batch(writer, &mut batch).unwrap();
    assert!(batch.is_empty());
    lines(&changes)
}

pub(crate) fn commit_batch(
    writer: &mut Writer<ObjectKey, Thing>,
    batch: &mut Batch<ObjectKey, Thing>,
) -> Result<Vec<Change<ObjectKey, Thing>>, CommitError<ObjectKey>> {
    let mut changes = Vec::new();
    writer.commit(batch, &mut changes).map(|()| changes)
}

pub(crate) fn lines(changes: &[Change<ObjectKey, Thing>]) -> String {
    let lines: Vec<_> = changes.iter().map(|change| format!("{change:?}")).collect();
    lines.join("\n")
}

pub(crate) fn listed(reader: &Reader<ObjectKey, Thing>) -> String {
    format!("{:?}", reader.list())
}

pub(crate) fn tagged_with(reader: &Reader<ObjectKey, Thing>, tag: &str) -> String {
    format!("{:?}", reader.by_index("tag", tag).unwrap())
}

pub(crate) fn tags(reader: &Reader<ObjectKey, Thing>) -> String {
    format!("{:?}", reader.index_values("tag").unwrap())
}

pub(crate) fn applied(reader: &Reader<ObjectKey, Thing>) -> String {
    reader.view().applied().to_string()
}

/// Counts how often it was woken.
#[derive(Default)]
pub(crate) struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Count {
    pub(crate) fn n(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

pub(crate) fn poll_changed(reader: &Reader<ObjectKey, Thing>, count: &Arc<Count>, seen: &str) -> Poll<()> {
    let waker = Waker::from(count.clone());
    reader.poll_changed(&mut Context::from_waker(&waker), &ResourceVersion::new(seen))
}
