//! Lists of several pages.

use informer_client::Selectors;
use informer_core::Resource;
use serde::Deserialize;

use crate::scripted::{Scripted, ok, run, status};

#[derive(Debug, Deserialize)]
struct Pod {
    #[serde(rename = "spec")]
    _spec: String,
}

fn page(items: &[&str], token: &str) -> String {
    let item = |name: &&str| format!(r#"{{"metadata":{{"name":"{name}"}},"spec":"x"}}"#);
    let items: Vec<String> = items.iter().map(item).collect();
    format!(
        r#"{{"kind":"PodList","metadata":{{"resourceVersion":"9","continue":{token}}},"items":[{}]}}"#,
        items.join(",")
    )
}

fn names<K>(list: &informer_client::ObjectList<K>) -> Vec<&str> {
    list.items.iter().map(|item| &*item.identity.name).collect()
}

#[test]
fn pages_are_read_to_the_last() {
    let pages = [
        page(&["a"], "\"t 1\""),
        page(&[], "\"t2\""),
        page(&["b", "c"], "\"\""),
    ];
    let (log, client) = Scripted::new(pages.iter().map(|page| ok(page)));
    let pods = client.objects::<Pod>(Resource::namespaced("", "v1", "pods", "Pod"));
    let list = run(pods.list(&Selectors::all().labels("a=b"))).unwrap();
    assert_eq!((names(&list), list.version.as_str()), (vec!["a", "b", "c"], "9"));
    assert_eq!(
        log.requests(),
        [
            "GET /api/v1/pods?labelSelector=a%3Db&limit=500",
            "GET /api/v1/pods?labelSelector=a%3Db&limit=500&continue=t%201",
            "GET /api/v1/pods?labelSelector=a%3Db&limit=500&continue=t2",
        ]
    );
}

#[test]
fn an_expired_token_means_the_whole_list_at_once() {
    let (log, client) = Scripted::new([
        ok(&page(&["a"], "\"t1\"")),
        status(410, r#"{"kind":"Status","reason":"Expired","code":410}"#),
        ok(&page(&["b", "c"], "null")),
    ]);
    let pods = client.objects::<Pod>(Resource::namespaced("", "v1", "pods", "Pod"));
    let list = run(pods.list(&Selectors::all())).unwrap();
    assert_eq!(names(&list), ["b", "c"], "nothing is left of the first attempt");
    let last = log.requests().pop().unwrap();
    assert_eq!(last, "GET /api/v1/pods");
}

#[test]
fn an_expired_first_page_is_an_error() {
    let (log, client) = Scripted::new([status(410, "")]);
    let pods = client.objects::<Pod>(Resource::namespaced("", "v1", "pods", "Pod"));
    assert_eq!(run(pods.list(&Selectors::all())).unwrap_err().code(), Some(410));
    assert_eq!(log.requests().len(), 1);
}

#[test]
fn one_object_that_cannot_be_decoded_spoils_no_list() {
    let body = r#"{"items":[{"metadata":{"name":"a"},"spec":"x"},{"metadata":{"name":"bad"},"spec":[]},{"metadata":{"name":"b"},"spec":"x"}],
        "metadata":{"resourceVersion":"9"}}"#;
    let (_, client) = Scripted::new([ok(body)]);
    let pods = client.objects::<Pod>(Resource::namespaced("", "v1", "pods", "Pod"));
    let list = run(pods.list(&Selectors::all())).unwrap();
    assert_eq!(names(&list), ["a", "b"]);
    assert_eq!(list.unreadable.len(), 1);
    assert_eq!(list.unreadable[0].identity().unwrap().to_string(), "bad");
}
