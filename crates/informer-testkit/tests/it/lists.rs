//! Lists: versions, pages, what is refused.

use informer_testkit::{ApiError, FakeApi, ListOptions, ObjectList};
use serde_json::json;

use crate::support::{configmaps, named, names};

fn with_objects(n_objects: usize) -> FakeApi {
    let mut api = FakeApi::with_builtins();
    for index in 0..n_objects {
        api.create(&configmaps(), named(&format!("c{index:02}"))).unwrap();
    }
    api
}

fn list(api: &FakeApi, options: &ListOptions) -> Result<ObjectList, ApiError> {
    api.list(&configmaps(), options)
}

/// All names, page after page.
fn pages(
    api: &mut FakeApi,
    first: &ListOptions,
    mut between: impl FnMut(&mut FakeApi),
) -> Vec<(String, Vec<String>)> {
    let mut pages = Vec::new();
    let mut options = first.clone();
    loop {
        let page = list(api, &options).unwrap();
        let names = names(&page.items).into_iter().map(str::to_owned).collect();
        pages.push((page.version.clone(), names));
        match page.token {
            Some(token) => options = ListOptions::default().limit(first.limit).page(&token),
            None => return pages,
        }
        between(api);
    }
}

#[test]
fn keys_come_in_the_order_of_the_servers_storage() {
    let mut api = FakeApi::with_builtins();
    for (namespace, name) in [("b", "x"), ("a", "y"), ("a-b", "z"), ("a", "b")] {
        api.create(
            &configmaps(),
            json!({"metadata": {"name": name, "namespace": namespace}}),
        )
        .unwrap();
    }
    // As in etcd, whole keys are compared: "a-b/z" comes before "a/b".
    assert_eq!(names(&api.all(&configmaps())), ["z", "b", "y", "x"]);
    let one = list(&api, &ListOptions::in_namespace("a")).unwrap();
    assert_eq!(names(&one.items), ["b", "y"]);
}

