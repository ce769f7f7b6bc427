//! What nobody should send, and what comes all the same.

use std::sync::Arc;

use informer_core::{
    Batch, Cause, Delta, Entry, Identity, KeyErrorKind, KeyFunc, NamespaceName, ObjectKey, Stamp, Store,
};
use informer_store::{Indexers, Page, indexed};

use crate::support::{ByTag, commit, commit_batch, entry, key, listed, put, tagged, tagged_with, tags};

#[test]
fn an_object_without_a_name_or_with_slashes_in_it_has_no_key_and_the_error_says_why() {
    let identity = |namespace: Option<&str>, name: &str| Identity {
        namespace: namespace.map(Into::into),
        name: name.into(),
        ..Identity::default()
    };
    let (no_name, slash) = (KeyErrorKind::NoName, KeyErrorKind::Slash);
    for (namespace, name, kind, says) in [
        (None, "", no_name, "object <unnamed> has no name"),
        (Some("ns"), "", no_name, "object ns/<unnamed> has no name"),
        (
            Some("ns"),
            "a/b",
            slash,
            "namespace or name of ns/a/b holds a slash",
        ),
        (
            Some("n/s"),
            "a",
            slash,
            "namespace or name of n/s/a holds a slash",
        ),
    ] {
        let error = NamespaceName.key(&identity(namespace, name), &()).unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().contains(says), "{error}");
    }
    for text in ["", "a/b/c", "/a", "a/"] {
        assert!(text.parse::<ObjectKey>().is_err(), "{text:?}");
    }
}

#[test]
fn a_key_with_slashes_or_without_a_name_from_an_own_key_function_is_kept_apart() {
    let (mut writer, reader) = tagged();
    let keys = [
        ObjectKey::namespaced("a", "b/c"),
        ObjectKey::namespaced("a/b", "c"),
        ObjectKey::cluster("a/b/c"),
        ObjectKey::cluster(""),
        ObjectKey::namespaced("a", ""),
    ];
    for (at, key) in keys.iter().enumerate() {
        let it = Entry::new(
            key.clone(),
            Stamp::new(at.to_string().as_str(), ""),
            entry("x", &["all"]).object,
        );
        let mut batch = Batch::of(Delta::Upsert(it, Cause::Added), false);
        commit_batch(&mut writer, &mut batch).unwrap();
    }
    assert_eq!(reader.len(), keys.len(), "the same text is not the same key");
    for (at, key) in keys.iter().enumerate() {
        assert_eq!(reader.get(key).unwrap().stamp.version.as_str(), at.to_string());
    }
    assert_eq!(reader.index_keys("tag", "all").unwrap().len(), keys.len());
    assert_eq!(reader.list_namespace("a").len(), 2);
    assert_eq!(reader.list_namespace("a/b").len(), 1);
}

#[test]
fn an_object_of_ten_megabytes_is_shared_like_any_other() {
    let by_length = |text: &String, emit: &mut dyn FnMut(&str)| emit(&text.len().to_string());
    // One that makes its value of the whole of it.
    let whole = |text: &String, emit: &mut dyn FnMut(&str)| emit(text);
    let (mut writer, reader) =
        indexed(Indexers::new().with("length", by_length).with("whole", whole)).unwrap();
    let large = Arc::new("x".repeat(10 << 20));
    let it = Entry::new(key("large"), Stamp::new("1", "u"), large.clone());
    let mut changes = Vec::new();
    let mut batch = Batch::of(Delta::Upsert(it, Cause::Added), false);
    informer_core::StoreWriter::commit(&mut writer, &mut batch, &mut changes).unwrap();
    assert!(Arc::ptr_eq(&reader.get(&key("large")).unwrap().object, &large));
    assert!(Arc::ptr_eq(&changes[0].entry().object, &large));
    assert_eq!(reader.by_index("length", "10485760").unwrap().len(), 1);
    assert_eq!(reader.by_index("whole", &large).unwrap().len(), 1);
    assert!(
        format!("{changes:?}").len() < 100,
        "errors and logs do not carry it"
    );
    let delete = crate::support::stamp("large@2#u");
    let gone = Delta::Delete {
        key: delete.0,
        stamp: delete.1,
        last: None,
        observed: true,
    };
    informer_core::StoreWriter::commit(&mut writer, &mut Batch::of(gone, false), &mut changes).unwrap();
    assert!(reader.is_empty() && reader.index_values("whole").unwrap().is_empty());
}

#[test]
fn a_hundred_thousand_values_in_one_index_of_one_object_and_of_many() {
    const VALUES: usize = 100_000;
    let many: Vec<String> = (0..VALUES).map(|n| format!("v{n:06}")).collect();
    let (mut writer, reader) = tagged();
    let all: Vec<&str> = many.iter().map(String::as_str).collect();
    commit(&mut writer, [put("one@1", &all), put("other@2", &["v000007"])]);
    assert_eq!(reader.index_values("tag").unwrap().len(), VALUES);
    assert_eq!(tagged_with(&reader, "v099999"), r#"["one"@1]"#);
    assert_eq!(tagged_with(&reader, "v000007"), r#"["one"@1, "other"@2]"#);
    commit(&mut writer, [put("one@3", &all[1..3])]);
    assert_eq!(tags(&reader), r#"["v000001", "v000002", "v000007"]"#);
    let items = many.iter().enumerate();
    let items = items.map(|(at, value)| entry(&format!("ns/{value}@{}", at + 10), &[value]));
    commit(&mut writer, [crate::support::list(items.collect(), "200000")]);
    assert_eq!(reader.index_values("tag").unwrap().len(), VALUES);
    assert_eq!(tagged_with(&reader, "v000001"), r#"["ns/v000001"@11]"#);
    let mut page: Page<_, _> = reader.page(30_000);
    let mut n = page.entries.len();
    while let Some(next) = page.next {
        page = next.page(30_000);
        n += page.entries.len();
    }
    assert_eq!(n, VALUES);
    commit(&mut writer, [crate::support::list(vec![], "200001")]);
    assert_eq!((listed(&reader).as_str(), tags(&reader).as_str()), ("[]", "[]"));
}

#[test]
fn an_index_of_a_name_that_exists_is_refused_wherever_it_comes_from() {
    let twice = Indexers::new().with("tag", ByTag).with("tag", ByTag);
    assert_eq!(indexed::<ObjectKey, _>(twice).unwrap_err().name(), "tag");
    let (mut writer, reader) = tagged();
    commit(&mut writer, [put("a@1", &["x"])]);
    let error = reader.add_index("tag", ByTag).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, r#"there is an index "tag" already"#);
    assert_eq!(tagged_with(&reader, "x"), r#"["a"@1]"#);
}
