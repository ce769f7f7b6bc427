//! Label selectors as kubectl takes them.

use informer_sharedinformer::LabelSelector;

fn matches(selector: &str) -> bool {
    let labels = [
        ("app", "web"),
        ("tier", "front"),
        ("generation", "12"),
        ("example.com/role", ""),
    ];
    let selector: LabelSelector = selector.parse().unwrap();
    selector.matches(|name| {
        labels
            .iter()
            .find(|(label, _)| *label == name)
            .map(|(_, value)| *value)
    })
}

#[test]
fn every_operator_holds_as_documented() {
    let holds = [
        "",
        "  ",
        "app=web",
        "app==web",
        "app = web , tier = front",
        "tier!=back",
        "missing!=back",
        "app in (web, db)",
        "app in(web)",
        "app notin (db)",
        "missing notin (db)",
        "app",
        "!missing",
        "! missing",
        "generation>3",
        "generation < 20",
        "example.com/role=",
        "example.com/role",
    ];
    for selector in holds {
        assert!(matches(selector), "{selector}");
    }
    let fails = [
        "app=db",
        "missing=web",
        "tier!=front",
        "app in (db)",
        "app notin (db, web)",
        "missing in (a)",
        "missing",
        "!app",
        "generation>12",
        "app>3",
        "app=web,tier=back",
    ];
    for selector in fails {
        assert!(!matches(selector), "{selector}");
    }
}

#[test]
fn a_bad_selector_says_which_requirement_is_bad() {
    let bad = |selector: &str| selector.parse::<LabelSelector>().unwrap_err().to_string();
    assert_eq!(
        bad("app=web,tier in (a"),
        r#"bad requirement "tier in (a" in label selector: no closing parenthesis"#
    );
    for selector in [
        "=x",
        "a=b c",
        "app within (x)",
        "in (a)",
        ",",
        "a,,b",
        "!",
        "x>many",
        "a=b=c",
    ] {
        assert!(selector.parse::<LabelSelector>().is_err(), "{selector}");
    }
}
