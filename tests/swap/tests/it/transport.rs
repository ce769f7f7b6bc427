//! A foreign transport: any tower service, here with layers of tower's own, and ours as one.

use std::{
    future::poll_fn,
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use informer_sharedinformer::SharedInformer;
use informer_swap_tests::{Cluster, Program, play, source_over};
use informer_testkit::{Answer, Expect, ScriptedTransport, poll_once};
use informer_transport::{BoxTransport, TowerTransport, Transport, TransportService};
use tokio::sync::watch;
use tower::{ServiceExt as _, buffer::Buffer, limit::ConcurrencyLimit, service_fn, util::BoxCloneService};
use tower_service::Service;

fn get(path: &str) -> Request<Bytes> {
    Request::get(path).body(Bytes::new()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_tower_service_is_the_transport() {
    let cluster = Cluster::default();
    let n_requests = Arc::new(AtomicUsize::new(0));
    let (server, counts) = (cluster.transport(), n_requests.clone());
    let service = service_fn(move |request: Request<Bytes>| {
        let server = server.clone();
        async move { server.send(request).await }
    });
    let service = service.map_request(move |request: Request<Bytes>| {
        counts.fetch_add(1, Ordering::Relaxed);
        request
    });
    let informer = SharedInformer::builder(source_over(TowerTransport::<_, Bytes>::new(service)))
        .build()
        .unwrap();
    play(&cluster, Program::new(informer, crate::name)).await;
    assert!(n_requests.load(Ordering::Relaxed) >= 2);
}

/// Ours, as a service, behind layers that nothing can be seen through, as a transport again. The services are not `Sync`, and want another
/// body.
#[tokio::test(start_paused = true)]
async fn there_and_back_it_is_the_same_transport() {
    let cluster = Cluster::default();
    let service = TransportService::new(cluster.transport());
    let service = BoxCloneService::new(Buffer::new(ConcurrencyLimit::new(service, 3), 8));
    let transport = TowerTransport::<_, Full<Bytes>>::new(service);
    let informer = SharedInformer::builder(source_over(transport)).build().unwrap();
    play(&cluster, Program::new(informer, crate::name)).await;
}

/// A service that says how often it was called, and answers when it is told to.
fn held(
    called: watch::Sender<usize>,
    release: watch::Receiver<bool>,
) -> impl Service<Request<Bytes>, Response = Response<Full<Bytes>>, Error = io::Error, Future: Send> + Clone + Send
{
    service_fn(move |_: Request<Bytes>| {
        called.send_modify(|n| *n += 1);
        let mut release = release.clone();
        async move {
            release.wait_for(|it| *it).await.expect("the test holds it");
            Ok(Response::new(Full::new(Bytes::from_static(b"ok"))))
        }
    })
}

#[tokio::test]
async fn a_service_that_pushes_back_is_waited_for() {
    let (called, n_calls) = watch::channel(0);
    let (release, released) = watch::channel(false);
    let transport = TowerTransport::<_, Bytes>::new(ConcurrencyLimit::new(held(called, released), 1));
    let mut first = Box::pin(transport.send(get("/1")));
    assert!(poll_once(&mut first).is_pending());
    let mut second = Box::pin(transport.send(get("/2")));
    let mut third = Box::pin(transport.send(get("/3")));
    assert!(poll_once(&mut second).is_pending() && poll_once(&mut third).is_pending());
    assert_eq!(*n_calls.borrow(), 1, "one at a time");
    // The place of one that is given up, whether it was called or only waits, is free for the next.
    drop(first);
    drop(second);
    assert!(poll_once(&mut third).is_pending());
    assert_eq!(*n_calls.borrow(), 2, "the third was called");
    release.send_replace(true);
    let answer = third.await.unwrap();
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), "ok");
    let fourth = transport.send(get("/4")).await.unwrap();
    assert!(fourth.status().is_success());
}

/// Takes a call only after it said that it is ready; a clone of it has to be asked anew.
#[derive(Default)]
struct Strict {
    asked: usize,
}

impl Clone for Strict {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Service<Request<Bytes>> for Strict {
    type Response = Response<Full<Bytes>>;
    type Error = io::Error;
    type Future = std::future::Ready<io::Result<Self::Response>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.asked += 1;
        if self.asked < 3 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Request<Bytes>) -> Self::Future {
        assert_eq!(
            self.asked, 3,
            "called without being ready, or asked again after it was"
        );
        std::future::ready(Ok(Response::new(Full::default())))
    }
}

#[tokio::test]
async fn a_service_is_ready_before_it_is_called() {
    let transport = TowerTransport::<_, Bytes>::new(Strict::default());
    let copy = transport.clone();
    let (one, two, three) = tokio::join!(
        transport.send(get("/")),
        copy.send(get("/")),
        transport.send(get("/"))
    );
    assert!([one, two, three].iter().all(Result::is_ok));
}

#[tokio::test]
async fn a_service_that_never_is_ready_says_why() {
    struct Shut;
    impl Clone for Shut {
        fn clone(&self) -> Self {
            Self
        }
    }
    impl Service<Request<Bytes>> for Shut {
        type Response = Response<Full<Bytes>>;
        type Error = io::Error;
        type Future = std::future::Pending<io::Result<Self::Response>>;

        fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Err(io::Error::other("closed for good")))
        }

        fn call(&mut self, _: Request<Bytes>) -> Self::Future {
            unreachable!("it is never ready")
        }
    }
    let transport = TowerTransport::<_, Bytes>::new(Shut);
    let error = transport.send(get("/")).await.unwrap_err();
    assert_eq!(error.to_string(), "closed for good");
    assert!(!TowerTransport::<Shut, Bytes>::is_refused(&error));
}

