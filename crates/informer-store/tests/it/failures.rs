//! Index functions that fail.

use informer_core::{Cause, Delta, IndexFunc, Store};
use informer_store::{Indexers, indexed};

use crate::support::{
    Bad, ByTag, Thing, applied, bad, batch, commit, commit_batch, delete, key, lines, listed, put, tagged,
    tagged_with, tags, thing,
};

#[test]
fn a_failing_delta_changes_nothing_stays_in_the_batch_and_the_rest_is_applied() {
    for how in [Bad::Fails, Bad::Panics] {
        let (mut writer, reader) = tagged();
        commit(&mut writer, [put("a@1", &["x"])]);
        let mut batch = batch([
            put("b@2", &["x"]),
            Delta::Upsert(bad("a@3", how), Cause::Modified),
            put("c@4", &["y"]),
            Delta::Upsert(bad("d@5", how), Cause::Added),
        ]);
        let error = commit_batch(&mut writer, &mut batch).unwrap_err();
        assert_eq!(error.failed.len(), 2);
        assert_eq!(error.failed[0].key, key("a"));
        assert_eq!(error.failed[0].index.as_deref(), Some("tag"));
        let cause = error.failed[0].cause.to_string();
        match how {
            Bad::Panics => assert_eq!(cause, "the index function panicked: a tag too many"),
            _ => assert_eq!(cause, "no tags to be had"),
        }
        assert_eq!(format!("{:?}", batch.deltas), r#"[Modified "a"@3, Added "d"@5]"#);
        assert_eq!(listed(&reader), r#"["a"@1, "b"@2, "c"@4]"#);
        assert_eq!(tags(&reader), r#"["x", "y"]"#);
        assert_eq!(tagged_with(&reader, "x"), r#"["a"@1, "b"@2]"#);
        assert_eq!(applied(&reader), "4", "nobody has the change of version 5");
        // Nothing is poisoned.
        assert_eq!(
            commit(&mut writer, [put("a@6", &["z"])]),
            r#"Updated "a"@1 -> "a"@6"#
        );
        assert_eq!(tags(&reader), r#"["x", "y", "z"]"#);
    }
}

#[test]
fn no_index_takes_what_one_of_them_refuses() {
    struct Count;
    impl IndexFunc<Thing> for Count {
        fn values(&self, thing: &Thing, emit: &mut dyn FnMut(&str)) -> Result<(), informer_core::IndexError> {
            emit(&thing.tags.len().to_string());
            Ok(())
        }
    }
    let indexers = Indexers::new().with("count", Count).with("tag", ByTag);
    let (mut writer, reader) = indexed(indexers).unwrap();
    let mut batch = batch([Delta::Upsert(bad("a@1", Bad::Fails), Cause::Added)]);
    commit_batch(&mut writer, &mut batch).unwrap_err();
    assert!(reader.is_empty());
    assert!(reader.index_values("count").unwrap().is_empty());
}

#[test]
fn taking_an_object_out_asks_no_function() {
    /// Fails for everything once it was told to, as one that reads something outside.
    #[derive(Default)]
    struct Moody(std::sync::atomic::AtomicBool);
    impl IndexFunc<Thing> for Moody {
        fn values(&self, thing: &Thing, emit: &mut dyn FnMut(&str)) -> Result<(), informer_core::IndexError> {
            assert!(!self.0.load(std::sync::atomic::Ordering::SeqCst), "asked again");
            thing.tags.iter().for_each(|tag| emit(tag));
            Ok(())
        }
    }
    let moody = std::sync::Arc::new(Moody::default());
    let indexers = Indexers::new().with_shared("tag", moody.clone());
    let (mut writer, reader) = indexed(indexers).unwrap();
    commit(&mut writer, [put("a@1", &["x"]), put("b@2", &["x"])]);
    moody.0.store(true, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(commit(&mut writer, [delete("a@3")]), r#"Removed "a"@1"#);
    assert_eq!(tagged_with(&reader, "x"), r#"["b"@2]"#);
}

#[test]
fn duplicates_fold_and_an_empty_value_is_a_value() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("a@1", &["x", "x", ""]), put("b@2", &[])]);
    assert_eq!(tagged_with(&reader, "x"), r#"["a"@1]"#);
    assert_eq!(tagged_with(&reader, ""), r#"["a"@1]"#);
    assert_eq!(tags(&reader), r#"["", "x"]"#);
}

#[test]
fn a_failed_delta_is_applied_when_it_comes_again_repaired() {
    let (mut writer, reader) = tagged();
    let mut batch = batch([Delta::Upsert(bad("a@1", Bad::Fails), Cause::Added)]);
    commit_batch(&mut writer, &mut batch).unwrap_err();
    for delta in &mut batch.deltas {
        if let Delta::Upsert(entry, _) = delta {
            entry.object = thing(&["good"], Bad::No);
        }
    }
    let changes = commit_batch(&mut writer, &mut batch).unwrap();
    assert_eq!(lines(&changes), r#"Added "a"@1"#);
    assert_eq!(tags(&reader), r#"["good"]"#);
}
