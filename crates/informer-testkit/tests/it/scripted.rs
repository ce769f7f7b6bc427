//! Scripted transports and sources.

use std::io;

use bytes::Bytes;
use http::Request;
use informer_core::{
    Classify as _, FailureClass, Feed as _, ListRequest, Listed, ListerWatcher as _, WatchRequest, Watched,
};
use informer_testkit::{
    Answer, Expect, ListScript, ScriptedSource, ScriptedTransport, SourceRequest, Tasks, block_on,
};
use informer_transport::Transport as _;
use serde_json::json;

fn get(uri: &str) -> Request<Bytes> {
    Request::get(uri).body(Bytes::new()).unwrap()
}

/// The next chunk of a body, or how it ended.
async fn frame<B: http_body::Body<Data = Bytes, Error = io::Error> + Unpin>(
    body: &mut B,
) -> Option<io::Result<Bytes>> {
    let frame = std::future::poll_fn(|cx| std::pin::Pin::new(&mut *body).poll_frame(cx)).await?;
    Some(frame.map(|frame| frame.into_data().unwrap_or_default()))
}

#[test]
fn the_first_unused_step_that_fits_answers() {
    let transport = ScriptedTransport::new();
    transport
        .on(Expect::list("/api/v1/pods"), Answer::json(&json!({"n": 1})))
        .on(
            Expect::watch("/api/v1/pods").with("resourceVersion", "5"),
            Answer::lines(["{}", "[]"]),
        )
        .on(Expect::list("/api/v1/pods"), Answer::status(500))
        .always(Expect::get("/version"), Answer::json(&json!({})));
    block_on(async {
        let mut body = transport
            .send(get("/api/v1/pods?watch=true&resourceVersion=5"))
            .await
            .unwrap()
            .into_body();
        assert_eq!(frame(&mut body).await.unwrap().unwrap(), "{}\n");
        assert_eq!(frame(&mut body).await.unwrap().unwrap(), "[]\n");
        assert!(frame(&mut body).await.is_none());
        assert_eq!(
            transport
                .send(get("/api/v1/pods?limit=1"))
                .await
                .unwrap()
                .status(),
            200
        );
        assert_eq!(transport.send(get("/api/v1/pods")).await.unwrap().status(), 500);
        for _ in 0..3 {
            assert_eq!(transport.send(get("/version")).await.unwrap().status(), 200);
        }
        assert_eq!(transport.n_left(), 0);
        let error = transport.send(get("/api/v1/pods")).await.unwrap_err();
        assert!(error.to_string().contains("GET /api/v1/pods"), "{error}");
    });
    assert_eq!(transport.unexpected().len(), 1);
    let requests = transport.requests();
    assert_eq!((requests.len(), requests[1].param("limit")), (7, Some("1")));
}

#[test]
fn refusal_and_broken_bodies_are_told_apart() {
    let transport = ScriptedTransport::new();
    transport.on(Expect::any(), Answer::refused()).on(
        Expect::any(),
        Answer::status(200)
            .chunk("half")
            .then_fail(io::ErrorKind::ConnectionReset),
    );
    block_on(async {
        let error = transport.send(get("/")).await.unwrap_err();
        assert!(ScriptedTransport::is_refused(&error));
        let mut body = transport.send(get("/")).await.unwrap().into_body();
        assert_eq!(frame(&mut body).await.unwrap().unwrap(), "half");
        let error = frame(&mut body).await.unwrap().unwrap_err();
        assert!(!ScriptedTransport::is_refused(&error));
        assert!(frame(&mut body).await.is_none());
    });
}

#[test]
fn an_open_body_is_written_to_later() {
    let transport = ScriptedTransport::new();
    transport.on(Expect::any(), Answer::status(200).then_hang());
    let mut body = block_on(transport.send(get("/"))).unwrap().into_body();
    let handle = transport.open_body().unwrap();
    let mut tasks = Tasks::new();
    let reader = tasks.spawn(async move {
        assert_eq!(frame(&mut body).await.unwrap().unwrap(), "late\n");
        assert!(frame(&mut body).await.is_none());
    });
    tasks.run_until_stalled();
    assert!(tasks.is_running(reader));
    handle.push_line("late");
    handle.close();
    tasks.run_until_stalled();
    assert!(tasks.is_empty());
    assert!(handle.is_dropped());
    assert!(transport.open_body().is_none());
}

#[test]
fn a_source_lists_and_watches_by_script_and_by_push() {
    let source = ScriptedSource::<u32>::new();
    source.on_list(ListScript::at("5").item("ns/a", "3", 30).item("b", "4", 40));
    source.on_list_error(FailureClass::Expired, "too old");
    block_on(async {
        let mut list = source.list(ListRequest::default()).await.unwrap();
        let Some(Ok(Listed::Item(Ok(first)))) = list.next().await else {
            panic!("an item first");
        };
        assert_eq!((first.identity.to_string().as_str(), first.object), ("ns/a", 30));
        assert!(matches!(list.next().await, Some(Ok(Listed::Item(Ok(_))))));
        assert!(matches!(list.next().await, Some(Ok(Listed::End { at, token: None })) if at.as_str() == "5"));
        assert!(list.next().await.is_none());
        let error = source.list(ListRequest::default()).await.map(|_| ()).unwrap_err();
        assert_eq!(error.class(), FailureClass::Expired);

        let mut watch = source.watch(WatchRequest::default()).await.unwrap();
        assert_eq!(source.n_open_watches(), 1);
        assert!(source.modified("ns/a", "6", 31));
        assert!(source.bookmark("7", false));
        assert!(source.fail_watch(FailureClass::Transient, "cut"));
        assert!(matches!(watch.next().await, Some(Ok(Watched::Upsert(..)))));
        assert!(matches!(watch.next().await, Some(Ok(Watched::Bookmark { .. }))));
        assert!(watch.next().await.unwrap().is_err());
        assert!(watch.next().await.is_none());
        assert!(!source.added("ns/c", "8", 1), "no watch is open");
    });
    assert_eq!(source.n_lists(), 2);
    assert!(matches!(source.requests()[2], SourceRequest::Watch(_)));
}
