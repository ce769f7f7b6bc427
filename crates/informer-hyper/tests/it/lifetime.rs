//! What ends with the transport.

use informer_hyper::{HttpVersion, HyperTransport};
use informer_transport::Transport;
use tokio::sync::mpsc;

use crate::support::{Server, Wire, chunk, get, good_chunk, sentence, streaming};

#[tokio::test]
async fn dropping_the_last_clone_closes_connections_and_breaks_what_runs_on_them() {
    for (wire, version) in [
        (Wire::Http1, HttpVersion::Http1),
        (Wire::Http2 { max_streams: None }, HttpVersion::Http2),
    ] {
        let (send, mut feeds) = mpsc::unbounded_channel();
        let server = Server::start(wire, move |_| {
            let (response, feed) = streaming();
            send.send(feed).expect("the test listens");
            async { response }
        })
        .await;
        let transport = HyperTransport::builder(server.url())
            .http_version(version)
            .build()
            .expect("a transport");
        let clone = transport.clone();
        let mut body = transport
            .send(get("/watch"))
            .await
            .expect("a response")
            .into_body();
        let feed = feeds.recv().await.expect("a request");

        drop(transport);
        feed.send("one");
        assert_eq!(good_chunk(&mut body).await, "one", "a clone is left");
        drop(clone);
        server.wait_for(|connections| connections.n_closed == 1).await;
        feed.gone().await;
        let error = chunk(&mut body)
            .await
            .expect("not a clean end")
            .expect_err("closed");
        assert!(sentence(&error).starts_with(&format!("the response of {} broke off: ", server.url())));
    }
}

#[test]
fn another_runtime_opens_connections_of_its_own() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime")
    };
    // The server outlives the first runtime of the client.
    let background = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let server = background.block_on(Server::start(Wire::Http2 { max_streams: None }, |_| async {
        crate::support::answer("ok")
    }));
    let transport = HyperTransport::builder(server.url())
        .http_version(HttpVersion::Http2)
        .build()
        .expect("a transport");
    for _ in 0..2 {
        assert_eq!(runtime().block_on(crate::support::text(&transport, "/")), "ok");
    }
    assert_eq!(server.n_opened(), 2);
}
