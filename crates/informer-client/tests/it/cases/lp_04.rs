//! LP-04: an empty object name becomes a collection call.

use informer_client::{DeleteOptions, Patch, WriteOptions};
use informer_core::{Classify, FailureClass, Resource};
use serde_json::json;

use crate::scripted::{Scripted, ok, run};

#[test]
fn lp_04_nothing_is_sent_for_a_name_that_is_no_segment() {
    let (log, client) = Scripted::new([]);
    let api = client
        .dynamic(Resource::namespaced("", "v1", "pods", "Pod"))
        .in_namespace("ns");
    let options = WriteOptions::default();
    for name in ["", "a/b", "..", ".", "a%2Fb"] {
        let errors = [
            run(api.get(name)).unwrap_err(),
            run(api.delete(name, &DeleteOptions::default())).unwrap_err(),
            run(api.patch(name, &Patch::Merge(json!({})), &options)).unwrap_err(),
            run(api.patch_status(name, &Patch::Merge(json!({})), &options)).unwrap_err(),
            run(api.replace(name, &json!({}), &options)).unwrap_err(),
            run(api.replace_status(name, &json!({}), &options)).unwrap_err(),
        ];
        assert!(
            errors.iter().all(|error| error.class() == FailureClass::Fatal),
            "{name:?}"
        );
    }
    assert!(log.requests().is_empty());
}

#[test]
fn lp_04_a_question_mark_is_part_of_the_name() {
    let (log, client) = Scripted::new([ok("{}")]);
    let api = client
        .dynamic(Resource::namespaced("", "v1", "pods", "Pod"))
        .in_namespace("ns");
    run(api.get("a?limit=1")).unwrap();
    assert_eq!(log.requests(), ["GET /api/v1/namespaces/ns/pods/a%3Flimit%3D1"]);
}
