//! TCP keep-alive, which finds out a half-open connection that nothing else asks about: the quiet watch of HTTP/1.1.

#![cfg(target_os = "linux")]

use std::{fs, net::SocketAddr};

use informer_hyper::HyperTransport;
use informer_transport::Transport;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::support::{get, good_chunk};

/// What the kernel waits for on the socket with this local address, and for how many hundredths of a second yet (`proc_net_tcp(5)`).
fn timer(local: SocketAddr) -> (u32, u64) {
    let SocketAddr::V4(address) = local else {
        panic!("an address of the fourth version");
    };
    let ip = u32::from_ne_bytes(address.ip().octets());
    let wanted = format!("{ip:08X}:{:04X}", address.port());
    let table = fs::read_to_string("/proc/net/tcp").expect("a table of sockets");
    let row = table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .find(|row| row.get(1) == Some(&&*wanted))
        .expect("the socket is open");
    let (kind, left) = row[5].split_once(':').expect("a timer");
    let number = |text| u64::from_str_radix(text, 16).expect("a number");
    (u32::try_from(number(kind)).expect("small"), number(left))
}

#[tokio::test]
async fn a_quiet_connection_is_asked_about_by_the_kernel() {
    const KEEPALIVE: u32 = 2;
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let transport = HyperTransport::builder(url).build().expect("a transport");
    let server = async {
        let (mut stream, peer) = listener.accept().await.expect("a connection");
        let n = stream.read(&mut [0; 4096]).await.expect("a request");
        assert!(n > 0);
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n!\r\n";
        stream.write_all(head).await.expect("written");
        (stream, peer)
    };
    let (response, (_stream, peer)) = tokio::join!(transport.send(get("/?watch=true")), server);
    let mut body = response.expect("a response").into_body();
    assert_eq!(good_chunk(&mut body).await, "!");
    // The request is acknowledged with the response, so nothing else is on its way.
    let (kind, left) = timer(peer);
    assert_eq!(kind, KEEPALIVE);
    assert!(
        (1..=3000).contains(&left),
        "asked in {left} hundredths of a second"
    );
}
