//! Own writes above a store: what client-go has no test for.

use std::{sync::Arc, time::Duration};

use informer_core::{Change, Entry};
use informer_store::{
    Indexers,
    caches::{MutationCache, MutationOptions},
};

use super::mutation::rig;
use crate::support::{Bad, ByTag, bad, entry, key, stamp, tagged, thing};

#[test]
fn the_newer_of_the_two_states_is_answered() {
    let mut rig = rig(false, 100);
    rig.store("pod@5");
    assert!(rig.mutation("pod@10"));
    assert_eq!(rig.get("pod").as_deref(), Some("10"));
    assert!(!rig.mutation("pod@9"), "by number, not by text");
    assert_eq!(rig.get("pod").as_deref(), Some("10"));
    rig.store("pod@11");
    assert_eq!(rig.get("pod").as_deref(), Some("11"));
    assert!(rig.own.is_empty());
}

#[test]
fn an_add_that_the_store_has_not_seen_is_answered_only_if_asked_for() {
    for include_adds in [false, true] {
        let mut rig = rig(include_adds, 100);
        rig.mutation("pod@1");
        assert_eq!(rig.get("pod").is_some(), include_adds);
        assert_eq!(rig.tagged("pod") == r#"["pod"@1]"#, include_adds);
    }
}

#[test]
fn an_own_write_is_forgotten_after_its_time_and_the_least_used_when_there_are_too_many() {
    let mut rig = rig(true, 2);
    rig.mutation("a@1");
    rig.later(Duration::from_secs(200));
    rig.mutation("b@2");
    rig.later(Duration::from_secs(100));
    assert!(rig.get("a").is_some(), "exactly its time");
    rig.later(Duration::from_nanos(1));
    assert_eq!(rig.tagged("pod"), r#"["b"@2]"#);
    assert_eq!((rig.get("a"), rig.get("b").as_deref()), (None, Some("2")));
    rig.mutation("c@3");
    assert!(rig.get("b").is_some());
    rig.mutation("d@4");
    assert_eq!(rig.get("c"), None, "b was used later");
    assert!(rig.get("b").is_some() && rig.get("d").is_some());
}

#[test]
fn an_own_write_stands_under_the_values_it_has_now() {
    let mut rig = rig(false, 100);
    rig.store("a@1");
    rig.store("b@2");
    rig.own.mutation(rig.now, entry("b@4", &["other"])).unwrap();
    assert_eq!(rig.tagged("pod"), r#"["a"@1]"#);
    assert_eq!(rig.tagged("other"), r#"["b"@4]"#);
    rig.store("b@5");
    assert_eq!(rig.tagged("pod"), r#"["a"@1, "b"@5]"#);
    assert_eq!(rig.tagged("other"), "[]");
}

#[test]
fn without_the_index_functions_the_stores_answer_counts_in_newer_states() {
    let (mut writer, reader) = tagged();
    crate::support::commit(&mut writer, [crate::support::put("a@1", &["x"])]);
    let mut options = MutationOptions::default();
    let mut own = MutationCache::new(reader.clone(), options);
    let now = rig(false, 1).now;
    own.mutation(now, entry("a@2", &["y"])).unwrap();
    let found = own.by_index(now, "tag", "x").unwrap();
    assert_eq!(format!("{found:?}"), r#"["a"@2]"#);
    options.include_adds = true;
    let mut own = MutationCache::new(reader, options);
    let error = own.by_index(now, "tag", "x").unwrap_err();
    assert_eq!(
        format!("{error}: {}", std::error::Error::source(&error).unwrap()),
        r#"cannot ask the index: no index "tag": this store has none"#
    );
}

#[test]
fn versions_without_an_order_are_an_error_and_nothing_changes() {
    let mut rig = rig(true, 100);
    for wrong in ["pod@", "pod@abc", "pod@0", "pod@1.5"] {
        let error = rig.own.mutation(rig.now, entry(wrong, &[])).unwrap_err();
        assert!(error.to_string().ends_with("cannot be compared"), "{error}");
    }
    assert!(rig.own.is_empty());
    rig.mutation("pod@2#u");
    let (name, odd) = stamp("pod@odd#u");
    rig.own.on_add_or_update(rig.now, &name, &odd).unwrap_err();
    rig.own.on_delete(rig.now, &name, &odd).unwrap_err();
    assert_eq!(rig.get("pod").as_deref(), Some("2"));
    rig.store("pod@odd#u");
    rig.own.get(rig.now, &name).unwrap_err();
    let error = rig.own.by_index(rig.now, "tag", "pod").unwrap_err();
    assert_eq!(error.to_string(), "cannot tell which state is newer");
    // The store moves on, and nothing of it is left.
    rig.store("pod@3#u");
    assert_eq!(rig.get("pod").as_deref(), Some("3"));
}

#[test]
fn a_failing_index_function_and_an_unknown_index_are_errors() {
    let mut rig = rig(true, 100);
    for how in [Bad::Fails, Bad::Panics] {
        rig.own.mutation(rig.now, bad("pod@1", how)).unwrap();
        let error = rig.own.by_index(rig.now, "tag", "bad").unwrap_err();
        assert_eq!(error.to_string(), r#"index "tag" fails for an own write"#);
    }
    let error = rig.own.by_index(rig.now, "node", "n").unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), r#"no index "node": there are tag"#);
    assert_eq!(rig.get("pod").as_deref(), Some("1"), "nothing is poisoned");
    let twice = Indexers::new().with("tag", ByTag).with("tag", ByTag);
    let (_writer, reader) = tagged();
    let cache = MutationCache::new(reader, MutationOptions::default()).with_indexers(twice);
    assert_eq!(cache.unwrap_err().name(), "tag");
}

#[test]
fn changes_of_a_handler_are_enough() {
    let mut rig = rig(true, 100);
    let state = |text| {
        let (key, stamp) = stamp(text);
        Entry::new(key, stamp, thing(&[], Bad::No))
    };
    rig.mutation("a@5#u");
    let added = |text| Change::Added {
        new: state(text),
        initial: false,
    };
    rig.own.on_change(rig.now, &added("a@4#u")).unwrap();
    assert_eq!(rig.own.len(), 1);
    let updated = Change::Updated {
        old: state("a@4#u"),
        new: state("a@5#u"),
    };
    rig.own.on_change(rig.now, &updated).unwrap();
    assert!(rig.own.is_empty());
    rig.mutation("a@6#u");
    let resynced = Change::Resynced {
        current: state("a@6#u"),
    };
    rig.own.on_change(rig.now, &resynced).unwrap();
    assert!(rig.own.is_empty());
    let removed = Change::Removed {
        last: state("a@6#u"),
        observed: false,
    };
    rig.own.on_change(rig.now, &removed).unwrap();
    assert!(!rig.mutation("a@7#u"), "its incarnation is gone");
    assert!(rig.mutation("a@8#v"), "the next one is not");
    assert_eq!(rig.get("a").as_deref(), Some("8"));
}

#[test]
fn an_end_that_the_store_has_not_seen_leaves_the_stores_answer() {
    let mut rig = rig(true, 100);
    rig.store("a@1#u");
    rig.on_delete("a@2#u");
    assert_eq!(rig.get("a").as_deref(), Some("1"));
    assert_eq!(rig.tagged("pod"), r#"["a"@1#u]"#);
}

#[test]
fn an_own_write_is_shared_not_copied() {
    let mut rig = rig(true, 100);
    let own = entry("a@1", &[]);
    rig.own.mutation(rig.now, own.clone()).unwrap();
    let found = rig.own.get(rig.now, &key("a")).unwrap().unwrap();
    assert!(Arc::ptr_eq(&found.object, &own.object));
}
