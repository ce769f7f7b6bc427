//! The store behind the contract traits.

use std::sync::Arc;

use informer_core::{Batch, ObjectKey, Snapshot, Store, StoreWriter};
use informer_store::{Reader, View, Writer};

use crate::support::{Thing, put, tagged};

#[test]
fn reader_writer_and_view_are_used_behind_their_traits() {
    let (writer, reader) = tagged();
    let mut writer: Box<dyn StoreWriter<ObjectKey, Thing>> = Box::new(writer);
    let store: Arc<dyn Store<ObjectKey, Thing>> = Arc::new(reader);
    writer
        .commit(&mut Batch::of(put("a@1", &[]), false), &mut Vec::new())
        .unwrap();
    let snapshot: Arc<dyn Snapshot<ObjectKey, Thing>> = store.snapshot();
    assert_eq!((store.len(), snapshot.len(), snapshot.is_empty()), (1, 1, false));
}

#[test]
fn all_of_it_may_cross_threads() {
    fn crosses<T: Send + Sync + 'static>() {}
    crosses::<Writer<ObjectKey, Thing>>();
    crosses::<Reader<ObjectKey, Thing>>();
    crosses::<View<ObjectKey, Thing>>();
}

#[test]
fn nothing_prints_an_object() {
    let (mut writer, reader) = tagged();
    writer
        .commit(&mut Batch::of(put("a@1", &["secret"]), false), &mut Vec::new())
        .unwrap();
    let printed = format!("{writer:?} {reader:?} {:?}", reader.view());
    assert!(!printed.contains("secret"), "{printed}");
    assert!(printed.contains("len: 1"), "{printed}");
}
