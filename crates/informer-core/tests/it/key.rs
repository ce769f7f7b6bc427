//! Keys: how they print, parse and sort, and the default key function.

use std::hash::{BuildHasher, RandomState};

use informer_core::{Identity, KeyError, KeyErrorKind, KeyFunc, NamespaceName, ObjectKey};
use proptest::prelude::*;

fn identity(namespace: Option<&str>, name: &str) -> Identity {
    Identity {
        namespace: namespace.map(Into::into),
        name: name.into(),
        ..Identity::default()
    }
}

#[test]
fn prints_as_client_go_does() {
    assert_eq!(ObjectKey::namespaced("ns", "name").to_string(), "ns/name");
    assert_eq!(ObjectKey::cluster("node").to_string(), "node");
    assert_eq!(
        format!("{:?}", ObjectKey::namespaced("ns", "name")),
        r#""ns/name""#
    );
}

#[test]
fn an_empty_namespace_is_none() {
    let key = ObjectKey::new(Some(""), "name");
    assert_eq!(key, ObjectKey::cluster("name"));
    assert_eq!(
        (key.namespace(), key.name(), key.as_str()),
        (None, "name", "name")
    );
}

#[test]
fn parses_what_it_prints_and_nothing_else() {
    let key: ObjectKey = "ns/name".parse().unwrap();
    assert_eq!((key.namespace(), key.name()), (Some("ns"), "name"));
    assert_eq!("node".parse(), Ok(ObjectKey::cluster("node")));
    for wrong in ["", "/", "ns/", "/name", "a/b/c", "a//b"] {
        let error = wrong.parse::<ObjectKey>().unwrap_err();
        assert!(error.to_string().contains(&format!("{wrong:?}")), "{error}");
    }
}

#[test]
fn sorts_by_namespace_then_name_not_by_text() {
    let mut keys = ["b/a", "a-b/x", "a/z", "z", "a/b", "a-b/a"].map(|it| it.parse::<ObjectKey>().unwrap());
    keys.sort();
    let sorted: Vec<_> = keys.iter().map(ObjectKey::as_str).collect();
    // As text, `a-b/a` is before `a/b`: a dash is before a slash.
    assert_eq!(sorted, ["z", "a/b", "a/z", "a-b/a", "a-b/x", "b/a"]);
}

#[test]
fn one_namespace_is_one_range() {
    let first = ObjectKey::first_of("a");
    assert!(ObjectKey::cluster("zzz") < first);
    assert!(first < ObjectKey::namespaced("a", "!"));
    assert!(ObjectKey::namespaced("a", "zzz") < ObjectKey::first_of("a-b"));
    assert!(ObjectKey::first_of("") <= ObjectKey::cluster("a"));
}

#[test]
fn the_default_key_function_takes_namespace_and_name() {
    let key = |namespace, name| NamespaceName.key(&identity(namespace, name), &());
    assert_eq!(key(Some("ns"), "a"), Ok(ObjectKey::namespaced("ns", "a")));
    assert_eq!(key(None, "a"), Ok(ObjectKey::cluster("a")));
    assert_eq!(
        key(Some("ns"), "").unwrap_err().to_string(),
        "no key: object ns/<unnamed> has no name"
    );
    assert!(key(Some("ns"), "a/b").is_err());
    assert!(key(Some("n/s"), "a").is_err());
}

/// client-go `TestKeyError`.
#[test]
fn a_key_that_cannot_be_made_is_an_error_with_kind_and_cause() {
    let kind = |namespace, name| {
        let made = NamespaceName.key(&identity(namespace, name), &());
        made.unwrap_err().kind()
    };
    assert_eq!(kind(Some("ns"), ""), KeyErrorKind::NoName);
    assert_eq!(kind(None, ""), KeyErrorKind::NoName);
    assert_eq!(kind(Some("n/s"), "a"), KeyErrorKind::Slash);
    assert_eq!(kind(None, "a/b"), KeyErrorKind::Slash);
    let parsed = "a/b/c".parse::<ObjectKey>().unwrap_err();
    assert_eq!(parsed.kind(), KeyErrorKind::Malformed);

    let own = KeyError::new("invoice ns/a has the number x");
    assert_eq!(own.kind(), KeyErrorKind::Other);
    assert!(std::error::Error::source(&own).is_none());
    let own = own.caused_by("x".parse::<u32>().unwrap_err());
    assert_eq!(
        format!("{own}: {}", std::error::Error::source(&own).unwrap()),
        "no key: invoice ns/a has the number x: invalid digit found in string"
    );
    assert_eq!(own.clone(), own);
    assert_ne!(own.clone().of_kind(KeyErrorKind::NoName), own);
}

#[test]
fn a_shared_key_function_is_one() {
    let shared = std::sync::Arc::new(NamespaceName);
    assert_eq!(shared.key(&identity(None, "a"), &()), Ok(ObjectKey::cluster("a")));
}

fn part() -> impl Strategy<Value = String> {
    "[a-c.-]{1,3}"
}

proptest! {
    #[test]
    fn agrees_with_a_pair_of_texts(
        a in (prop::option::of(part()), part()),
        b in (prop::option::of(part()), part()),
    ) {
        let key = |it: &(Option<String>, String)| ObjectKey::new(it.0.as_deref(), &it.1);
        let (left, right) = (key(&a), key(&b));
        prop_assert_eq!(left.cmp(&right), a.cmp(&b));
        prop_assert_eq!(left == right, a == b);
        prop_assert_eq!(&left.to_string().parse::<ObjectKey>().unwrap(), &left);
        let hasher = RandomState::new();
        if left == right {
            prop_assert_eq!(hasher.hash_one(&left), hasher.hash_one(&right));
        }
    }
}
