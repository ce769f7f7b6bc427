//! Proxies: CONNECT over TCP and over TLS, SOCKS5, and what must not happen.

use std::sync::{Arc, Mutex};

use informer_hyper::HyperTransport;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

use crate::support::{Answer, Authority, Server, Wire, answer, fetch, sentence, text};

async fn hello(_: http::Request<hyper::body::Incoming>) -> Answer {
    answer("hello".to_owned())
}

/// How a proxy is spoken with.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Speech {
    Connect,
    Socks5,
}

/// A proxy that writes down what it was asked for. It ends when it is dropped.
struct Proxy {
    address: String,
    asked: Arc<Mutex<Vec<String>>>,
    _serving: JoinSet<()>,
}

impl Proxy {
    async fn start(speech: Speech, tls: Option<Arc<rustls::ServerConfig>>, answer: &'static str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = asked.clone();
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let (log, tls) = (log.clone(), tls.clone());
                connections.spawn(async move {
                    let served = match tls {
                        None => serve(speech, stream, &log, answer).await,
                        Some(config) => match TlsAcceptor::from(config).accept(stream).await {
                            Ok(stream) => serve(speech, stream, &log, answer).await,
                            Err(error) => Err(error),
                        },
                    };
                    // A client that goes away ends a connection, and that is all.
                    drop(served);
                });
            }
        });
        Self {
            address,
            asked,
            _serving: serving,
        }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin>(
    speech: Speech,
    mut stream: S,
    log: &Mutex<Vec<String>>,
    answer: &str,
) -> std::io::Result<()> {
    let target = match speech {
        Speech::Connect => {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await?);
            }
            let head = String::from_utf8(head).unwrap();
            log.lock().unwrap().push(head.clone());
            stream.write_all(answer.as_bytes()).await?;
            head.split(' ').nth(1).unwrap().to_owned()
        }
        Speech::Socks5 => socks5(&mut stream, log).await?,
    };
    if !answer.contains("200") {
        return Ok(());
    }
    let mut server = TcpStream::connect(target).await?;
    copy_bidirectional(&mut stream, &mut server).await?;
    Ok(())
}

/// RFC 1928 and 1929, as far as a client of ours goes.
async fn socks5<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    log: &Mutex<Vec<String>>,
) -> std::io::Result<String> {
    assert_eq!(stream.read_u8().await?, 5);
    let mut methods = vec![0; usize::from(stream.read_u8().await?)];
    stream.read_exact(&mut methods).await?;
    let wants_password = methods.contains(&2);
    stream.write_all(&[5, if wants_password { 2 } else { 0 }]).await?;
    if wants_password {
        assert_eq!(stream.read_u8().await?, 1);
        let mut parts = Vec::new();
        for _ in 0..2 {
            let mut part = vec![0; usize::from(stream.read_u8().await?)];
            stream.read_exact(&mut part).await?;
            parts.push(String::from_utf8(part).unwrap());
        }
        log.lock().unwrap().push(parts.join(":"));
        stream.write_all(&[1, 0]).await?;
    }
    let mut head = [0; 4];
    stream.read_exact(&mut head).await?;
    let host = match head[3] {
        1 => {
            let mut address = [0; 4];
            stream.read_exact(&mut address).await?;
            std::net::Ipv4Addr::from(address).to_string()
        }
        3 => {
            let mut name = vec![0; usize::from(stream.read_u8().await?)];
            stream.read_exact(&mut name).await?;
            String::from_utf8(name).unwrap()
        }
        other => panic!("address type {other}"),
    };
    let target = format!("{host}:{}", stream.read_u16().await?);
    log.lock().unwrap().push(target.clone());
    stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).await?;
    Ok(target)
}

const OK: &str = "HTTP/1.1 200 Connection established\r\n\r\n";

async fn secure(authority: &Authority) -> Server {
    let config = authority
        .issue(&["127.0.0.1", "localhost"])
        .for_server(None, &["h2"]);
    Server::start(Wire::Tls(config), hello).await
}

