//! Faults, by script and by seed.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use informer_core::Clock as _;
use informer_testkit::{ApiError, BodyPoll, Failure, Fault, HeadPoll, On, Reply};
use serde_json::Value;

use crate::support::{Site, configmaps, named};

const LIST: &str = "/api/v1/configmaps";
const WATCH: &str = "/api/v1/configmaps?watch=1&resourceVersion=1";

fn get(uri: &str) -> Request<Bytes> {
    Request::get(uri).body(Bytes::new()).unwrap()
}

fn site() -> Site {
    let mut site = Site::new();
    for name in ["a", "b", "c"] {
        site.api.create(&configmaps(), named(name)).unwrap();
    }
    site
}

/// What comes of a request's body: chunks, then how it ended.
fn body(site: &mut Site, uri: &str) -> (Vec<Bytes>, BodyPoll) {
    let Reply::Streaming(_, id) = site.send(get(uri)) else {
        panic!("{uri}: nothing streams");
    };
    let mut chunks = Vec::new();
    loop {
        match site.api.poll_body(site.clock.now(), id) {
            BodyPoll::Chunk(chunk) => chunks.push(chunk),
            end => return (chunks, end),
        }
    }
}

#[test]
fn rules_hit_what_they_are_for_as_often_as_they_say() {
    let mut site = site();
    site.api
        .faults()
        .times(
            2,
            On::list().of("configmaps"),
            Fault::Status(ApiError::too_many_requests("slow down", 7)),
        )
        .after(1, On::list().of("pods"), Fault::Status(ApiError::unauthorized()));
    let statuses: Vec<u16> = (0..3).map(|_| site.get(LIST).0).collect();
    assert_eq!(statuses, [429, 429, 200]);
    let statuses: Vec<u16> = (0..3).map(|_| site.get("/api/v1/pods").0).collect();
    assert_eq!(statuses, [200, 401, 200]);
    assert_eq!((site.api.faults().n_drawn(), site.api.faults().n_rules()), (3, 0));
}

#[test]
fn a_throttled_answer_says_when_to_come_again() {
    let mut site = site();
    site.api.faults().once(
        On::any(),
        Fault::Status(ApiError::too_many_requests("slow down", 7)),
    );
    let response = site.request(http::Method::GET, LIST, &[], "");
    assert_eq!(response.headers()["retry-after"], "7");
    let status: Value = serde_json::from_slice(response.body()).unwrap();
    assert_eq!(status["details"]["retryAfterSeconds"], 7);
}

#[test]
fn connections_fail_before_the_head() {
    let mut site = site();
    site.api
        .faults()
        .once(On::any(), Fault::Refused)
        .once(On::any(), Fault::HangUp)
        .once(On::any(), Fault::Silence)
        .once(On::any(), Fault::Delay(Duration::from_secs(9)));
    assert!(matches!(site.send(get(LIST)), Reply::Failed(Failure::Refused)));
    assert!(matches!(site.send(get(LIST)), Reply::Failed(Failure::Cut)));
    assert!(matches!(site.send(get(LIST)), Reply::Waiting(_, None)));
    let Reply::Waiting(slow, Some(until)) = site.send(get(LIST)) else {
        panic!("the answer comes late");
    };
    assert_eq!(until, site.clock.now() + Duration::from_secs(9));
    assert!(matches!(site.api.poll_head(until, slow), HeadPoll::Ready(_)));
}

