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
