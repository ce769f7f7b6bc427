//! A reflector straight into a store.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use informer_core::{
    Batch, Change, CommitError, CommitFailure, Delta, DeltaSink, Entry, IndexError, ObjectKey,
    ResourceVersion, Stamp, StoreWriter,
};
use informer_reflector::StoreSink;

type Map = BTreeMap<ObjectKey, Entry<ObjectKey, String>>;

/// A store of the test's own, which refuses the name `bad`.
#[derive(Clone, Default)]
struct MapWriter(Arc<Mutex<(Map, Vec<bool>)>>);

impl StoreWriter<ObjectKey, String> for MapWriter {
    fn commit(
        &mut self,
        batch: &mut Batch<ObjectKey, String>,
        changes: &mut Vec<Change<ObjectKey, String>>,
    ) -> Result<(), CommitError<ObjectKey>> {
        let mut state = self.0.lock().unwrap();
        state.1.push(batch.initial);
        let mut failed = Vec::new();
        for delta in std::mem::take(&mut batch.deltas) {
            match delta {
                Delta::Replace { items, .. } => {
                    state.0 = items.iter().map(|it| (it.key.clone(), it.clone())).collect();
                    changes.extend(items.into_iter().map(|new| Change::Added { new, initial: true }));
                }
                Delta::Upsert(entry, _) if entry.key.name() == "bad" => {
                    failed.push(CommitFailure {
                        key: entry.key.clone(),
                        index: None,
                        cause: IndexError::new("bad"),
                    });
                    batch.deltas.push(Delta::Resync);
                }
                Delta::Upsert(new, _) => {
                    state.0.insert(new.key.clone(), new.clone());
                    changes.push(Change::Added { new, initial: false });
                }
                Delta::Resync if state.0.contains_key(&ObjectKey::cluster("damaged")) => {
                    failed.push(CommitFailure {
                        key: ObjectKey::cluster("damaged"),
                        index: None,
                        cause: IndexError::new("damaged"),
                    });
                }
                _ => {}
            }
        }
        if failed.is_empty() {
            Ok(())
        } else {
            Err(CommitError { failed })
        }
    }
}

fn entry(name: &str) -> Entry<ObjectKey, String> {
    Entry::new(
        ObjectKey::cluster(name),
        Stamp::new("1", ""),
        Arc::new(name.to_owned()),
    )
}

#[test]
fn commits_each_delta_and_tells_of_changes_and_failures() {
    use informer_core::Cause;

    let writer = MapWriter::default();
    let told = Arc::new(Mutex::new(Vec::new()));
    let (changes, errors) = (told.clone(), told.clone());
    let mut sink = StoreSink::new(writer.clone())
        .on_change(move |change| changes.lock().unwrap().push(format!("{change:?}")))
        .on_error(move |error| errors.lock().unwrap().push(error.to_string()));
    assert!(!sink.has_synced());
    sink.push(Delta::Replace {
        items: vec![entry("a")],
        unreadable: Vec::new(),
        at: ResourceVersion::new("1"),
        may_rewind: false,
    });
    assert!(sink.has_synced());
    sink.push(Delta::Upsert(entry("bad"), Cause::Added));
    sink.push(Delta::Upsert(entry("b"), Cause::Added));
    assert_eq!(
        *told.lock().unwrap(),
        [
            "Added \"a\"@1 initial",
            "1 objects could not be stored, the first \"bad\": bad",
            "Added \"b\"@1",
        ]
    );
    let state = writer.0.lock().unwrap();
    assert_eq!(state.1, [true, false, false]);
    assert_eq!(state.0.len(), 2);
}

fn whole(names: &[&str], at: &str) -> Delta<ObjectKey, String> {
    Delta::Replace {
        items: names.iter().map(|name| entry(name)).collect(),
        unreadable: Vec::new(),
        at: ResourceVersion::new(at),
        may_rewind: false,
    }
}

#[test]
fn tells_the_version_that_is_in_use() {
    use informer_core::Cause;

    let mut sink = StoreSink::new(MapWriter::default());
    assert_eq!(sink.applied(), None);
    sink.push(whole(&["a"], "7"));
    assert_eq!(sink.applied().unwrap().as_str(), "7");
    sink.push(Delta::Bookmark {
        at: ResourceVersion::new("9"),
        may_rewind: false,
    });
    sink.resync().unwrap();
    assert_eq!(sink.applied().unwrap().as_str(), "9");
    // What was refused is not in use.
    let mut bad = entry("bad");
    bad.stamp = Stamp::new("12", "");
    sink.push(Delta::Upsert(bad, Cause::Modified));
    assert_eq!(sink.applied().unwrap().as_str(), "9");
}

/// So the reflector gives up its watch, and lists.
#[test]
fn a_resync_that_the_store_refuses_is_told() {
    let mut sink = StoreSink::new(MapWriter::default());
    sink.push(whole(&["damaged"], "1"));
    let refused = sink.resync().unwrap_err();
    assert_eq!(
        refused.to_string(),
        "1 objects could not be stored, the first \"damaged\": damaged"
    );
}

#[test]
fn hooks_that_panic_harm_nothing() {
    let writer = MapWriter::default();
    let mut sink = StoreSink::new(writer.clone())
        .on_change(|_| panic!("a bad hook"))
        .on_error(|_| panic!("another"));
    sink.push(whole(&["a", "b"], "1"));
    sink.push(Delta::Upsert(entry("bad"), informer_core::Cause::Added));
    assert_eq!(writer.0.lock().unwrap().0.len(), 2);
}
