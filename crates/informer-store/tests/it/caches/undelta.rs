//! The whole list after every change.

use std::sync::{Arc, Mutex};

use informer_core::{Batch, Cause, Delta, ObjectKey, Store, StoreWriter};
use informer_store::caches::UndeltaStore;

use crate::support::{Bad, Thing, bad, batch, bookmark, delete, entry, list, put, tagged};

#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

type Undelta = Box<dyn StoreWriter<ObjectKey, Thing>>;

fn undelta() -> (Undelta, Told, informer_store::Reader<ObjectKey, Thing>) {
    let (writer, reader) = tagged();
    let told = Told::default();
    let tell = told.clone();
    let push = move |all| tell.0.lock().unwrap().push(format!("{all:?}"));
    let store = UndeltaStore::new(writer, reader.clone(), push);
    assert!(store.store().is_empty());
    (Box::new(store), told, reader)
}

fn commit(writer: &mut Undelta, deltas: impl Into<Vec<Delta<ObjectKey, Thing>>>) {
    writer.commit(&mut batch(deltas), &mut Vec::new()).unwrap();
}

/// client-go `TestUpdateCallsPush`.
#[test]
fn an_add_and_an_update_push_the_list() {
    let (mut writer, told, _) = undelta();
    commit(&mut writer, [put("a@1", &[])]);
    commit(&mut writer, [put("a@2", &[])]);
    assert_eq!(told.take(), [r#"["a"@1]"#, r#"["a"@2]"#]);
}

/// client-go `TestDeleteCallsPush`.
#[test]
fn a_delete_pushes_what_is_left() {
    let (mut writer, told, _) = undelta();
    commit(&mut writer, [put("a@1", &[])]);
    commit(&mut writer, [delete("a@2")]);
    assert_eq!(told.take(), [r#"["a"@1]"#, "[]"]);
}

/// client-go `TestReadsDoNotCallPush`.
#[test]
fn reads_resyncs_and_bookmarks_push_nothing() {
    let (mut writer, told, reader) = undelta();
    let _ = (reader.list(), reader.get(&crate::support::key("a")));
    commit(&mut writer, [Delta::Resync]);
    commit(&mut writer, [bookmark("3")]);
    commit(&mut writer, [Delta::Upsert(entry("a@1", &[]), Cause::Sync)]);
    commit(&mut writer, []);
    assert!(told.take().is_empty());
}

/// client-go `TestReplaceCallsPush`.
#[test]
fn a_list_pushes_once_even_if_it_is_empty() {
    let (mut writer, told, _) = undelta();
    commit(&mut writer, [list(vec![], "1")]);
    commit(
        &mut writer,
        [list(vec![entry("b@2", &[]), entry("a@1", &[])], "2")],
    );
    assert_eq!(told.take(), ["[]", r#"["a"@1, "b"@2]"#]);
}

#[test]
fn a_batch_pushes_once_and_what_could_not_be_stored_is_not_in_it() {
    let (mut writer, told, _) = undelta();
    let mut batch: Batch<_, _> = batch([
        put("a@1", &[]),
        Delta::Upsert(bad("b@2", Bad::Panics), Cause::Added),
        put("c@3", &[]),
    ]);
    let error = writer.commit(&mut batch, &mut Vec::new()).unwrap_err();
    assert_eq!(error.failed.len(), 1);
    assert_eq!(batch.deltas.len(), 1);
    assert_eq!(told.take(), [r#"["a"@1, "c"@3]"#]);
}
