//! Indices that come late.

use informer_core::{IndexFunc, Store};

use crate::support::{Bad, ByTag, Thing, bad, commit, key, put, tagged, tags};

fn by_count(thing: &Thing, emit: &mut dyn FnMut(&str)) {
    emit(&thing.tags.len().to_string());
}

#[test]
fn a_late_index_is_complete_when_the_call_returns_and_kept_up_afterwards() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("a@1", &["x"]), put("b@2", &["x", "y"])]);
    let before = reader.view();
    reader.add_index("count", by_count).unwrap();
    assert_eq!(reader.index_keys("count", "2").unwrap(), [key("b")]);
    assert_eq!(tags(&reader), r#"["x", "y"]"#);
    commit(&mut writer, [put("a@3", &["p", "q"]), put("c@4", &[])]);
    assert_eq!(reader.index_keys("count", "2").unwrap(), [key("a"), key("b")]);
    assert_eq!(
        format!("{:?}", reader.index_values("count").unwrap()),
        r#"["0", "2"]"#
    );
    assert!(before.index_values("count").is_err(), "a view stays as it was");
}

#[test]
fn before_any_object_it_is_there_at_once() {
    let (mut writer, reader) = tagged();
    reader.add_index("count", by_count).unwrap();
    commit(&mut writer, [put("a@1", &["x"])]);
    assert_eq!(reader.index_keys("count", "1").unwrap(), [key("a")]);
}

#[test]
fn a_name_that_exists_is_refused_and_nothing_changes() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("a@1", &["x"])]);
    let error = reader.add_index("tag", by_count).unwrap_err();
    assert!(error.is_duplicate() && error.failure().is_none());
    assert_eq!(tags(&reader), r#"["x"]"#);
}

#[test]
fn a_function_that_fails_for_a_stored_object_is_refused_and_nothing_changes() {
    let (mut writer, reader) = informer_store::indexed(informer_store::Indexers::new()).unwrap();
    let it = informer_core::Delta::Upsert(bad("a@1", Bad::Fails), informer_core::Cause::Added);
    commit(&mut writer, [it]);
    let error = reader.add_index("tag", ByTag).unwrap_err();
    assert_eq!(error.failure().unwrap().key, key("a"));
    assert_eq!(error.to_string(), r#"cannot add index "tag": it fails for "a""#);
    assert!(reader.index_values("tag").is_err());
    // It may come again.
    reader.add_index("tag", by_count).unwrap();
}

#[test]
fn closures_and_types_are_index_functions() {
    let (mut writer, reader) = tagged();
    let shared: std::sync::Arc<dyn IndexFunc<Thing>> = std::sync::Arc::new(ByTag);
    let _ = shared;
    reader
        .add_index("first", |thing: &Thing, emit: &mut dyn FnMut(&str)| {
            thing.tags.first().map(String::as_str).into_iter().for_each(emit);
        })
        .unwrap();
    commit(&mut writer, [put("a@1", &["x", "y"])]);
    assert_eq!(reader.by_index("first", "x").unwrap().len(), 1);
    assert!(reader.by_index("first", "y").unwrap().is_empty());
}
