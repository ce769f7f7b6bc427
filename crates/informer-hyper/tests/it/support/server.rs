//! A server on loopback that counts its connections and answers as a test says.

use std::{
    future::Future,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use hyper::{
    body::Incoming,
    server::conn::{http1, http2},
    service::service_fn,
};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
    sync::{mpsc, watch},
    task::JoinSet,
};
use tokio_rustls::TlsAcceptor;

/// What is spoken.
#[derive(Clone)]
pub(crate) enum Wire {
    Http1,
    /// Without TLS, with this many streams at most.
    Http2 {
        max_streams: Option<u32>,
    },
    /// What ALPN says.
    Tls(Arc<rustls::ServerConfig>),
}

/// How many connections there were.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Connections {
    pub(crate) n_opened: usize,
    pub(crate) n_closed: usize,
}

pub(crate) struct Server {
    address: SocketAddr,
    scheme: &'static str,
    connections: watch::Receiver<Connections>,
    /// Each increment asks all connections to close when they are done.
    shutdown: watch::Sender<usize>,
    _tasks: JoinSet<()>,
}

pub(crate) type Answer = Response<Chunks>;

impl Server {
    pub(crate) async fn start<H, F>(wire: Wire, handler: H) -> Self
    where
        H: Fn(Request<Incoming>) -> F + Send + Sync + 'static,
        F: Future<Output = Answer> + Send + 'static,
    {
        Self::start_at("127.0.0.1:0", wire, handler).await
    }

    pub(crate) async fn start_at<H, F>(address: &str, wire: Wire, handler: H) -> Self
    where
        H: Fn(Request<Incoming>) -> F + Send + Sync + 'static,
        F: Future<Output = Answer> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let scheme = if matches!(wire, Wire::Tls(_)) {
            "https"
        } else {
            "http"
        };
        let (counted, connections) = watch::channel(Connections::default());
        let (shutdown, asked) = watch::channel(0);
        let handler = Arc::new(handler);
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut open = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                counted.send_modify(|connections| connections.n_opened += 1);
                let (wire, handler, counted, asked) =
                    (wire.clone(), handler.clone(), counted.clone(), asked.clone());
                open.spawn(async move {
                    serve_wire(wire, stream, handler, asked).await;
                    counted.send_modify(|connections| connections.n_closed += 1);
                });
            }
        });
        Self {
            address,
            scheme,
            connections,
            shutdown,
            _tasks: tasks,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn n_opened(&self) -> usize {
        self.connections.borrow().n_opened
    }

    /// Waits until the connections are as wanted.
    pub(crate) async fn wait_for(&self, wanted: impl FnMut(&Connections) -> bool) {
        self.connections
            .clone()
            .wait_for(wanted)
            .await
            .expect("the server is there");
    }

    /// Asks all connections to close when they are done: HTTP/2 says GOAWAY.
    pub(crate) fn close_gracefully(&self) {
        self.shutdown.send_modify(|n| *n += 1);
    }
}

async fn serve_wire<H, F>(
    wire: Wire,
    stream: tokio::net::TcpStream,
    handler: Arc<H>,
    asked: watch::Receiver<usize>,
) where
    H: Fn(Request<Incoming>) -> F + Send + Sync + 'static,
    F: Future<Output = Answer> + Send + 'static,
{
    match wire {
        Wire::Http1 => serve(stream, None, handler, asked).await,
        Wire::Http2 { max_streams } => serve(stream, Some(max_streams), handler, asked).await,
        Wire::Tls(config) => {
            let Ok(stream) = TlsAcceptor::from(config).accept(stream).await else {
                return;
            };
            let http2 = (stream.get_ref().1.alpn_protocol() == Some(b"h2")).then_some(None);
            serve(stream, http2, handler, asked).await;
        }
    }
}

async fn serve<S, H, F>(
    stream: S,
    http2: Option<Option<u32>>,
    handler: Arc<H>,
    mut asked: watch::Receiver<usize>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    H: Fn(Request<Incoming>) -> F + Send + Sync + 'static,
    F: Future<Output = Answer> + Send + 'static,
{
    let service = service_fn(move |request| {
        let answer = handler(request);
        async { Ok::<_, std::convert::Infallible>(answer.await) }
    });
    let io = TokioIo::new(stream);
    asked.mark_unchanged();
    // A connection that fails is part of many tests.
    if let Some(max_streams) = http2 {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.max_concurrent_streams(max_streams);
        let mut connection = std::pin::pin!(builder.serve_connection(io, service));
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = asked.changed() => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    } else {
        let mut connection = std::pin::pin!(http1::Builder::new().serve_connection(io, service));
        tokio::select! {
            _ = connection.as_mut() => return,
            _ = asked.changed() => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    }
}

/// A body of chunks as they are sent; one that fails cuts the connection.
pub(crate) struct Chunks(mpsc::UnboundedReceiver<Result<Bytes, Broken>>);

/// The sending side of such a body. Dropping it ends the body.
#[derive(Clone)]
pub(crate) struct Feed(mpsc::UnboundedSender<Result<Bytes, Broken>>);

#[derive(Debug)]
pub(crate) struct Broken;

impl Feed {
    pub(crate) fn send(&self, chunk: impl Into<Bytes>) {
        self.0.send(Ok(chunk.into())).expect("somebody listens");
    }

    pub(crate) fn cut(&self) {
        self.0.send(Err(Broken)).expect("somebody listens");
    }

    /// Waits until nobody listens any more.
    pub(crate) async fn gone(&self) {
        self.0.closed().await;
    }
}

/// A response that is complete.
pub(crate) fn answer(body: impl Into<Bytes>) -> Answer {
    let (response, feed) = streaming();
    feed.send(body);
    response
}

/// A response whose body is sent by hand.
pub(crate) fn streaming() -> (Answer, Feed) {
    let (send, receive) = mpsc::unbounded_channel();
    (Response::new(Chunks(receive)), Feed(send))
}

impl Body for Chunks {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        self.0
            .poll_recv(cx)
            .map(|chunk| chunk.map(|chunk| chunk.map(Frame::data)))
    }
}

impl std::fmt::Display for Broken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cut by the test")
    }
}

impl std::error::Error for Broken {}
