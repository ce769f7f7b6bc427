//! `Transport`.

mod server;
mod sockets;
#[cfg(unix)]
#[path = "../../../../../crates/informer-transport/examples/unix_socket/transport.rs"]
mod unix_socket;
mod wrong;

use bytes::Bytes;
use informer_testkit::{
    block_on,
    conformance::transport::{FarEnd, Suite},
};
use informer_transport::{BoxTransport, TowerTransport, Transport, TransportService};

/// Without a network in between.
pub(crate) fn in_memory() -> Suite<FarEnd> {
    Suite::new("FarEnd", |far| async { (far, ()) })
}

#[test]
fn ours_conforms_in_memory() {
    block_on(in_memory().run()).assert_conforms();
    let boxed = Suite::new("BoxTransport", |far| async { (BoxTransport::new(far), ()) });
    block_on(boxed.run()).assert_conforms();
}

#[test]
fn a_tower_service_conforms_in_memory() {
    let service = |far: FarEnd| {
        tower::service_fn(move |request| {
            let far = far.clone();
            async move { far.send(request).await }
        })
    };
    let suite = Suite::new("TowerTransport", move |far| {
        let transport = TowerTransport::<_, Bytes>::new(service(far));
        async { (transport, ()) }
    });
    block_on(suite.run()).assert_conforms();
    let there_and_back = Suite::new("TowerTransport of a TransportService", |far| async {
        let service = TransportService::new(far);
        (TowerTransport::<_, http_body_util::Full<Bytes>>::new(service), ())
    });
    block_on(there_and_back.run()).assert_conforms();
}
