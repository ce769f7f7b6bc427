//! Resource versions and stamps: opaque, and compared only on request.

use std::cmp::Ordering;

use informer_core::{ResourceVersion, Stamp};
use proptest::prelude::*;

fn compare(left: &str, right: &str) -> Option<Ordering> {
    ResourceVersion::new(left)
        .compare(&ResourceVersion::new(right))
        .ok()
}

#[test]
fn decimal_versions_compare_as_numbers_of_any_length() {
    assert_eq!(compare("9", "10"), Some(Ordering::Less));
    assert_eq!(compare("10", "9"), Some(Ordering::Greater));
    assert_eq!(compare("42", "42"), Some(Ordering::Equal));
    let long = "9".repeat(60);
    assert_eq!(
        compare(&long, &format!("1{}", "0".repeat(60))),
        Some(Ordering::Less)
    );
}

#[test]
fn whatever_else_has_no_order() {
    for other in ["", "0", "007", "1a", "-1", "+1", " 1", "1 ", "½", "abc"] {
        assert_eq!(compare(other, "5"), None, "{other:?}");
        assert_eq!(compare("5", other), None, "{other:?}");
        assert_eq!(compare(other, other), None, "{other:?}");
    }
}

#[test]
fn the_error_names_both() {
    let error = ResourceVersion::new("a")
        .compare(&ResourceVersion::new("5"))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"resource versions "a" and "5" cannot be compared"#
    );
}

#[test]
fn none_is_the_empty_one() {
    assert!(ResourceVersion::none().is_none() && ResourceVersion::default().is_none());
    assert!(!ResourceVersion::new("0").is_none());
    assert_eq!(ResourceVersion::from("5").as_str(), "5");
    assert_eq!(format!("{0} {0:?}", ResourceVersion::new("5")), "5 @5");
}

#[test]
fn a_missing_uid_tells_nothing_apart() {
    let stamp = |uid: &str| Stamp::new("1", uid);
    assert!(stamp("u").same_object(&Stamp::new("2", "u")));
    assert!(!stamp("u").same_object(&stamp("v")));
    assert!(stamp("").same_object(&stamp("v")) && stamp("u").same_object(&stamp("")));
}

proptest! {
    #[test]
    fn agrees_with_numbers(a in 1..u64::MAX, b in 1..u64::MAX) {
        prop_assert_eq!(compare(&a.to_string(), &b.to_string()), Some(a.cmp(&b)));
    }
}
