//! What bounds slow clients.

use informer_manager::{Limits, Manager, Reply, Request, Server};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::support::{Watch, get, secs};

/// A manager with one server, and its address.
fn serving(server: Server) -> (std::net::SocketAddr, informer_manager::Running) {
    let address = server.address();
    let running = Manager::builder().runnable(server).build().unwrap().spawn();
    (address, running)
}

fn server() -> Server {
    Server::bind("small", "127.0.0.1:0".parse().unwrap())
        .unwrap()
        .route("/", |_: &Request<'_>| Reply::text(200, "hello"))
        .route("/large", |_: &Request<'_>| Reply::text(200, "x".repeat(64 << 20)))
        .route("/wild", |_: &Request<'_>| -> Reply { panic!("no") })
}

#[tokio::test(start_paused = true)]
async fn a_head_that_does_not_end_is_cut() {
    let (address, running) = serving(server());
    let watch = Watch::start();
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost: pro").await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert_eq!(answer, "");
    assert_eq!(watch.elapsed().as_secs(), 32);
    running.stop().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_not_taken_is_cut() {
    let mut limits = Limits::default();
    limits.idle = secs(10);
    let (address, running) = serving(server().limits(limits));
    let mut stream = TcpStream::connect(address).await.unwrap();
    let watch = Watch::start();
    stream
        .write_all(b"GET /large HTTP/1.1\r\nHost: probe\r\n\r\n")
        .await
        .unwrap();
    // Not read: time passes only when nobody can go on.
    crate::support::sleep(secs(11)).await;
    let mut taken = Vec::new();
    let read = stream.read_to_end(&mut taken).await;
    assert!(
        read.is_err() || taken.len() < 64 << 20,
        "it was cut before its end"
    );
    assert!(watch.elapsed().as_secs() < 32);
    running.stop().await.unwrap();
}

#[tokio::test]
async fn one_connection_too_many_cuts_the_oldest() {
    let mut limits = Limits::default();
    limits.connections = 2;
    let (address, running) = serving(server().limits(limits));
    let mut oldest = TcpStream::connect(address).await.unwrap();
    oldest
        .write_all(b"GET / HTTP/1.1\r\nHost: probe\r\n\r\n")
        .await
        .unwrap();
    let mut one = [0];
    oldest.read_exact(&mut one).await.unwrap();
    let _second = TcpStream::connect(address).await.unwrap();
    // A probe always gets through.
    assert_eq!(get(address, "/").await, (200, "hello".into()));
    let mut rest = Vec::new();
    // Closed, with or without a reset.
    let _ = oldest.read_to_end(&mut rest).await;
    running.stop().await.unwrap();
}

#[tokio::test]
async fn large_heads_and_panics_get_an_answer() {
    let (address, running) = serving(server());
    let large = format!("/?{}", "x".repeat(80 << 10));
    assert_eq!(get(address, &large).await.0, 414);
    let large = format!("/ HTTP/1.1\r\nX-Large: {}\r\nX-Rest:", "x".repeat(200 << 10));
    assert_eq!(get(address, &large).await.0, 431);
    assert_eq!(
        get(address, "/wild").await,
        (500, "the endpoint panicked\n".into())
    );
    assert_eq!(get(address, "/").await.0, 200);
    running.stop().await.unwrap();
}

#[tokio::test]
async fn a_stop_ends_idle_connections_and_the_port_is_free() {
    let (address, running) = serving(server());
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: probe\r\n\r\n")
        .await
        .unwrap();
    let mut one = [0];
    stream.read_exact(&mut one).await.unwrap();
    assert!(running.stop().await.unwrap().is_clean());
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    assert!(rest.ends_with(b"hello"));
    assert!(TcpStream::connect(address).await.is_err());
}
