//! The relay: what is cut, refused and held is really so.

use std::time::Duration;

use apiserver_tests::{Relay, wait};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

const LIMIT: Duration = Duration::from_secs(60);

/// A server that sends `greeting` to each client and then keeps the connection.
async fn server(greeting: &'static [u8]) -> (std::net::SocketAddr, tokio::task::JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async move {
        let mut kept = Vec::new();
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            client.write_all(greeting).await.unwrap();
            kept.push(client);
        }
    });
    (address, tasks)
}

#[tokio::test]
async fn cut_refused_and_accepted_again() {
    let (address, _server) = server(b"hello").await;
    let relay = Relay::start(address).await.unwrap();
    let mut greeting = [0; 5];
    let mut client = TcpStream::connect(relay.address()).await.unwrap();
    client.read_exact(&mut greeting).await.unwrap();
    assert_eq!(&greeting, b"hello");

    relay.cut().await;
    assert!(
        matches!(client.read(&mut greeting).await, Ok(0) | Err(_)),
        "the connection is closed"
    );
    let mut client = TcpStream::connect(relay.address()).await.unwrap();
    client.read_exact(&mut greeting).await.unwrap();

    relay.refuse().await;
    assert!(
        matches!(client.read(&mut greeting).await, Ok(0) | Err(_)),
        "the connection is closed"
    );
    let refused = TcpStream::connect(relay.address()).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);

    relay.accept().await.unwrap();
    let mut client = TcpStream::connect(relay.address()).await.unwrap();
    client.read_exact(&mut greeting).await.unwrap();
}

#[tokio::test]
async fn held_and_released() {
    let (address, _server) = server(b"hello, world").await;
    let relay = Relay::start(address).await.unwrap();
    relay.hold_after(5);
    let mut client = TcpStream::connect(relay.address()).await.unwrap();
    // The server sent all of it in one piece, and there is room for more here.
    let mut arrived = [0; 64];
    let n = client.read(&mut arrived).await.unwrap();
    assert_eq!(&arrived[..n], b"hello");
    assert_eq!(relay.n_open(), 1);
    wait::until("it holds", LIMIT, async || (relay.n_held() == 1).then_some(())).await;
    // What is held back comes when it is released, whole.
    relay.release();
    let mut seven = [0; 7];
    client.read_exact(&mut seven).await.unwrap();
    assert_eq!(&seven, b", world");
    assert_eq!(relay.n_held(), 0);
    drop(client);
    wait::until("it closes", LIMIT, async || (relay.n_open() == 0).then_some(())).await;
}
