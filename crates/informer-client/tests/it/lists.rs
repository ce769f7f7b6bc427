//! Lists of several pages.

use informer_client::Selectors;
use informer_core::{Feed, Listed, Resource};
use serde::Deserialize;

use crate::scripted::{Scripted, Step, data, ok, poll_once, run, status, steps};

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

/// What a pager brings next: the name of an item, the version at the end, or the code of an error.
async fn next<F: Feed<Event = Listed<Pod>, Error = informer_client::Error>>(pager: &mut F) -> Option<String> {
    Some(match pager.next().await? {
        Ok(Listed::Item(item)) => item.unwrap().identity.to_string(),
        Ok(Listed::End { at, token }) => {
            assert_eq!(token, None);
            format!("end {at}")
        }
        Err(error) => format!("error {:?}", error.code()),
    })
}

#[test]
fn a_pager_reads_on_while_a_page_is_worked_through_and_not_too_far() {
    let pages = [("a", "\"1\""), ("b", "\"2\""), ("c", "\"3\""), ("d", "null")];
    let answers = pages.map(|(name, token)| ok(&page(&[name], token)));
    let (log, client) = Scripted::new(answers);
    let pods = client.objects::<Pod>(Resource::namespaced("", "v1", "pods", "Pod"));
    let mut pager = pods.pager(Selectors::all()).page_size(1).pages_ahead(1);
    assert!(log.requests().is_empty(), "nothing before it is read");
    assert_eq!(run(next(&mut pager)).as_deref(), Some("a"));
    assert_eq!(log.requests().len(), 2, "one page ahead");
    let rest: Vec<String> = std::iter::from_fn(|| run(next(&mut pager))).collect();
    assert_eq!(rest, ["b", "c", "d", "end 9"]);
    assert_eq!(
        log.requests().last().map(String::as_str),
        Some("GET /api/v1/pods?limit=1&continue=3")
    );
}

#[test]
fn a_page_that_is_slow_holds_nobody_up_who_has_items_and_is_not_lost_when_dropped() {
    let slow = page(&["b"], "null");
    let (start, end) = slow.split_at(40);
    let (log, client) = Scripted::new([
        ok(&page(&["a1", "a2"], "\"1\"")),
        steps([
            data(start),
            Step::Pending,
            Step::Pending,
            Step::Pending,
            data(end),
        ]),
    ]);
    let pods = client.objects::<Pod>(Resource::namespaced("", "v1", "pods", "Pod"));
    let mut pager = pods.pager(Selectors::all());
    assert_eq!(poll_once(next(&mut pager)), Some(Some("a1".to_owned())));
    assert_eq!(poll_once(next(&mut pager)), Some(Some("a2".to_owned())));
    assert_eq!(poll_once(next(&mut pager)), None, "and dropped");
    assert_eq!(run(next(&mut pager)).as_deref(), Some("b"));
    assert_eq!(log.requests().len(), 2, "no page is asked for twice");
}

#[test]
fn a_pager_whose_token_expires_ends_with_that() {
    let (_, client) = Scripted::new([ok(&page(&["a"], "\"1\"")), status(410, "")]);
    let pods = client.objects::<Pod>(Resource::namespaced("", "v1", "pods", "Pod"));
    let mut pager = pods.pager(Selectors::all());
    let all: Vec<String> = std::iter::from_fn(|| run(next(&mut pager))).collect();
    assert_eq!(all, ["a", "error Some(410)"]);
}