#[test]
fn watches_end_badly_after_so_many_events() {
    let mut site = site();
    site.api
        .faults()
        .once(On::watch(), Fault::cut_after(2))
        .once(On::watch(), Fault::half_line_after(1))
        .once(On::watch(), Fault::end_after(0))
        .once(On::watch(), Fault::silence_after(1))
        .once(On::watch(), Fault::error_after(1, ApiError::expired("gone")))
        .once(On::watch(), Fault::cut_at_byte(10));
    let (chunks, end) = body(&mut site, WATCH);
    assert_eq!((chunks.len(), end), (2, BodyPoll::Cut));

    let (chunks, end) = body(&mut site, WATCH);
    assert_eq!((chunks.len(), end), (2, BodyPoll::Cut));
    assert!(
        chunks[0].ends_with(b"\n") && !chunks[1].ends_with(b"\n"),
        "half a line"
    );

    assert_eq!(body(&mut site, WATCH), (vec![], BodyPoll::End));

    let (chunks, end) = body(&mut site, WATCH);
    assert_eq!((chunks.len(), end), (1, BodyPoll::Pending(None)));

    let (chunks, end) = body(&mut site, WATCH);
    assert_eq!((chunks.len(), end), (2, BodyPoll::End));
    let event: Value = serde_json::from_slice(&chunks[1]).unwrap();
    assert_eq!(
        (event["type"].as_str(), event["object"]["code"].as_u64()),
        (Some("ERROR"), Some(410))
    );

    let (chunks, end) = body(&mut site, WATCH);
    assert_eq!(
        (chunks, end),
        (vec![Bytes::from_static(br#"{"type":"A"#)], BodyPoll::Cut)
    );
    let (chunks, _) = body(&mut site, WATCH);
    assert_eq!(chunks.len(), 3, "and then all is well");
}

#[test]
fn a_list_is_cut_in_the_middle() {
    let mut site = site();
    site.api.faults().once(On::list(), Fault::half_line_after(0));
    let (chunks, end) = body(&mut site, LIST);
    assert_eq!((chunks.len(), end), (1, BodyPoll::Cut));
    assert!(serde_json::from_slice::<Value>(&chunks[0]).is_err());
}

#[test]
fn a_replica_that_lags_serves_the_past_until_it_has_caught_up() {
    let mut site = site();
    let lag = Fault::Lag {
        revisions: 2,
        catches_up_in: Duration::from_secs(5),
    };
    site.api.faults().always(On::any(), lag);
    let names = |list: &Value| list["items"].as_array().map_or(0, Vec::len);
    let (_, old) = site.get("/api/v1/configmaps?resourceVersion=0");
    assert_eq!(names(&old), 1);
    let (_, quorum) = site.get(LIST);
    assert_eq!(
        names(&quorum),
        3,
        "a read without a version is answered by the leader"
    );
    let version = site.api.revision();
    let newest = format!("/api/v1/configmaps?resourceVersion={version}&resourceVersionMatch=NotOlderThan");
    assert!(
        matches!(site.send(get(&newest)), Reply::Waiting(..)),
        "it waits for the replica"
    );

    let Reply::Streaming(_, watch) = site.send(get(&format!(
        "/api/v1/configmaps?watch=1&resourceVersion={}",
        version - 2
    ))) else {
        panic!("a watch streams");
    };
    let BodyPoll::Pending(Some(until)) = site.api.poll_body(site.clock.now(), watch) else {
        panic!("the replica has not seen them");
    };
    assert_eq!(until, site.clock.now() + Duration::from_secs(5));
    site.clock.advance_to(until);
    assert!(matches!(site.api.poll_body(until, watch), BodyPoll::Chunk(_)));
    assert!(matches!(site.api.poll_body(until, watch), BodyPoll::Chunk(_)));
    let BodyPoll::Pending(Some(next)) = site.api.poll_body(until, watch) else {
        panic!("there is nothing more to tell");
    };
    assert!(
        next > until,
        "a replica that has caught up is waited for no more: {next:?}"
    );
}

#[test]
fn a_replica_that_lags_by_more_than_there_was_is_at_the_first_version() {
    let mut site = site();
    let lag = Fault::Lag {
        revisions: 1_000_000,
        catches_up_in: Duration::from_secs(5),
    };
    site.api.faults().always(On::any(), lag);
    let (_, old) = site.get("/api/v1/configmaps?resourceVersion=0");
    assert_eq!(old["metadata"]["resourceVersion"], "1");
}

#[test]
fn a_bookmark_that_is_due_waits_for_the_state_that_a_lagging_replica_does_not_have() {
    let mut site = site();
    let lag = Fault::Lag {
        revisions: 2,
        catches_up_in: Duration::from_secs(2),
    };
    site.api.faults().once(On::any(), lag);
    let newest = site.api.revision();
    // A watch that ends after three seconds has its bookmark due after one.
    let streaming = format!(
        "{LIST}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=3&\
         resourceVersion={newest}"
    );
    let Reply::Streaming(_, watch) = site.send(get(&streaming)) else {
        panic!("a watch streams");
    };
    site.clock.advance(Duration::from_millis(1500));
    let now = site.clock.now();
    let BodyPoll::Pending(Some(next)) = site.api.poll_body(now, watch) else {
        panic!("the replica has not seen it");
    };
    assert!(next > now, "{next:?} is not to come");
    site.clock.advance_to(next);
    assert!(matches!(site.api.poll_body(next, watch), BodyPoll::Chunk(_)));
}

#[test]
fn a_server_that_goes_down_cuts_and_refuses() {
    let mut site = site();
    let Reply::Streaming(_, watch) = site.send(get(WATCH)) else {
        panic!("a watch streams");
    };
    site.api.set_down(true);
    assert_eq!(site.api.poll_body(site.clock.now(), watch), BodyPoll::Cut);
    assert!(matches!(site.send(get(LIST)), Reply::Failed(Failure::Refused)));
    site.api.set_down(false);
    assert_eq!(site.get(LIST).0, 200);
}

#[test]
fn watches_are_ended_cleanly_or_cut() {
    let mut site = site();
    let open = |site: &mut Site| match site.send(get(WATCH)) {
        Reply::Streaming(_, id) => id,
        other => panic!("a watch streams: {other:?}"),
    };
    let first = open(&mut site);
    let epoch = site.api.epoch();
    site.api.end_watches();
    assert!(site.api.epoch() > epoch, "whoever waits is woken");
    assert_eq!(site.api.poll_body(site.clock.now(), first), BodyPoll::End);
    let second = open(&mut site);
    site.api.cut_connections();
    assert_eq!(site.api.poll_body(site.clock.now(), second), BodyPoll::Cut);
}

#[test]
fn chaos_is_the_same_for_a_seed_and_stops_when_told() {
    let statuses = |seed: u64| -> Vec<u16> {
        let mut site = site();
        let faults = vec![
            Fault::Status(ApiError::internal("boom")),
            Fault::Status(ApiError::unavailable("later")),
        ];
        site.api.faults().chaos(seed, 0.5, On::list(), faults);
        let statuses = (0..50).map(|_| site.get(LIST).0).collect();
        site.api.faults().clear();
        assert_eq!(site.get(LIST).0, 200);
        statuses
    };
    let first = statuses(1);
    assert_eq!(first, statuses(1));
    assert_ne!(first, statuses(2));
    for status in [200, 500, 503] {
        assert!(first.contains(&status), "{status} in {first:?}");
    }
}
