//! Key, reuse and transform: each once, and no failure of theirs goes further than one object.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use informer_core::{Delta, Identity, KeyError, KeyFunc, NamespaceName, ObjectKey};
use informer_reflector::{Problem, TransformError};

use crate::rig::{
    Answer, Object, Rig, added, bad_item, deleted, end, expired, initial_end, item, modified, whole,
};

struct Counting(Arc<AtomicUsize>);

impl KeyFunc<Object> for Counting {
    type Key = ObjectKey;

    fn key(&self, identity: &Identity, object: &Object) -> Result<ObjectKey, KeyError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        NamespaceName.key(identity, object)
    }
}

fn counting_transform(count: &Arc<AtomicUsize>) -> Arc<dyn informer_reflector::Transform<Object>> {
    let count = count.clone();
    Arc::new(move |_: &Identity, object: &mut Object| {
        count.fetch_add(1, Ordering::SeqCst);
        object.push('!');
        Ok::<(), TransformError>(())
    })
}

#[test]
fn the_key_is_computed_once_per_object() {
    let count = Arc::default();
    let mut rig = Rig::new();
    rig.source
        .list(whole("a@1 b@2", "2"))
        .watch(Answer::Open(vec![added("c@3"), deleted("c@4")]));
    rig.start_with(Counting(Arc::clone(&count)));
    assert_eq!(count.load(Ordering::SeqCst), 4);
}

/// client-go runs it twice on each initial object of a streaming list (`TestReflectorRespectStoreTransformer`).
#[test]
fn the_transform_runs_once_on_each_object() {
    let count = Arc::default();
    let mut rig = Rig::streaming();
    rig.transform = Some(counting_transform(&count));
    rig.source.watch(Answer::Open(vec![
        added("a@1"),
        added("b@2"),
        initial_end("2"),
        modified("a@3"),
    ]));
    rig.start();
    assert_eq!(count.load(Ordering::SeqCst), 3);
    rig.sink.with(|deltas| {
        let Delta::Replace { items, .. } = &deltas[0] else {
            panic!("{deltas:?}");
        };
        assert!(items.iter().all(|item| item.object.matches('!').count() == 1));
    });
}

/// Invariant: a relist of unchanged objects brings the objects that are already there, and costs no second copy.
#[test]
fn a_relist_reuses_what_the_sink_knows() {
    for streaming in [false, true] {
        let count = Arc::default();
        let mut rig = if streaming { Rig::streaming() } else { Rig::new() };
        rig.transform = Some(counting_transform(&count));
        let known = rig.sink.store("a@1");
        if streaming {
            rig.source
                .watch(Answer::Open(vec![added("a@1"), added("b@2"), initial_end("2")]));
        } else {
            rig.source.list(whole("a@1 b@2", "2"));
        }
        rig.start();
        rig.sink.with(|deltas| {
            let Delta::Replace { items, .. } = &deltas[0] else {
                panic!("{deltas:?}");
            };
            assert!(Arc::ptr_eq(&items[0].object, &known));
            assert_eq!(*items[1].object, "b@2!");
        });
        // The copy that was dropped was not transformed.
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn a_refused_object_turns_stale_and_the_rest_flows() {
    let mut rig = Rig::new();
    rig.transform = Some(Arc::new(|_: &Identity, object: &mut Object| {
        if object.starts_with("bad") {
            Err(TransformError::new("it is bad"))
        } else {
            Ok(())
        }
    }));
    rig.source.list(whole("a@1 bad@2", "2")).watch(Answer::Open(vec![
        modified("bad@3"),
        deleted("bad@4"),
        added("b@5"),
    ]));
    rig.start();
    rig.assert_taken(&[
        "Replace@2 [a@1] unreadable [bad]",
        "Unreadable bad@3",
        "Deleted bad@4",
        "Added b@5",
    ]);
    assert_eq!(rig.last_error().problem(), Problem::Transform);
    assert_eq!(
        rig.errors()[0],
        "foos: object skipped: ns/bad: not transformed: it is bad"
    );
    assert_eq!(rig.errors().len(), 3);
    assert_eq!(rig.status().get().skipped, 3);
    assert!(rig.status().get().last_error.is_none());
}

struct FirstLetter;

impl KeyFunc<Object> for FirstLetter {
    type Key = ObjectKey;

    fn key(&self, _: &Identity, object: &Object) -> Result<ObjectKey, KeyError> {
        match object.chars().next() {
            Some('z') => Err(KeyError::new("z is no key")),
            Some('p') => panic!("no p please"),
            Some(letter) => Ok(ObjectKey::cluster(&letter.to_string())),
            None => Err(KeyError::new("empty")),
        }
    }
}

#[test]
fn a_transform_may_not_change_the_key() {
    let mut rig = Rig::new();
    rig.transform = Some(Arc::new(|_: &Identity, object: &mut Object| {
        if object.starts_with('b') {
            object.insert(0, 'x');
        }
        Ok(())
    }));
    rig.source.list(whole("a@1 b@2", "2"));
    rig.start_with(FirstLetter);
    rig.assert_taken(&["Replace@2 [a@1] unreadable [b]"]);
    assert_eq!(
        rig.errors(),
        ["foos: object skipped: the transform changed the key of ns/b"]
    );
}

#[test]
fn an_object_without_a_key_is_skipped() {
    let mut rig = Rig::new();
    rig.source
        .list(whole("a@1 z@2", "2"))
        .watch(Answer::Open(vec![added("z@3"), added("b@4")]));
    rig.start_with(FirstLetter);
    rig.assert_taken(&["Replace@2 [a@1]", "Added b@4"]);
    assert_eq!(rig.last_error().problem(), Problem::Key);
}

#[test]
fn a_panic_costs_one_object() {
    let mut rig = Rig::new();
    rig.transform = Some(Arc::new(|_: &Identity, object: &mut Object| {
        assert!(!object.starts_with('q'), "no q please");
        Ok(())
    }));
    rig.source
        .list(whole("a@1 p@2 q@3", "3"))
        .watch(Answer::Open(vec![added("b@4")]));
    rig.start_with(FirstLetter);
    rig.assert_taken(&["Replace@3 [a@1] unreadable [q]", "Added b@4"]);
    assert_eq!(
        rig.errors(),
        [
            "foos: object skipped after a panic: the key function for ns/p panicked: no p please",
            "foos: object skipped after a panic: the transform for ns/q panicked: no q please",
        ]
    );
}

#[test]
fn an_undecodable_object_keeps_its_place_by_its_identity() {
    let mut rig = Rig::new();
    rig.source
        .list(Answer::Open(vec![item("a@1"), bad_item("b@2"), end("2")]))
        .watch(Answer::Open(vec![expired()]))
        .list(Answer::Open(vec![item("a@1"), item("b@3"), end("3")]));
    rig.start();
    rig.pass(1.0);
    rig.assert_taken(&["Replace@2 [a@1] unreadable [b]", "Replace@3 [a@1, b@3]"]);
    assert_eq!(
        rig.errors(),
        ["foos: object skipped: cannot decode Foo ns/b: field spec is a string"]
    );
}
