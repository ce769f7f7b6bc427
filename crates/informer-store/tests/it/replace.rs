//! A list replaces the content in one step.

use std::sync::Arc;

use informer_core::{Batch, Delta, Store};

use crate::support::{
    Bad, applied, bad, batch, commit, commit_batch, entry, key, lines, list, listed, put, tagged,
    tagged_with, tags,
};

#[test]
fn the_first_list_adds_in_its_order() {
    let (mut writer, reader) = tagged();
    let first = list(vec![entry("b@2", &[]), entry("a@1", &[])], "5");
    let mut batch = Batch::of(first, true);
    let changes = commit_batch(&mut writer, &mut batch).unwrap();
    assert_eq!(lines(&changes), "Added \"b\"@2 initial\nAdded \"a\"@1 initial");
    assert_eq!(listed(&reader), r#"["a"@1, "b"@2]"#);
    assert_eq!(applied(&reader), "5");
}

#[test]
fn a_relist_tells_what_vanished_first_then_what_differs_and_nothing_else() {
    let (mut writer, reader) = tagged();
    commit(
        &mut writer,
        [
            put("a@1#u", &["x"]),
            put("b@2#u", &["x"]),
            put("c@3#u", &["x"]),
            put("d@4#u1", &[]),
        ],
    );
    let same = reader.get(&key("b")).unwrap().object;
    let relist = list(
        vec![
            entry("e@9#u", &["x"]),
            entry("d@8#u2", &[]),
            entry("c@7#u", &["y"]),
            entry("b@2#u", &["new"]),
        ],
        "10",
    );
    let expected = r#"Removed "a"@1#u unobserved
Added "e"@9#u
Removed "d"@4#u1 unobserved
Added "d"@8#u2
Updated "c"@3#u -> "c"@7#u"#;
    assert_eq!(commit(&mut writer, [relist]), expected);
    assert_eq!(tags(&reader), r#"["x", "y"]"#);
    assert_eq!(tagged_with(&reader, "x"), r#"["b"@2#u, "e"@9#u]"#);
    assert!(Arc::ptr_eq(&same, &reader.get(&key("b")).unwrap().object));
}

#[test]
fn an_empty_list_empties_the_store() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("a@1", &["x"])]);
    assert_eq!(
        commit(&mut writer, [list(Vec::new(), "7")]),
        r#"Removed "a"@1 unobserved"#
    );
    assert_eq!(
        (listed(&reader), tags(&reader), applied(&reader)),
        ("[]".into(), "[]".into(), "7".into())
    );
}

#[test]
fn what_could_not_be_read_turns_stale_and_stays() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("a@1", &[]), put("b@2", &[]), put("c@3", &[])]);
    let relist = Delta::Replace {
        items: vec![entry("b@2", &[])],
        unreadable: vec![key("a"), key("b"), key("z")],
        at: "9".into(),
        may_rewind: false,
    };
    assert_eq!(commit(&mut writer, [relist]), r#"Removed "c"@3 unobserved"#);
    // What was listed both ways was read.
    assert_eq!(listed(&reader), r#"["a"@1 (stale), "b"@2]"#);
}

#[test]
fn an_unchanged_object_is_no_longer_stale_after_a_list() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("a@1", &[])]);
    commit(&mut writer, [crate::support::unreadable("a@2")]);
    assert_eq!(commit(&mut writer, [list(vec![entry("a@1", &[])], "3")]), "");
    assert_eq!(listed(&reader), r#"["a"@1]"#);
}

#[test]
fn an_object_that_an_index_cannot_take_leaves_its_old_state_stale_and_the_rest_is_applied() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("a@1", &["x"]), put("b@2", &["x"])]);
    let relist = list(
        vec![
            bad("a@5", Bad::Fails),
            entry("b@6", &["y"]),
            bad("c@7", Bad::Fails),
        ],
        "9",
    );
    let mut batch = batch([relist]);
    let error = commit_batch(&mut writer, &mut batch).unwrap_err();
    let keys: Vec<_> = error.failed.iter().map(|it| it.key.to_string()).collect();
    assert_eq!(keys, ["a", "c"]);
    assert_eq!(format!("{:?}", batch.deltas), r#"[Listed "a"@5, Listed "c"@7]"#);
    assert_eq!(listed(&reader), r#"["a"@1 (stale), "b"@6]"#);
    assert_eq!(tags(&reader), r#"["x", "y"]"#);
    assert_eq!(applied(&reader), "9");
}
