//! Own writes above a store: client-go's tests.

use std::time::{Duration, Instant};

use informer_core::ObjectKey;
use informer_store::{
    Indexers, Reader, Writer,
    caches::{MutationCache, MutationOptions},
};

use crate::support::{ByTag, Thing, commit, delete, entry, key, put, stamp, tagged};

pub(super) type Own = MutationCache<Reader<ObjectKey, Thing>, ObjectKey, Thing>;

/// The store's writer, the cache above it, and the time.
pub(super) struct Rig {
    pub(super) writer: Writer<ObjectKey, Thing>,
    pub(super) own: Own,
    pub(super) now: Instant,
}

#[expect(
    clippy::disallowed_methods,
    reason = "a place in time to count from; nothing waits"
)]
pub(super) fn rig(include_adds: bool, capacity: usize) -> Rig {
    let (writer, reader) = tagged();
    let mut options = MutationOptions::default();
    options.include_adds = include_adds;
    options.capacity = capacity.try_into().unwrap();
    let own = MutationCache::new(reader, options)
        .with_indexers(Indexers::new().with("tag", ByTag))
        .unwrap();
    Rig {
        writer,
        own,
        now: Instant::now(),
    }
}

impl Rig {
    pub(super) fn store(&mut self, text: &str) {
        commit(&mut self.writer, [put(text, &["pod"])]);
    }

    pub(super) fn remove(&mut self, text: &str) {
        commit(&mut self.writer, [delete(text)]);
    }

    pub(super) fn mutation(&mut self, text: &str) -> bool {
        self.own.mutation(self.now, entry(text, &["pod"])).unwrap()
    }

    pub(super) fn on_add_or_update(&mut self, text: &str) {
        let (key, stamp) = stamp(text);
        self.own.on_add_or_update(self.now, &key, &stamp).unwrap();
    }

    pub(super) fn on_delete(&mut self, text: &str) {
        let (key, stamp) = stamp(text);
        self.own.on_delete(self.now, &key, &stamp).unwrap();
    }

    pub(super) fn reader(&self) -> Reader<ObjectKey, Thing> {
        self.writer.reader()
    }

    /// The version that is answered.
    pub(super) fn get(&mut self, name: &str) -> Option<String> {
        let found = self.own.get(self.now, &key(name)).unwrap();
        found.map(|it| it.stamp.version.to_string())
    }

    pub(super) fn tagged(&mut self, tag: &str) -> String {
        format!("{:?}", self.own.by_index(self.now, "tag", tag).unwrap())
    }

    pub(super) fn later(&mut self, by: Duration) {
        self.now += by;
    }
}

/// client-go `TestMutationCacheOnAddOrUpdate`.
#[test]
fn an_own_write_is_forgotten_once_the_store_has_it_or_something_newer() {
    for (stored, answered) in [("2", "1"), ("3", "1"), ("1", "2")] {
        let mut rig = rig(false, 100);
        rig.mutation("pod@2#uid-1");
        rig.on_add_or_update(&format!("pod@{stored}#uid-1"));
        // Older than the own write in any case, so that the answer tells which of the two it is.
        rig.store("pod@1#uid-1");
        assert_eq!(rig.get("pod").as_deref(), Some(answered), "told of {stored}");
    }
}

/// client-go `TestMutationCacheOnDelete`.
#[test]
fn an_own_write_is_forgotten_with_its_object_unless_it_may_be_another() {
    for (deleted, exists) in [
        // As from a delete that was concluded.
        ("pod@1#uid-1", false),
        ("pod@3#uid-2", false),
        ("pod@1#uid-other", true),
    ] {
        let mut rig = rig(true, 100);
        rig.store("pod@2#uid-1");
        rig.mutation("pod@3#uid-1");
        rig.remove(deleted);
        rig.on_delete(deleted);
        assert_eq!(rig.get("pod").is_some(), exists, "{deleted}");
    }
}

/// client-go `TestMutationCacheUpdateConcurrentDelete`.
#[test]
fn an_own_write_that_is_told_after_its_object_is_gone_is_not_taken() {
    let mut rig = rig(true, 100);
    rig.store("pod@1#uid-1");
    rig.store("pod@2#uid-1");
    rig.remove("pod@2#uid-1");
    // The handlers lag behind.
    rig.on_add_or_update("pod@2#uid-1");
    rig.on_delete("pod@2#uid-1");
    assert!(!rig.mutation("pod@2#uid-1"));
    assert_eq!(rig.get("pod"), None);
    assert_eq!(rig.own.len(), 1, "the end is remembered");
}

/// client-go `TestMutationCacheUpdateConcurrentRecreate`.
#[test]
fn an_own_write_that_is_told_after_its_object_was_made_anew_is_not_answered() {
    let mut rig = rig(true, 100);
    rig.store("pod@1#uid-1");
    rig.store("pod@2#uid-1");
    rig.remove("pod@2#uid-1");
    rig.store("pod@3#uid-2");
    rig.on_add_or_update("pod@2#uid-1");
    rig.on_delete("pod@2#uid-1");
    rig.on_add_or_update("pod@3#uid-2");
    assert_eq!(rig.own.len(), 0, "something newer is there");
    rig.mutation("pod@2#uid-1");
    assert_eq!(rig.get("pod").as_deref(), Some("3"));
    assert_eq!(rig.own.len(), 0, "the store has it, so that it is forgotten");
}

/// client-go `TestMutationCacheOnDeleteClearsStaleMutation`.
#[test]
fn the_end_of_an_object_takes_its_own_write_out_of_the_index() {
    let mut rig = rig(true, 100);
    rig.mutation("pod@2#uid-1");
    assert_eq!(rig.tagged("pod"), r#"["pod"@2#uid-1]"#);
    rig.on_delete("pod@1#uid-1");
    assert_eq!(rig.tagged("pod"), "[]");
}
