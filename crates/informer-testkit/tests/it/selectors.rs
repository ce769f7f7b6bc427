//! Label and field selectors as text.

use std::collections::BTreeMap;

use informer_testkit::{FakeApi, FieldSelector, LabelSelector, ListOptions};
use serde_json::json;

use crate::support::{names, pods};

fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

#[test]
fn label_selectors_select() {
    let red = labels(&[
        ("color", "red"),
        ("size", "7"),
        ("app.kubernetes.io/name", "web"),
        ("empty", ""),
    ]);
    for (selector, expected) in [
        ("", true),
        ("color=red", true),
        ("color==red", true),
        (" color = red , size != 8 ", true),
        ("color!=red", false),
        ("shape!=round", true),
        ("color in (red,blue)", true),
        ("color in (green, blue)", false),
        ("color notin (green,blue)", true),
        ("shape notin (round)", true),
        ("shape in (round)", false),
        ("color", true),
        ("shape", false),
        ("!shape", true),
        ("!color", false),
        ("size>6", true),
        ("size<7", false),
        ("color>1", false),
        ("app.kubernetes.io/name=web,color", true),
        ("empty=", true),
        ("color=", false),
        ("empty in ()", true),
    ] {
        let parsed: LabelSelector = selector
            .parse()
            .unwrap_or_else(|error| panic!("{selector:?}: {error}"));
        assert_eq!(parsed.matches(&red), expected, "{selector:?}");
    }
}

#[test]
fn bad_label_selectors_say_what_is_wrong() {
    for (selector, message) in [
        ("color in red", "requirement: found 'red' expected: '('"),
        (
            "color red",
            "requirement: found 'red', expected: in, notin, =, ==, !=, gt, lt",
        ),
        ("=red", "found '=', expected: !, identifier, or 'end of string'"),
        ("a=b,", "found '', expected: identifier after ','"),
        ("a in (b", "found '', expected: ',' or ')'"),
        ("size>big", "the value must be an integer"),
        ("-a=b", "name part must consist of"),
        ("a=b/c", "a valid label must be an empty string or consist of"),
    ] {
        let error = selector.parse::<LabelSelector>().unwrap_err().to_string();
        assert!(error.contains(message), "{selector:?}: {error}");
    }
}

#[test]
fn field_selectors_select_what_a_kind_offers() {
    let mut api = FakeApi::with_builtins();
    for (name, node, phase) in [
        ("a", "n1", "Running"),
        ("b", "n2", "Running"),
        ("c", "n1", "Pending"),
    ] {
        let pod = json!({
            "metadata": {"name": name}, "spec": {"nodeName": node},
            "status": {"phase": phase, "podIPs": [{"ip": format!("10.0.0.{}", name.len())}]},
        });
        api.put(&pods(), pod).unwrap();
    }
    for (selector, expected) in [
        ("metadata.name=b", vec!["b"]),
        ("metadata.namespace=default", vec!["a", "b", "c"]),
        ("metadata.namespace!=default", vec![]),
        ("spec.nodeName=n1", vec!["a", "c"]),
        ("spec.host=n2", vec!["b"]),
        ("spec.nodeName=n1,status.phase==Running", vec!["a"]),
        ("status.phase!=Running", vec!["c"]),
        ("spec.restartPolicy=Always", vec!["a", "b", "c"]),
        ("spec.hostNetwork=false", vec!["a", "b", "c"]),
        ("status.podIP=10.0.0.1", vec!["a", "b", "c"]),
    ] {
        let list = api
            .list(&pods(), &ListOptions::default().fields(selector))
            .unwrap();
        assert_eq!(names(&list.items), expected, "{selector}");
    }
    let error = api
        .list(&pods(), &ListOptions::default().fields("spec.x=1"))
        .unwrap_err();
    assert_eq!(error.message(), "field label not supported: spec.x");
    let error = api
        .list(
            &crate::support::configmaps(),
            &ListOptions::default().fields("spec.x=1"),
        )
        .unwrap_err();
    assert_eq!(
        error.message(),
        "\"spec.x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""
    );
}

#[test]
fn field_values_are_escaped_with_backslashes() {
    let selector: FieldSelector = r"metadata.name=a\,b\=c\\d,status.phase!=x".parse().unwrap();
    assert_eq!(selector.required("metadata.name"), Some(r"a,b=c\d"));
    assert_eq!(selector.required("status.phase"), None);
    assert!("".parse::<FieldSelector>().unwrap().is_empty());
    for bad in ["metadata.name", r"metadata.name=a\b", "a=b=c"] {
        let error = bad.parse::<FieldSelector>().unwrap_err().to_string();
        assert!(
            error.starts_with("invalid selector: ") || error.starts_with("invalid field selector: "),
            "{bad}: {error}"
        );
    }
}
