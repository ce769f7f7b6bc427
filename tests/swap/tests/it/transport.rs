//! A foreign transport: any tower service, here with a middleware of tower's own.

use std::{
    error::Error,
    future::{Future, poll_fn},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use http::{Request, Response};
use informer_sharedinformer::SharedInformer;
use informer_swap_tests::{Cluster, Program, play, source_over};
use informer_transport::Transport;
use tower::{ServiceExt, service_fn};
use tower_service::Service;

/// A tower service as a transport. A clone of it serves one request, as tower wants it.
struct Tower<S>(S);

impl<S, B> Transport for Tower<S>
where
    S: Service<Request<Bytes>, Response = Response<B>, Future: Send, Error: Error + Send + Sync + 'static>,
    S: Clone + Send + Sync,
    B: http_body::Body<Data = Bytes, Error: Into<informer_transport::BoxError>> + Send + 'static,
{
    type Body = B;
    type Error = S::Error;

    fn send(&self, request: Request<Bytes>) -> impl Future<Output = Result<Response<B>, S::Error>> + Send {
        let mut service = self.0.clone();
        async move {
            poll_fn(|cx| service.poll_ready(cx)).await?;
            service.call(request).await
        }
    }
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
    let informer = SharedInformer::builder(source_over(Tower(service)))
        .build()
        .unwrap();
    play(&cluster, Program::new(informer, crate::name)).await;
    assert!(n_requests.load(Ordering::Relaxed) >= 2);
}