/// Whether nothing listens is known through every adapter, since a reflector goes by it.
#[tokio::test]
async fn a_refused_connection_stays_one() {
    fn is_refused<T: Transport>(_: &T, error: &T::Error) -> bool {
        T::is_refused(error)
    }
    for (answer, refused) in [
        (Answer::refused(), true),
        (Answer::failed(io::ErrorKind::ConnectionReset), false),
    ] {
        let scripted = ScriptedTransport::new();
        scripted.always(Expect::any(), answer);
        let boxed = BoxTransport::new(scripted);
        let transport = TowerTransport::<_, Full<Bytes>>::new(TransportService::new(boxed));
        let error = transport.send(get("/api")).await.err().unwrap();
        assert_eq!(is_refused(&transport, &error), refused, "{error}");
        let boxed = BoxTransport::new(transport);
        let error = boxed.send(get("/api")).await.err().unwrap();
        assert_eq!(is_refused(&boxed, &error), refused, "{error}");
    }
}

#[tokio::test]
async fn a_service_over_a_transport_sends_what_it_is_given() {
    let scripted = ScriptedTransport::new();
    scripted.always(Expect::any(), Answer::status(201).then_hang());
    let mut service = TransportService::new(scripted.clone());
    let request = Request::post("https://elsewhere:6443/api/v1/pods?dryRun=All")
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from_static(b"{}")))
        .unwrap();
    poll_fn(|cx| Service::<Request<Full<Bytes>>>::poll_ready(&mut service, cx))
        .await
        .unwrap();
    let answer = service.call(request).await.unwrap();
    assert_eq!(answer.status(), 201);
    let sent = &scripted.requests()[0];
    assert_eq!((sent.method.as_str(), &*sent.path), ("POST", "/api/v1/pods"));
    assert_eq!(sent.query.get("dryRun").map(String::as_str), Some("All"));
    assert_eq!(sent.body, "{}");
    assert_eq!(sent.headers["content-type"], "application/json");
    // The body is the transport's: it streams, and dropping it ends the exchange.
    let handle = scripted.open_body().unwrap();
    handle.push("a");
    let mut body = answer.into_body();
    let frame = body.frame().await.unwrap().unwrap();
    assert_eq!(frame.into_data().unwrap(), "a");
    assert!(poll_once(&mut body.frame()).is_pending());
    drop(body);
    assert!(handle.is_dropped());
}
