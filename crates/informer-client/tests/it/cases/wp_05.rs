//! WP-05: a bookmark that is hardly an object.

use informer_client::Selectors;
use informer_core::{Feed, ListerWatcher, WatchRequest, Watched};
use k8s_openapi::api::batch::v1::Job;

use crate::scripted::{Scripted, ok, run};

#[test]
fn wp_05_bookmarks_need_only_a_version_also_for_a_strict_type() {
    let (_, client) = Scripted::new([ok(
        r#"{"type":"BOOKMARK","object":{"kind":"Job","apiVersion":"batch/v1","metadata":{"resourceVersion":"6"}}}
{"type":"BOOKMARK","object":{"kind":"Job","apiVersion":"batch/v1","metadata":{"resourceVersion":"7"},"spec":{"template":{"spec":{"containers":null}}},"status":{}}}
{"type":"BOOKMARK","object":{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"","annotations":null,"resourceVersion":"8"}}}
{"type":"ADDED","object":{"kind":"Job","apiVersion":"batch/v1","metadata":{"name":"j","resourceVersion":"9"}}}
"#,
    )]);
    let mut feed = run(client
        .typed::<Job>()
        .source(Selectors::all())
        .watch(WatchRequest::default()))
    .unwrap();
    for version in ["6", "7", "8"] {
        let Some(Ok(Watched::Bookmark { at, end_of_initial })) = run(feed.next()) else {
            panic!("bookmark {version}")
        };
        assert_eq!((at.as_str(), end_of_initial), (version, false));
    }
    let Some(Ok(Watched::Upsert(_, Ok(job)))) = run(feed.next()) else {
        panic!("j is added")
    };
    assert_eq!(
        (&*job.identity.name, job.identity.stamp.version.as_str()),
        ("j", "9")
    );
    assert!(run(feed.next()).is_none());
}
