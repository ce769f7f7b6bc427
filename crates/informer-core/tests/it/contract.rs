//! The synchronous contracts are used behind `dyn`, and what they provide is right.

use std::{
    collections::BTreeMap,
    ops::{Bound, ControlFlow},
    sync::Arc,
    task::{Context, Poll},
};

use informer_core::{
    Batch, Cause, Change, CommitError, CommitFailure, Delta, DeltaQueue, DeltaSink, Entry, EventHandler,
    IndexError, IndexFunc, KeyFunc, Meta, NamespaceName, ObjectKey, ResourceVersion, Snapshot, Stamp, Store,
    StoreWriter, UnknownIndex,
};

use crate::support::Plain;

/// A store that never changes, and gives the required methods alone.
#[derive(Clone)]
struct Fixed(Arc<BTreeMap<u8, Entry<u8, &'static str>>>);

impl Store<u8, &'static str> for Fixed {
    fn snapshot(&self) -> Arc<dyn Snapshot<u8, &'static str>> {
        Arc::new(FixedView(self.0.clone(), ResourceVersion::new("9")))
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn poll_changed(&self, _: &mut Context<'_>, _: &ResourceVersion) -> Poll<()> {
        Poll::Pending
    }
}

struct FixedView(Arc<BTreeMap<u8, Entry<u8, &'static str>>>, ResourceVersion);

impl Snapshot<u8, &'static str> for FixedView {
    fn get(&self, key: &u8) -> Option<&Entry<u8, &'static str>> {
        self.0.get(key)
    }

    fn scan(&self, after: Option<&u8>, visit: &mut dyn FnMut(&Entry<u8, &'static str>) -> ControlFlow<()>) {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        let _ = self
            .0
            .range((from, Bound::Unbounded))
            .try_for_each(|(_, it)| visit(it));
    }

    fn by_index(
        &self,
        index: &str,
        value: &str,
        visit: &mut dyn FnMut(&Entry<u8, &'static str>) -> ControlFlow<()>,
    ) -> Result<(), UnknownIndex> {
        if index != "text" {
            return Err(UnknownIndex::new(index, ["text"]));
        }
        let _ = self
            .0
            .values()
            .filter(|it| *it.object == value)
            .try_for_each(visit);
        Ok(())
    }

    fn applied(&self) -> &ResourceVersion {
        &self.1
    }
}

fn entry(key: u8, text: &'static str) -> Entry<u8, &'static str> {
    Entry::new(key, Stamp::new("1", "u"), Arc::new(text))
}

#[test]
fn the_synchronous_contracts_are_dyn_compatible() {
    fn is_a_type<T: ?Sized>() {}
    is_a_type::<dyn Store<u8, ()>>();
    is_a_type::<dyn Snapshot<u8, ()>>();
    is_a_type::<dyn StoreWriter<u8, ()>>();
    is_a_type::<dyn DeltaSink<u8, ()>>();
    is_a_type::<dyn DeltaQueue<u8, ()>>();
    is_a_type::<dyn EventHandler<u8, ()>>();
    is_a_type::<dyn IndexFunc<()>>();
    is_a_type::<dyn KeyFunc<(), Key = u8>>();
    is_a_type::<dyn Meta<()>>();
    let _: Box<dyn DeltaQueue<u8, ()>> = Box::new(Plain::default());
    let _: Arc<dyn KeyFunc<(), Key = ObjectKey>> = Arc::new(NamespaceName);
}

#[test]
fn a_store_of_the_required_methods_gives_the_others() {
    let entries = [(2, "b"), (1, "a"), (3, "b")].map(|(key, text)| (key, entry(key, text)));
    let store: Arc<dyn Store<u8, &'static str>> = Arc::new(Fixed(Arc::new(entries.into())));
    let keys =
        |entries: Vec<Entry<u8, &'static str>>| entries.into_iter().map(|it| it.key).collect::<Vec<_>>();
    assert_eq!(keys(store.list()), [1, 2, 3]);
    assert_eq!(keys(store.by_index("text", "b").unwrap()), [2, 3]);
    assert_eq!(
        store.by_index("size", "b").unwrap_err().to_string(),
        r#"no index "size": there are text"#
    );
    assert_eq!(store.get(&2).map(|it| *it.object), Some("b"));
    assert!(store.get(&9).is_none() && !store.is_empty());
    assert_eq!((store.snapshot().len(), store.snapshot().is_empty()), (3, false));
    let empty = Fixed(Arc::default());
    assert!(empty.is_empty() && empty.snapshot().is_empty());
}

#[test]
fn deltas_and_changes_print_keys_and_versions_but_no_object() {
    let mut stale = entry(1, "secret");
    stale.stale = true;
    let deltas = [
        Delta::Upsert(entry(1, "secret"), Cause::Listed),
        Delta::Delete {
            key: 1,
            stamp: Stamp::new("2", "u"),
            last: Some(Arc::new("secret")),
            observed: false,
        },
        Delta::Replace {
            items: vec![stale.clone()],
            unreadable: vec![7],
            at: "5".into(),
            may_rewind: true,
        },
        Delta::Bookmark {
            at: "6".into(),
            may_rewind: false,
        },
    ];
    let shown = format!("{deltas:?}");
    assert_eq!(
        shown,
        "[Listed 1@1#u, Vanished 1@2, Replace@5 [1@1#u (stale)] unreadable [7] may rewind, Bookmark@6]"
    );
    let change = Change::Updated {
        old: stale,
        new: entry(1, "secret"),
    };
    assert_eq!(
        format!("{:?} {}", change.clone(), change.key()),
        "Updated 1@1#u (stale) -> 1@1#u 1"
    );
    assert_eq!(deltas[1].clone().key(), Some(&1));
    assert_eq!(deltas[2].clone().key(), None);
}

#[test]
fn a_commit_error_names_the_first_object_and_its_index() {
    let error = CommitError {
        failed: vec![CommitFailure {
            key: 1,
            index: Some("node".into()),
            cause: IndexError::new("no node"),
        }],
    };
    assert_eq!(
        error.to_string(),
        r#"1 objects could not be stored, the first 1 by index "node": no node"#
    );
}

#[test]
fn closures_are_handlers_and_index_functions() {
    let mut seen = Vec::new();
    let mut handler = |change: &Change<u8, &'static str>| seen.push(*change.key());
    handler.on_change(&Change::Resynced {
        current: entry(4, "x"),
    });
    assert_eq!(seen, [4]);
    let function = |it: &&'static str, emit: &mut dyn FnMut(&str)| emit(it);
    let mut values = Vec::new();
    IndexFunc::<&'static str>::values(&function, &"x", &mut |value| values.push(value.to_owned())).unwrap();
    assert_eq!(values, ["x"]);
}

#[test]
fn a_batch_is_in_order_unless_said_otherwise() {
    let batch: Batch<u8, ()> = Batch::default();
    assert!(batch.is_empty() && batch.in_order && !batch.initial);
    let batch: Batch<u8, ()> = Batch::of(Delta::Resync, true);
    assert!(batch.in_order && batch.initial && !batch.is_empty());
}
