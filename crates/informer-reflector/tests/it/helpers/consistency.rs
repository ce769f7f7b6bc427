//! The consistency check (client-go `reflector_data_consistency_detector_test.go`).

use std::sync::{Arc, Mutex};

use informer_core::{
    Cause, FailureClass, ListRequest, Listed, ResourceVersion, SourceError, VersionMatch, WatchRequest,
    Watched,
};
use informer_reflector::{ConsistencyDetector, ConsistencyReport, ListWatch, Start, feed};

use crate::rig::{Object, Rig, error, object};

/// A stream that brings `streamed` at version 9, and lists that answer in turn.
fn source(
    streamed: &'static str,
    lists: Vec<Result<Vec<Listed<Object>>, SourceError>>,
) -> (ListWatch<Object>, Arc<Mutex<Vec<ListRequest>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (requests, mut lists) = (asked.clone(), lists.into_iter());
    let lists = Mutex::new(move || lists.next());
    let source = ListWatch::new(
        move |request: ListRequest| {
            requests.lock().unwrap().push(request);
            let answer = lists.lock().unwrap()();
            async move {
                answer
                    .unwrap_or_else(|| Err(error(FailureClass::Refused)))
                    .map(feed::from_iter)
            }
        },
        move |request: WatchRequest| {
            let mut events: Vec<Watched<Object>> = streamed
                .split_whitespace()
                .map(|text| Watched::Upsert(Cause::Added, Ok(object(text))))
                .collect();
            if request.initial_events {
                events.push(Watched::Delete(Ok(object("gone@8"))));
                events.push(Watched::Bookmark {
                    at: ResourceVersion::new("9"),
                    end_of_initial: true,
                });
                events.push(Watched::Upsert(Cause::Added, Ok(object("later@10"))));
            } else {
                events.clear();
            }
            async { Ok::<_, SourceError>(feed::from_iter(events)) }
        },
    );
    (source, asked)
}

fn whole(items: &str, token: Option<&str>) -> Result<Vec<Listed<Object>>, SourceError> {
    let items = items
        .split_whitespace()
        .map(|text| Listed::Item(Ok(object(text))));
    let end = Listed::End {
        at: ResourceVersion::new("9"),
        token: token.map(Into::into),
    };
    Ok(items.chain([end]).collect())
}

/// Runs a reflector over it.
fn run(
    streamed: &'static str,
    lists: Vec<Result<Vec<Listed<Object>>, SourceError>>,
) -> (ConsistencyReport, Vec<ListRequest>, Rig) {
    let (source, asked) = source(streamed, lists);
    let detector = ConsistencyDetector::new(source).fingerprint(Clone::clone);
    let report = detector.report();
    let mut rig = Rig::new();
    rig.options.start = Start::StreamingList;
    rig.start_from(detector);
    let asked = asked.lock().unwrap().clone();
    (report, asked, rig)
}

#[test]
fn a_streamed_start_is_compared_with_a_list_of_its_version() {
    let lists = vec![whole("a@1", Some("more")), whole("b@2", None)];
    let (report, asked, rig) = run("b@2 a@1 gone@3", lists);
    report.assert_consistent();
    assert_eq!(report.checked(), 1);
    let first = &asked[0];
    assert_eq!(first.version.as_ref().unwrap().as_str(), "9");
    assert_eq!(first.version_match, Some(VersionMatch::Exact));
    assert_eq!(asked[1].token.as_deref(), Some("more"));
    assert_eq!(asked[1].version, None);
    // And nothing of it is seen behind it.
    rig.assert_taken(&["Replace@9 [b@2, a@1]", "Added later@10"]);
}

#[test]
fn every_difference_is_told() {
    let (report, ..) = run("a@1 b@2", vec![whole("b@3 c@4", None)]);
    let differences = report.differences();
    assert_eq!(differences.len(), 3, "{differences:?}");
    assert_eq!(differences[0], "ns/a was streamed and is not in the list");
    assert!(
        differences[1].starts_with("ns/b was streamed as"),
        "{differences:?}"
    );
    assert_eq!(differences[2], "ns/c was listed and not streamed");
}

#[test]
#[should_panic(expected = "a streaming list and its LIST differ")]
fn a_difference_fails_the_test() {
    run("a@1", vec![whole("a@2", None)]).0.assert_consistent();
}

/// client-go lists until it works; here a few tries, and a word if none did.
#[test]
fn a_list_that_fails_is_no_difference() {
    let fails = || Err(error(FailureClass::Expired));
    let (report, ..) = run("a@1", vec![fails(), fails(), whole("a@1", None)]);
    report.assert_consistent();
    let (report, asked, rig) = run("a@1", vec![fails(), fails(), fails()]);
    assert_eq!(asked.len(), 3);
    assert_eq!(report.skipped(), ["the server said: expired"]);
    assert!(report.differences().is_empty());
    rig.assert_taken(&["Replace@9 [a@1]", "Added later@10"]);
}

#[test]
#[should_panic(expected = "no streaming list was compared")]
fn a_check_that_never_ran_fails_the_test() {
    run("a@1", Vec::new()).0.assert_consistent();
}