fn through(proxy: &str, authority: &Authority, server: &Server) -> HyperTransport {
    HyperTransport::builder(server.url())
        .tls(Arc::new(authority.trusted()))
        .proxy(Some(proxy))
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_server_is_reached_through_each_kind_of_proxy_with_tls_from_end_to_end() {
    let authority = Authority::new("root");
    let server = secure(&authority).await;
    let port = server.url().rsplit(':').next().unwrap().to_owned();
    for (scheme, speech) in [
        ("http", Speech::Connect),
        ("https", Speech::Connect),
        ("socks5", Speech::Socks5),
        ("socks5h", Speech::Socks5),
    ] {
        let tls = (scheme == "https").then(|| authority.issue(&["127.0.0.1"]).for_server(None, &[]));
        let proxy = Proxy::start(speech, tls, OK).await;
        let url = format!("{scheme}://ada:s3cret@{}", proxy.address);
        let transport = through(&url, &authority, &server);
        for _ in 0..3 {
            assert_eq!(text(&transport, "/").await, "hello", "{scheme}");
        }
        let asked = proxy.asked();
        match speech {
            Speech::Connect => {
                assert_eq!(asked.len(), 1, "one connection for all: {asked:?}");
                assert!(
                    asked[0].starts_with(&format!("CONNECT 127.0.0.1:{port} HTTP/1.1\r\n")),
                    "{asked:?}"
                );
                // "ada:s3cret"
                assert!(
                    asked[0].contains("Proxy-Authorization: Basic YWRhOnMzY3JldA=="),
                    "{asked:?}"
                );
            }
            Speech::Socks5 => assert_eq!(asked, ["ada:s3cret".to_owned(), format!("127.0.0.1:{port}")]),
        }
    }
}

#[tokio::test]
async fn plain_http_goes_through_the_proxy_as_well() {
    let server = Server::start(Wire::Http1, hello).await;
    let proxy = Proxy::start(Speech::Connect, None, OK).await;
    let transport = HyperTransport::builder(server.url())
        .proxy(Some(&format!("http://{}", proxy.address)))
        .build()
        .unwrap();
    assert_eq!(text(&transport, "/").await, "hello");
    assert_eq!(proxy.asked().len(), 1);
}

#[tokio::test]
async fn a_proxy_that_refuses_or_is_not_there_is_an_error_and_never_a_direct_connection() {
    let authority = Authority::new("root");
    let server = secure(&authority).await;
    let gone = {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.local_addr().unwrap().to_string()
    };
    let refusing = Proxy::start(Speech::Connect, None, "HTTP/1.1 403 Forbidden\r\n\r\n").await;
    let asking = Proxy::start(Speech::Connect, None, "HTTP/1.1 407 Who are you\r\n\r\n").await;
    for address in [&gone, &refusing.address, &asking.address] {
        let url = format!("http://ada:s3cret@{address}");
        let error = fetch(&through(&url, &authority, &server), "/").await.unwrap_err();
        assert!(error.is_connect());
        let sentence = sentence(&error);
        assert!(
            sentence.contains(&format!("through the proxy http://{address}/")),
            "{sentence}"
        );
        assert!(!sentence.contains("s3cret"), "{sentence}");
    }
    assert_eq!(server.n_opened(), 0);
}

#[tokio::test]
async fn a_proxy_over_tls_is_checked() {
    let authority = Authority::new("root");
    let server = secure(&authority).await;
    let stranger = Authority::new("other")
        .issue(&["127.0.0.1"])
        .for_server(None, &[]);
    let proxy = Proxy::start(Speech::Connect, Some(stranger), OK).await;
    let transport = through(&format!("https://{}", proxy.address), &authority, &server);
    let error = fetch(&transport, "/").await.unwrap_err();
    assert!(
        sentence(&error).contains("TLS handshake with the proxy"),
        "{}",
        sentence(&error)
    );
    assert!(proxy.asked().is_empty());
}
