//! Start and stop: nothing is left behind.

use http::Request;
use informer_apiserver::{Options, Server};
use tokio::{net::TcpStream, runtime::Handle};

use crate::client::{Events, eventually, get, http2, send};

const WATCH: &str = "/api/v1/configmaps?watch=true&resourceVersion=1";

#[tokio::test]
async fn shutdown_cuts_everything_and_leaves_no_task() {
    let before = Handle::current().metrics().num_alive_tasks();
    let server = Server::start(Options::default().workload(1)).await.unwrap();
    let address = server.address();
    let mut one = Events::from(send(address, get(WATCH)).await.unwrap());
    let mut sender = http2(address).await;
    let request = Request::get(format!("{}{WATCH}", server.url()))
        .body(Default::default())
        .unwrap();
    let mut two = Events::from(sender.send_request(request).await.unwrap());
    server.shutdown().await;
    one.failure().await;
    two.failure().await;
    assert!(TcpStream::connect(address).await.is_err(), "nothing listens");
    drop((one, two, sender));
    // The client's own tasks end as their connections have.
    eventually("no task is left", || {
        Handle::current().metrics().num_alive_tasks() == before
    })
    .await;
}

#[tokio::test]
async fn dropping_a_server_stops_it() {
    let before = Handle::current().metrics().num_alive_tasks();
    let server = Server::start(Options::default().workload(1)).await.unwrap();
    let address = server.address();
    let mut watch = Events::from(send(address, get(WATCH)).await.unwrap());
    drop(server);
    watch.failure().await;
    drop(watch);
    eventually("no task is left", || {
        Handle::current().metrics().num_alive_tasks() == before
    })
    .await;
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn an_address_in_use_is_an_error() {
    let first = Server::start(Default::default()).await.unwrap();
    let mut options = Options::default();
    options.address = first.address();
    let error = Server::start(options).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
    first.shutdown().await;
}

#[tokio::test]
async fn servers_do_not_meet() {
    let (one, two) = tokio::join!(
        Server::start(Default::default()),
        Server::start(Default::default())
    );
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_ne!(one.address(), two.address());
    one.with(|api| api.create(&crate::client::configmaps(), crate::client::named("a")))
        .unwrap();
    assert_eq!(two.with(|api| api.count(&crate::client::configmaps())), 0);
    one.shutdown().await;
    two.shutdown().await;
}
