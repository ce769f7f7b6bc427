//! CF-05: a resync must not travel back, nor raise the dead (client-go 3f0de10d8).

use informer_core::{Cause, Delta};

use crate::support::{commit, delete, entry, listed, put, tagged};

#[test]
fn cf_05_a_copy_that_waited_behind_an_update_repeats_the_update() {
    let (mut writer, _) = tagged();
    commit(&mut writer, [put("a@1", &[])]);
    let copy = Delta::Upsert(entry("a@1", &[]), Cause::Sync);
    assert_eq!(
        commit(&mut writer, [put("a@2", &[])]),
        r#"Updated "a"@1 -> "a"@2"#
    );
    assert_eq!(commit(&mut writer, [copy]), r#"Resynced "a"@2"#);
    assert_eq!(commit(&mut writer, [Delta::Resync]), r#"Resynced "a"@2"#);
}

#[test]
fn cf_05_a_copy_that_waited_behind_a_delete_raises_nothing() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("a@1", &["x"])]);
    let copy = Delta::Upsert(entry("a@1", &["x"]), Cause::Sync);
    commit(&mut writer, [delete("a@2")]);
    assert_eq!(commit(&mut writer, [copy, Delta::Resync]), "");
    assert_eq!(listed(&reader), "[]");
    assert_eq!(reader.index_values("tag").unwrap().len(), 0);
}
