//! Every interleaving of a commit with those who wait for it, read beside it, or add an index: nobody sleeps through it, nobody sees
//! half of it, and no write is lost.
//!
//! Compiled into the library's own tests, with loom's locks in the place of the standard library's.

use std::{future::poll_fn, sync::Arc};

use informer_core::{Batch, Cause, Delta, Entry, ResourceVersion, Stamp, Store, StoreExt, StoreWriter};
use loom::{future::block_on, thread};

use crate::{Indexers, Reader, Writer, indexed};

fn explore(run: impl Fn(Writer<u8, &'static str>, Reader<u8, &'static str>) + Send + Sync + 'static) {
    let mut model = loom::model::Builder::new();
    // Hardly a mistake needs more switches to show, and each more multiplies the orders to try.
    model.preemption_bound = Some(3);
    model.check(move || {
        let (writer, reader) = indexed(Indexers::new().with("text", by_text)).expect("one index");
        run(writer, reader);
    });
}

fn by_text(text: &&'static str, emit: &mut dyn FnMut(&str)) {
    emit(text);
}

fn put(writer: &mut Writer<u8, &'static str>, key: u8, version: &str) {
    let entry = Entry::new(key, Stamp::new(version, ""), Arc::new("x"));
    let mut batch = Batch::of(Delta::Upsert(entry, Cause::Added), false);
    writer
        .commit(&mut batch, &mut Vec::new())
        .expect("no index fails");
}

#[test]
fn who_waits_for_a_version_is_woken_by_the_commit_that_brings_it() {
    explore(|mut writer, reader| {
        let commits = thread::spawn(move || {
            put(&mut writer, 1, "1");
            put(&mut writer, 2, "2");
        });
        block_on(reader.wait_for(&ResourceVersion::new("2"))).expect("versions have an order");
        assert_eq!(reader.len(), 2);
        commits.join().expect("no panic");
    });
}

#[test]
fn every_one_of_several_who_wait_is_woken() {
    explore(|mut writer, reader| {
        let waits = {
            let reader = reader.clone();
            thread::spawn(move || {
                block_on(reader.wait_for(&ResourceVersion::new("1"))).expect("versions have an order");
            })
        };
        let commits = thread::spawn(move || put(&mut writer, 1, "1"));
        let none = ResourceVersion::none();
        block_on(poll_fn(|cx| reader.poll_changed(cx, &none)));
        assert_eq!(reader.len(), 1);
        waits.join().expect("no panic");
        commits.join().expect("no panic");
    });
}

#[test]
fn an_index_added_beside_a_commit_misses_nothing_and_takes_nothing_back() {
    explore(|mut writer, reader| {
        let commits = thread::spawn(move || {
            put(&mut writer, 1, "1");
            put(&mut writer, 2, "2");
        });
        reader.add_index("late", by_text).expect("a new name");
        let view = reader.view();
        assert_eq!(
            view.index_keys("late", "x").expect("it is there").len(),
            view.len()
        );
        commits.join().expect("no panic");
        assert_eq!(reader.index_keys("late", "x"), Ok(vec![1, 2]));
        assert_eq!(reader.index_keys("text", "x"), Ok(vec![1, 2]));
    });
}
