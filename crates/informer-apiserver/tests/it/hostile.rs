//! The hostile proxy, in front of a server that says back what it hears.

use std::{io, net::SocketAddr, time::Duration};

use informer_apiserver::HostileProxy;
use informer_testkit::hostile::{Course, Fate, Manner};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// Says back what it hears, after the number of the connection.
async fn echo() -> (SocketAddr, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let mut open = JoinSet::new();
        for number in 0_u8.. {
            let (mut stream, _) = listener.accept().await.unwrap();
            open.spawn(async move {
                let (mut from, mut to) = stream.split();
                if to.write_all(&[number]).await.is_ok() {
                    let _ = tokio::io::copy(&mut from, &mut to).await;
                }
            });
        }
    });
    (address, tasks)
}

async fn proxy(manner: Manner) -> (HostileProxy, JoinSet<()>) {
    let (address, tasks) = echo().await;
    let proxy = HostileProxy::start(address).await.unwrap();
    proxy.behave(manner).await;
    (proxy, tasks)
}

/// A connection over which something went both ways, and its number at the server.
async fn connect(proxy: &HostileProxy) -> (TcpStream, u8) {
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    let number = stream.read_u8().await.unwrap();
    stream.write_all(b"x").await.unwrap();
    assert_eq!(stream.read_u8().await.unwrap(), b'x');
    (stream, number)
}

async fn rest(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.map(|_| rest)
}

#[tokio::test]
async fn all_bytes_pass_in_order_in_pieces_of_any_size() {
    let sent: Vec<u8> = (0..20_000_u32).map(|n| (n % 251) as u8).collect();
    for piece in [1, 7, 1400, usize::MAX] {
        let (proxy, _tasks) = proxy(Manner::Same(Course::default().in_pieces(piece))).await;
        let (mut stream, _) = connect(&proxy).await;
        let (mut from, mut to) = stream.split();
        let mut came = vec![0; sent.len()];
        let (written, read) = tokio::join!(to.write_all(&sent), from.read_exact(&mut came));
        written.unwrap();
        read.unwrap();
        assert!(came == sent, "in pieces of {piece}");
        stream.shutdown().await.unwrap();
        assert_eq!(rest(&mut stream).await.unwrap(), b"");
    }
}

#[tokio::test]
async fn connections_end_as_they_are_told_to() {
    let (proxy, _tasks) = proxy(Manner::calm()).await;
    let (mut one, _) = connect(&proxy).await;
    proxy.end_all(Fate::Cut).await;
    assert_eq!(rest(&mut one).await.unwrap(), b"");
    assert_eq!(proxy.n_open(), 0);

    let (mut two, _) = connect(&proxy).await;
    proxy.end_all(Fate::Reset).await;
    assert_eq!(
        rest(&mut two).await.unwrap_err().kind(),
        io::ErrorKind::ConnectionReset
    );

    let (mut three, _) = connect(&proxy).await;
    proxy.end_all(Fate::HalfOpen).await;
    three.write_all(b"anybody?").await.unwrap();
    // Another one gets through meanwhile, so that this one would have had its turn.
    let (_four, _) = connect(&proxy).await;
    let read = tokio::time::timeout(Duration::from_millis(50), three.read_u8()).await;
    assert!(read.is_err(), "half open");
    assert_eq!(proxy.n_open(), 2);
    proxy.end_all(Fate::Cut).await;
    assert_eq!(proxy.n_open(), 0);
    assert_eq!(proxy.n_accepted(), 4);
}

#[tokio::test]
async fn a_course_ends_after_its_bytes() {
    for piece in [1, usize::MAX] {
        // The number, an x there and back, and seven of what follows there.
        let course = Course::default().in_pieces(piece).ending(10, Fate::Cut);
        let (proxy, _tasks) = proxy(Manner::Same(course)).await;
        let (mut stream, _) = connect(&proxy).await;
        stream.write_all(b"0123456789").await.unwrap();
        // Some may have come back, of the seven.
        let came = rest(&mut stream).await.unwrap_or_default();
        assert!(came.len() < 7 && b"0123456".starts_with(&came), "{came:?}");
    }
}

#[tokio::test]
async fn connections_overtake_each_other() {
    let (proxy, _tasks) = proxy(Manner::Same(Course::default().overtaken())).await;
    let mut first = TcpStream::connect(proxy.address()).await.unwrap();
    // Only when the first is accepted is the next one the second.
    while proxy.n_accepted() == 0 {
        tokio::task::yield_now().await;
    }
    proxy.behave(Manner::calm()).await;
    let (_second, number) = connect(&proxy).await;
    assert_eq!(number, 0);
    assert_eq!(first.read_u8().await.unwrap(), 1);
}

#[tokio::test]
async fn it_refuses_and_accepts_again_at_the_same_address() {
    let (proxy, _tasks) = proxy(Manner::calm()).await;
    let (mut one, _) = connect(&proxy).await;
    proxy.refuse().await;
    assert_eq!(
        rest(&mut one).await.unwrap_err().kind(),
        io::ErrorKind::ConnectionReset
    );
    let refused = TcpStream::connect(proxy.address()).await.unwrap_err();
    assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
    proxy.accept().await.unwrap();
    connect(&proxy).await;
}
