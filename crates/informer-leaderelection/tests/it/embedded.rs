//! Elections on the embedded API server, over HTTP and in real time.

use std::{sync::Arc, time::Duration};

use informer_apiserver::Server;
use informer_client::Client;
use informer_hyper::HyperTransport;
use informer_leaderelection::{Elector, End, Lease, LeaseLock, Loss, Options};
use informer_testkit::{Fault, On};
use tokio::sync::Notify;

use crate::rig::spawn;

/// As short as leases may be.
fn options(identity: &str) -> Options {
    let mut options = Options::new(identity);
    options.lease_duration = Duration::from_secs(2);
    options.renew_deadline = Duration::from_millis(1_500);
    options.retry_period = Duration::from_millis(200);
    options.release_on_cancel = true;
    options
}

fn elector(server: &Server, identity: &str) -> Elector<LeaseLock<HyperTransport>> {
    let client = Client::new(HyperTransport::builder(server.url()).build().unwrap());
    Elector::new(LeaseLock::new(&client, "default", "election"), options(identity)).unwrap()
}

#[tokio::test]
async fn the_lease_changes_hands_when_its_holder_stops() {
    let server = Server::start(Default::default()).await.unwrap();
    let stop = Arc::new(Notify::new());
    let stopped = stop.clone();
    let (a, b) = (elector(&server, "a"), elector(&server, "b"));
    let (first, second) = (a.leadership(), b.leadership());
    let a = spawn(a.run(async move { stopped.notified().await }));
    let earlier = first.elected().await.unwrap();
    let b = spawn(b.run(std::future::pending()));
    stop.notify_one();
    assert_eq!(a.await.unwrap(), End::Stopped { released: true });
    let later = second.elected().await.unwrap();
    assert!(later.is_after(&earlier) && later.transitions == earlier.transitions + 1);
    assert_eq!(second.leader().as_deref(), Some("b"));
    b.abort();
    server.shutdown().await;
}

#[tokio::test]
async fn a_silent_server_ends_leading_and_another_begins_after_it() {
    let server = Server::start(Default::default()).await.unwrap();
    let a = elector(&server, "a");
    let leadership = a.leadership();
    let a = spawn(a.run(std::future::pending()));
    leadership.elected().await.unwrap();
    server.with(|api| {
        api.faults().always(On::any().of("leases"), Fault::Silence);
    });
    assert_eq!(a.await.unwrap(), End::Lost(Loss::RenewDeadline));
    assert!(!leadership.is_leader());
    server.with(|api| api.faults().clear());

    let b = elector(&server, "b");
    let leadership = b.leadership();
    let b = spawn(b.run(std::future::pending()));
    leadership.elected().await.unwrap();
    let lease = server
        .with(|api| api.get(&Lease::resource(), Some("default"), "election"))
        .unwrap();
    assert_eq!(lease["spec"]["holderIdentity"], "b");
    assert_eq!(lease["spec"]["leaseTransitions"], 1);
    b.abort();
    server.shutdown().await;
}
