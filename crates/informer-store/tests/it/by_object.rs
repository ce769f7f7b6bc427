//! An index asked by an object.

use std::error::Error;

use informer_core::Store;

use crate::support::{Bad, commit, key, put, tagged, thing};

#[test]
fn what_shares_a_value_with_an_object_comes_once_in_key_order() {
    let (mut writer, reader) = tagged();
    commit(
        &mut writer,
        [
            put("c@1", &["x", "y"]),
            put("a@2", &["y"]),
            put("b@3", &["x"]),
            put("d@4", &["z"]),
        ],
    );
    let view = reader.view();
    let found = reader
        .by_object("tag", &thing(&["x", "y", "x"], Bad::No))
        .unwrap();
    assert_eq!(format!("{found:?}"), r#"["a"@2, "b"@3, "c"@1]"#);
    let stored = reader.get(&key("d")).unwrap().object;
    assert_eq!(
        format!("{:?}", reader.by_object("tag", &stored).unwrap()),
        r#"["d"@4]"#
    );
    assert!(view.by_object("tag", &thing(&[], Bad::No)).unwrap().is_empty());
    assert!(
        view.by_object("tag", &thing(&["new"], Bad::No))
            .unwrap()
            .is_empty()
    );
    let values = view.values_of("tag", &thing(&["y", "x", "y"], Bad::No)).unwrap();
    assert_eq!(format!("{values:?}"), r#"["x", "y"]"#);
}

#[test]
fn an_unknown_index_or_a_function_that_fails_is_an_error() {
    let (_writer, reader) = tagged();
    let error = reader.by_object("node", &thing(&[], Bad::No)).unwrap_err();
    let source = error.source().unwrap().to_string();
    assert_eq!(source, r#"no index "node": there are tag"#);
    for (how, cause) in [
        (Bad::Fails, "no tags to be had"),
        (Bad::Panics, "the index function panicked: a tag too many"),
    ] {
        let error = reader.by_object("tag", &thing(&["x"], how)).unwrap_err();
        assert_eq!(error.to_string(), r#"index "tag" fails for the object"#);
        assert_eq!(error.source().unwrap().to_string(), cause);
    }
}
