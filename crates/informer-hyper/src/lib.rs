//! HTTP/1.1 and HTTP/2 transport over hyper and rustls for Kubernetes clients.
//!
//! # What it is
//! [`HyperTransport`] implements [`Transport`](informer_transport::Transport) for one API server: connections over TCP and TLS and their
//! reuse, credentials, compression, and errors that name the server.
//!
//! # What it is not
//! It is no general HTTP client: it follows no redirect, keeps no cookie and knows one server. It knows nothing of lists, watches and
//! objects, and repeats nothing that could change something twice.
//!
//! # The contract
//! 1. A response is returned when its head has arrived, its body streams as it comes, and one that breaks off is an error. Dropping a body
//!    closes its HTTP/1.1 connection or resets its HTTP/2 stream.
//! 2. The path of the server's URL stands before each request's path exactly once.
//! 3. Credentials go over TLS or to this machine; anywhere else only where the builder says so. A 401 is reported to the authorizer.
//! 4. An HTTP/2 connection carries as many requests as the server allows, 100 at most; then another is opened. A connection that is closed or
//!    closing, or made with certificates that have changed since, gets no new request; what runs on the latter may go on for five minutes, and is
//!    then cut, so that nobody goes by a certificate that was taken away. A watch that is cut so resumes where it was.
//! 5. A request is sent once more at once only if an old connection turned out to be closed before any of it was sent, or, for a GET, before
//!    anything came back. It is sent up to ten times more where the server answers 429 or 5xx with `Retry-After`, after that time; and, after
//!    a second, where it was certainly not processed or is a GET, and its connection ended before the answer. Never so a watch, nor what
//!    its sender repeats by itself (`RepeatedBySender`): two back-offs, one upon the other, would only hide what is wrong. Each response says
//!    how many [`Attempts`] it took, each error as well.
//! 6. gzip is asked for and undone, flush by flush and over any number of members.
//! 7. Connections go through the proxy that is given (`http`, `https`, `socks5`), else through the one that `HTTPS_PROXY` and its like name,
//!    except to what `NO_PROXY` names; one that cannot be used is an error, never a direct connection.
//! 8. Redirects are answers like any other: none is followed, so that credentials go nowhere else.
//! 9. No request waits behind a dead connection. One over which nothing comes for 5 s while an answer is due gets no new request until it
//!    speaks; a GET that waits on it, if it was used before, goes over another as well, and the first answer counts. What cannot be sent twice
//!    goes over no HTTP/1.1 connection that was idle for 15 s. A write that was sent to nobody all the same fails after 45 s: it may have
//!    arrived.
//! 10. A quiet watch is left alone. A server that is gone is found out within 45 s: by pings over HTTP/2, by the keep-alive of TCP otherwise.
//!     That of TCP asks the next hop only: where a proxy or load balancer answers for a server that is gone, a quiet watch over HTTP/1.1 ends
//!     when its own time does (`timeoutSeconds`, 5 to 10 minutes for a reflector), as with every client. HTTP/2, the default over TLS, has no
//!     such hole.
//!
//! # Example
//! ```
//! use bytes::Bytes;
//! use http::Request;
//! use http_body_util::BodyExt;
//! use informer_hyper::HyperTransport;
//! use informer_transport::Transport;
//! # use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! # let url = format!("http://{}", listener.local_addr()?);
//! # let server = async {
//! #     let (mut stream, _) = listener.accept().await?;
//! #     stream.read(&mut [0; 4096]).await?;
//! #     stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await?;
//! #     Ok::<_, std::io::Error>(stream)
//! # };
//! # let client = async {
//! let transport = HyperTransport::builder(url).user_agent("example/1.0").build()?;
//! let response = transport.send(Request::get("/readyz").body(Bytes::new())?).await?;
//! assert!(response.status().is_success());
//! assert_eq!(response.into_body().collect().await?.to_bytes(), "ok");
//! #     Ok::<_, Box<dyn std::error::Error>>(())
//! # };
//! # let (server, client) = tokio::join!(server, client);
//! # server?;
//! # client
//! # }
//! ```
//! With a configuration of `informer-kubeconfig`, or any other [`Endpoint`](informer_transport::Endpoint): `HyperTransport::of(&config).build()?`.
//!
//! # Cancel safety
//! Dropping the future of `send` abandons the request; the server may have seen it. The connection is closed, or its stream is reset.
//!
//! # Runtime
//! Connections are driven by tasks on the tokio runtime that `send` is called on. They end with the last clone of the transport.
//!
//! # Swap it
//! Anything else that implements `Transport`: a recording, a Unix socket, another client.

mod body;
mod builder;
mod connection;
mod error;
mod limit;
mod metrics;
mod pool;
mod retry;
mod server;
mod tasks;
mod tls;
mod transport;
mod variables;
mod warning;

pub use body::ResponseBody;
pub use builder::{Builder, HttpVersion};
pub use error::Error;
pub use metrics::TransportMetrics;
pub use retry::{Attempts, Retry, RetryReason};
pub use transport::HyperTransport;
pub use warning::{Warning, WarningHandler};
