//! Compression: asked for, undone as it streams, and left alone where somebody else asked.

use std::io::Write;

use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use http::{
    HeaderValue, Request,
    header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH},
};
use http_body::Body;
use http_body_util::BodyExt;
use informer_hyper::HyperTransport;
use informer_transport::Transport;
use tokio::sync::mpsc;

use crate::support::{Answer, Feed, Server, Wire, answer, chunk, get, good_chunk, plain, streaming, text};

fn member(content: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content.as_bytes()).expect("encoded");
    encoder.finish().expect("encoded")
}

fn encoded(mut response: Answer) -> Answer {
    response
        .headers_mut()
        .insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response
}

/// A server whose gzip bodies are sent by the test.
async fn by_hand(wire: Wire) -> (Server, mpsc::UnboundedReceiver<Feed>) {
    let (send, receive) = mpsc::unbounded_channel();
    let server = Server::start(wire, move |_| {
        let (response, feed) = streaming();
        send.send(feed).expect("the test listens");
        async { encoded(response) }
    });
    (server.await, receive)
}

#[tokio::test]
async fn each_member_comes_out_when_it_has_come_in() {
    let (server, mut feeds) = by_hand(Wire::Http1).await;
    let transport = plain(&server);
    let response = transport.send(get("/watch")).await.expect("a response");
    assert!(!response.headers().contains_key(CONTENT_ENCODING));
    let mut body = response.into_body();
    let feed = feeds.recv().await.expect("a request");
    for event in [
        "{\"type\":\"ADDED\"}\n",
        "{\"type\":\"BOOKMARK\"}\n",
        "{\"type\":\"DELETED\"}\n",
    ] {
        feed.send(member(event));
        assert_eq!(good_chunk(&mut body).await, event);
    }
    drop(feed);
    assert!(chunk(&mut body).await.is_none());
    // The connection is as good as after any body.
    drop(transport.send(get("/again")).await.expect("a response"));
    assert_eq!(server.n_opened(), 1);
}

#[tokio::test]
async fn a_whole_response_is_decoded_and_its_length_is_not_that_of_the_wire() {
    let content = "text ".repeat(100_000);
    let compressed = member(&content);
    let server = Server::start(Wire::Http1, move |request| {
        assert_eq!(request.headers()[ACCEPT_ENCODING], "gzip");
        let compressed = compressed.clone();
        async move {
            let n = compressed.len();
            let mut response = encoded(answer(compressed));
            response.headers_mut().insert(CONTENT_LENGTH, n.into());
            response
        }
    })
    .await;
    let transport = plain(&server);
    let response = transport.send(get("/")).await.expect("a response");
    assert!(!response.headers().contains_key(CONTENT_LENGTH));
    assert_eq!(response.body().size_hint().exact(), None);
    assert_eq!(
        response.into_body().collect().await.expect("a body").to_bytes(),
        content
    );
}

#[tokio::test]
async fn compressed_data_that_ends_early_or_is_none_is_an_error() {
    for (bytes, expected) in [
        (member("content")[..12].to_vec(), "broke off"),
        (
            b"plain".to_vec(),
            "cannot be decoded: it does not begin like gzip",
        ),
    ] {
        let server = Server::start(Wire::Http1, move |_| {
            let bytes = bytes.clone();
            async { encoded(answer(bytes)) }
        })
        .await;
        let transport = plain(&server);
        let mut body = transport.send(get("/")).await.expect("a response").into_body();
        let error = loop {
            match chunk(&mut body).await.expect("no clean end") {
                Ok(decoded) => assert!("content".as_bytes().starts_with(&decoded)),
                Err(error) => break error,
            }
        };
        assert!(error.is_body() && error.to_string().contains(expected), "{error}");
        assert!(chunk(&mut body).await.is_none() && body.is_end_stream());
    }
}

#[tokio::test]
async fn what_was_asked_for_elsewhere_is_left_alone() {
    let server = Server::start(Wire::Http1, |request| async move {
        match request.headers().get(ACCEPT_ENCODING) {
            Some(_) => encoded(answer(member("content"))),
            None => answer("content"),
        }
    })
    .await;
    let request = Request::get("/")
        .header(ACCEPT_ENCODING, "gzip")
        .body(Bytes::new())
        .expect("a request");
    let transport = plain(&server);
    let response = transport.send(request).await.expect("a response");
    assert_eq!(response.headers()[CONTENT_ENCODING], "gzip");
    assert_eq!(
        response.into_body().collect().await.expect("a body").to_bytes(),
        member("content")
    );

    let without = HyperTransport::builder(server.url())
        .accept_gzip(false)
        .build()
        .expect("a transport");
    assert_eq!(text(&without, "/").await, "content");
}
