//! LP-04: an empty object name becomes a collection call.

use informer_core::Resource;
use informer_transport::{DeleteOptions, Patch, RequestBuilder, WriteOptions};
use serde_json::json;

fn pods() -> RequestBuilder {
    RequestBuilder::new(Resource::namespaced("", "v1", "pods", "Pod")).namespace(Some("ns"))
}

#[test]
fn lp_04_names_that_are_no_segment_are_refused() {
    for name in ["", ".", "..", "a/b", "../secrets/x", "a%2Fb"] {
        let patch = Patch::Merge(json!({}));
        let options = WriteOptions::default();
        let errors = [
            pods().get(name, None).unwrap_err(),
            pods().delete(name, &DeleteOptions::default()).unwrap_err(),
            pods().patch(name, None, &patch, &options).unwrap_err(),
            pods().replace(name, None, &json!({}), &options).unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().contains("name"), "{name:?}: {error}");
        }
    }
}

#[test]
fn lp_04_namespaces_and_subresources_are_segments_too() {
    assert!(pods().namespace(Some("")).list(&Default::default()).is_err());
    assert!(
        pods()
            .namespace(Some("a/../b"))
            .list(&Default::default())
            .is_err()
    );
    assert!(pods().get("a", Some("")).is_err());
    assert!(pods().get("a", Some("../b")).is_err());
}

#[test]
fn lp_04_other_characters_are_encoded_into_one_segment() {
    for (name, segment) in [
        ("a?b", "a%3Fb"),
        ("a#b", "a%23b"),
        ("a b", "a%20b"),
        ("system:node", "system:node"),
        ("..a", "..a"),
        ("\u{e9}", "%C3%A9"),
    ] {
        let request = pods().get(name, None).unwrap();
        assert_eq!(
            request.uri().to_string(),
            format!("/api/v1/namespaces/ns/pods/{segment}")
        );
    }
}
