//! What a commit does with each delta.

use std::sync::Arc;

use informer_core::{Batch, Cause, Change, Delta, ResourceVersion, Store};

use crate::support::{
    Bad, batch, commit, commit_batch, delete, entry, key, lines, listed, put, stamp, tagged, tagged_with,
    tags, thing, unreadable,
};

#[test]
fn an_unknown_key_is_added() {
    let (mut writer, reader) = tagged();
    assert_eq!(
        commit(&mut writer, [put("ns/a@1#u", &["x"])]),
        r##"Added "ns/a"@1#u"##
    );
    assert_eq!(listed(&reader), r##"["ns/a"@1#u]"##);
    assert_eq!(tagged_with(&reader, "x"), r##"["ns/a"@1#u]"##);
}

#[test]
fn added_is_initial_when_the_batch_is() {
    let (mut writer, _) = tagged();
    let mut batch = Batch {
        initial: true,
        ..batch([put("a@1", &[])])
    };
    let changes = commit_batch(&mut writer, &mut batch).unwrap();
    assert_eq!(lines(&changes), r#"Added "a"@1 initial"#);
}

#[test]
fn another_version_is_an_update_and_moves_the_key_in_the_index() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("a@1#u", &["x", "y"])]);
    let changes = commit(&mut writer, [put("a@2#u", &["y", "z"])]);
    assert_eq!(changes, r#"Updated "a"@1#u -> "a"@2#u"#);
    assert_eq!(tags(&reader), r#"["y", "z"]"#);
    assert_eq!(tagged_with(&reader, "x"), "[]");
}

#[test]
fn the_same_state_again_is_silent_and_keeps_the_stored_object() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("a@1#u", &["x"])]);
    let stored = reader.get(&key("a")).unwrap().object;
    assert_eq!(commit(&mut writer, [put("a@1#u", &["other"])]), "");
    assert!(Arc::ptr_eq(&stored, &reader.get(&key("a")).unwrap().object));
    assert_eq!(tags(&reader), r#"["x"]"#);
}

#[test]
fn another_uid_is_a_removal_that_nobody_saw_and_an_addition() {
    let (mut writer, _) = tagged();
    commit(&mut writer, [put("a@1#u1", &[])]);
    let changes = commit(&mut writer, [put("a@1#u2", &[])]);
    assert_eq!(changes, "Removed \"a\"@1#u1 unobserved\nAdded \"a\"@1#u2");
}

#[test]
fn a_missing_uid_is_the_same_object() {
    let (mut writer, _) = tagged();
    commit(&mut writer, [put("a@1", &[])]);
    assert_eq!(
        commit(&mut writer, [put("a@2#u1", &[])]),
        r##"Updated "a"@1 -> "a"@2#u1"##
    );
}

#[test]
fn without_versions_only_the_same_object_is_the_same_state() {
    let (mut writer, _) = tagged();
    let first = entry("a", &[]);
    commit(&mut writer, [Delta::Upsert(first.clone(), Cause::Added)]);
    assert_eq!(commit(&mut writer, [Delta::Upsert(first, Cause::Added)]), "");
    assert_eq!(commit(&mut writer, [put("a", &[])]), r#"Updated "a"@ -> "a"@"#);
}

#[test]
fn a_sync_repeats_what_is_stored_and_never_brings_anything_back() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("a@2#u", &[])]);
    let old = Delta::Upsert(entry("a@1#u", &[]), Cause::Sync);
    assert_eq!(commit(&mut writer, [old]), r#"Resynced "a"@2#u"#);
    let gone = Delta::Upsert(entry("b@1#u", &[]), Cause::Sync);
    assert_eq!(commit(&mut writer, [gone]), "");
    assert_eq!(listed(&reader), r#"["a"@2#u]"#);
}

#[test]
fn a_resync_repeats_every_entry_in_order() {
    let (mut writer, _) = tagged();
    commit(&mut writer, [put("b@2", &[]), put("a@1", &[])]);
    assert_eq!(
        commit(&mut writer, [Delta::Resync]),
        "Resynced \"a\"@1\nResynced \"b\"@2"
    );
}

#[test]
fn a_delete_tells_the_last_state_that_the_source_sent() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("a@1#u", &["x"])]);
    let last = thing(&["last"], Bad::No);
    let (key, stamp) = stamp("a@3#u");
    let mut batch = batch([Delta::Delete {
        key,
        stamp,
        last: Some(last.clone()),
        observed: true,
    }]);
    let changes = commit_batch(&mut writer, &mut batch).unwrap();
    assert_eq!(lines(&changes), r#"Removed "a"@3#u"#);
    assert!(matches!(&changes[0], Change::Removed { last: it, .. } if Arc::ptr_eq(&it.object, &last)));
    assert!(reader.is_empty());
    assert_eq!(tags(&reader), "[]");
}

