//! What holds of any text as a selector. The fuzz target and the test that replays its corpus share it.

use std::collections::BTreeMap;

use informer_sharedinformer::LabelSelector;
use informer_testkit::{FieldSelector, LabelSelector as Served};

/// Labels, one a line as `name=value`, and a selector on the last line: the informer's own and that of the API server model agree on them,
/// where both take it.
pub(super) fn selectors(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (labels, selector) = text.rsplit_once('\n').unwrap_or(("", text));
    let labels: BTreeMap<String, String> = labels
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let own = selector.parse::<LabelSelector>();
    let served = selector.parse::<Served>();
    if let (Ok(own), Ok(served)) = (&own, &served) {
        let matches = own.matches(|name| labels.get(name).map(String::as_str));
        assert_eq!(matches, served.matches(&labels), "{selector:?} on {labels:?}");
        if served.is_empty() {
            assert!(matches);
        }
    }
    for error in [
        own.err().map(|it| it.to_string()),
        served.err().map(|it| it.to_string()),
    ] {
        assert!(error.is_none_or(|sentence| !sentence.is_empty()));
    }
    match selector.parse::<FieldSelector>() {
        Ok(fields) => {
            let _ = (fields.is_empty(), fields.required("metadata.name"));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