#[test]
fn pages_are_of_one_version_whatever_happens_between() {
    let mut api = with_objects(5);
    let version = api.revision().to_string();
    let found = pages(&mut api, &ListOptions::default().limit(2), |api| {
        // One goes, one comes, one changes: none of it shows.
        let _ = api.delete(&configmaps(), Some("default"), "c04");
        let _ = api.create(&configmaps(), named("c03-and-more"));
        let _ = api.put(
            &configmaps(),
            json!({"metadata": {"name": "c02"}, "data": {"k": "v"}}),
        );
    });
    let expected: Vec<(String, Vec<String>)> = [vec!["c00", "c01"], vec!["c02", "c03"], vec!["c04"]]
        .into_iter()
        .map(|names| (version.clone(), names.into_iter().map(str::to_owned).collect()))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_full_last_page_has_no_token() {
    let api = with_objects(4);
    let first = list(&api, &ListOptions::default().limit(2)).unwrap();
    assert_eq!(first.remaining, Some(2));
    let last = list(&api, &ListOptions::default().limit(2).page(&first.token.unwrap())).unwrap();
    assert_eq!((last.items.len(), last.token, last.remaining), (2, None, None));
}

#[test]
fn the_remaining_count_is_told_only_without_selectors() {
    let mut api = with_objects(3);
    for index in 0..3 {
        let object = json!({"metadata": {"name": format!("r{index}"), "labels": {"color": "red"}}});
        api.create(&configmaps(), object).unwrap();
    }
    let page = list(&api, &ListOptions::default().labels("color=red").limit(2)).unwrap();
    assert_eq!(
        (page.items.len(), page.token.is_some(), page.remaining),
        (2, true, None)
    );
    let page = list(&api, &ListOptions::in_namespace("default").limit(2)).unwrap();
    assert_eq!(page.remaining, Some(4));
}

#[test]
fn a_page_after_compaction_is_refused_with_a_fresh_token() {
    let mut api = with_objects(5);
    let first = list(&api, &ListOptions::default().limit(2)).unwrap();
    api.create(&configmaps(), named("c99")).unwrap();
    api.compact(api.revision());
    let next = ListOptions::default().limit(2).page(&first.token.unwrap());
    let error = list(&api, &next).unwrap_err();
    assert_eq!((error.code(), error.reason()), (410, "Expired"));

    // The fresh token goes on at the present state, after the last key.
    let fresh = ListOptions::default().limit(2).page(error.token().unwrap());
    let page = list(&api, &fresh).unwrap();
    assert_eq!(names(&page.items), ["c02", "c03"]);
    assert_eq!(page.version, api.revision().to_string());
}

#[test]
fn exact_versions_bring_back_the_past_until_it_is_compacted() {
    let mut api = with_objects(2);
    let then = api.revision();
    api.delete(&configmaps(), Some("default"), "c00").unwrap();
    api.create(&configmaps(), named("c09")).unwrap();
    let exact = |api: &FakeApi, at: u64| list(api, &ListOptions::default().at(at).matching("Exact"));
    let past = exact(&api, then).unwrap();
    assert_eq!(
        (names(&past.items), past.version),
        (vec!["c00", "c01"], then.to_string())
    );
    assert_eq!(names(&exact(&api, then + 1).unwrap().items), ["c01"]);
    // A limit with a version has meant "exact" before there was a word for it.
    let legacy = list(&api, &ListOptions::default().at(then).limit(10)).unwrap();
    assert_eq!(names(&legacy.items), ["c00", "c01"]);

    api.compact(then + 1);
    let error = exact(&api, then).unwrap_err();
    assert_eq!((error.code(), error.reason()), (410, "Expired"));
    assert_eq!(
        error.message(),
        "The resourceVersion for the provided list is too old."
    );
    assert_eq!(error.token(), None);
    assert_eq!(
        names(&exact(&api, then + 1).unwrap().items),
        ["c01"],
        "the compacted version itself can be read"
    );
}

#[test]
fn not_older_than_brings_the_present() {
    let mut api = with_objects(1);
    let then = api.revision();
    api.create(&configmaps(), named("c09")).unwrap();
    for options in [
        ListOptions::default().at(then),
        ListOptions::default().at(then).matching("NotOlderThan"),
        ListOptions::default().at(0),
        ListOptions::default(),
    ] {
        let page = list(&api, &options).unwrap();
        assert_eq!(
            (page.items.len(), page.version),
            (2, api.revision().to_string()),
            "{options:?}"
        );
    }
}

#[test]
fn a_version_that_is_too_large_times_out() {
    let api = with_objects(1);
    let wanted = api.revision() + 1000;
    for matching in ["", "NotOlderThan", "Exact"] {
        let error = list(&api, &ListOptions::default().at(wanted).matching(matching)).unwrap_err();
        assert_eq!(
            (error.code(), error.reason(), error.retry_after_seconds()),
            (504, "Timeout", Some(1))
        );
        let status: serde_json::Value = serde_json::from_slice(&error.to_json()).unwrap();
        assert_eq!(
            status["details"]["causes"][0]["reason"],
            "ResourceVersionTooLarge"
        );
        assert_eq!(
            error.message(),
            format!(
                "Timeout: Too large resource version: {wanted}, current: {}",
                api.revision()
            )
        );
    }
}

#[test]
fn version_zero_is_served_whole_whatever_the_limit() {
    let api = with_objects(5);
    let page = list(&api, &ListOptions::default().at(0).limit(2)).unwrap();
    assert_eq!((page.items.len(), page.token), (5, None));
}

#[test]
fn contradictory_options_are_refused() {
    let api = with_objects(3);
    let token = list(&api, &ListOptions::default().limit(1))
        .unwrap()
        .token
        .unwrap();
    let refused = |options: ListOptions| list(&api, &options).unwrap_err();
    for options in [
        ListOptions::default().matching("Exact"),
        ListOptions::default().at(0).matching("Exact"),
        ListOptions::default().at(1).matching("Newest"),
        ListOptions::default().at(1).matching("NotOlderThan").page(&token),
    ] {
        let error = refused(options.clone());
        assert_eq!(
            (error.code(), error.reason()),
            (422, "Invalid"),
            "{options:?}: {error}"
        );
    }
    for options in [
        ListOptions::default().at("abc"),
        ListOptions::default().at(5).page(&token),
        ListOptions::default().page("not a token"),
        ListOptions::default().page("e30"),
        ListOptions::default().labels("a in b"),
        ListOptions::default().fields("spec.unknown=1"),
    ] {
        let error = refused(options.clone());
        assert_eq!(
            (error.code(), error.reason()),
            (400, "BadRequest"),
            "{options:?}: {error}"
        );
    }
}

#[test]
fn history_is_bounded() {
    let mut options = informer_testkit::Options::default();
    options.history = 10;
    let mut api = FakeApi::with_builtins_and(options);
    let start = api.revision();
    for round in 0..20 {
        api.put(
            &configmaps(),
            json!({"metadata": {"name": "a"}, "data": {"round": round.to_string()}}),
        )
        .unwrap();
    }
    let exact = |at: u64| list(&api, &ListOptions::default().at(at).matching("Exact"));
    assert_eq!(exact(start + 5).unwrap_err().code(), 410);
    assert_eq!(exact(start + 12).unwrap().items[0]["data"]["round"], "11");
}