#[test]
fn a_delete_without_a_last_state_tells_the_stored_one() {
    let (mut writer, _) = tagged();
    commit(&mut writer, [put("a@1#u", &[])]);
    assert_eq!(commit(&mut writer, [delete("a@3#u")]), r#"Removed "a"@1#u"#);
}

#[test]
fn a_concluded_delete_says_so() {
    let (mut writer, _) = tagged();
    commit(&mut writer, [put("a@1", &[])]);
    let concluded = Delta::Delete {
        key: key("a"),
        stamp: stamp("a@9").1,
        last: None,
        observed: false,
    };
    assert_eq!(commit(&mut writer, [concluded]), r#"Removed "a"@1 unobserved"#);
}

#[test]
fn a_delete_of_another_incarnation_ends_the_stored_one_unobserved() {
    let (mut writer, _) = tagged();
    commit(&mut writer, [put("a@1#u1", &[])]);
    let (key, stamp) = stamp("a@9#u2");
    let other = Delta::Delete {
        key,
        stamp,
        last: Some(thing(&[], Bad::No)),
        observed: true,
    };
    assert_eq!(commit(&mut writer, [other]), r##"Removed "a"@1#u1 unobserved"##);
}

#[test]
fn a_delete_of_an_unknown_key_is_silent() {
    let (mut writer, _) = tagged();
    assert_eq!(commit(&mut writer, [delete("a@3")]), "");
}

#[test]
fn an_unreadable_state_marks_the_stored_one_until_it_is_read_again() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("a@1#u", &["x"])]);
    assert_eq!(commit(&mut writer, [unreadable("a@2#u"), unreadable("b@3")]), "");
    assert_eq!(listed(&reader), r#"["a"@1#u (stale)]"#);
    assert_eq!(tagged_with(&reader, "x"), r#"["a"@1#u (stale)]"#);
    // The state before the unreadable one again, as from a lagging replica: it is what is stored.
    assert_eq!(commit(&mut writer, [put("a@1#u", &["x"])]), "");
    assert_eq!(listed(&reader), r#"["a"@1#u]"#);
    commit(&mut writer, [unreadable("a@2#u")]);
    let changes = commit(&mut writer, [put("a@3#u", &[])]);
    assert_eq!(changes, r#"Updated "a"@1#u (stale) -> "a"@3#u"#);
}

#[test]
fn a_batch_is_visible_all_at_once_and_older_views_stay() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("a@1", &["x"]), put("b@2", &["x"])]);
    let before = reader.view();
    commit(
        &mut writer,
        [delete("a@3"), put("b@4", &["y"]), put("c@5", &["x"])],
    );
    assert_eq!(
        format!("{:?}", before.iter().collect::<Vec<_>>()),
        r#"["a"@1, "b"@2]"#
    );
    assert_eq!(before.index_keys("tag", "x").unwrap(), [key("a"), key("b")]);
    assert_eq!(before.applied(), &ResourceVersion::new("2"));
    assert_eq!(listed(&reader), r#"["b"@4, "c"@5]"#);
    assert_eq!(tagged_with(&reader, "x"), r#"["c"@5]"#);
}

#[test]
fn an_object_is_shared_not_copied() {
    let (mut writer, reader) = tagged();
    let it = entry("a@1", &["x"]);
    let object = it.object.clone();
    let mut batch = batch([Delta::Upsert(it, Cause::Added)]);
    let changes = commit_batch(&mut writer, &mut batch).unwrap();
    assert!(Arc::ptr_eq(&changes[0].entry().object, &object));
    assert!(Arc::ptr_eq(&reader.get(&key("a")).unwrap().object, &object));
}
