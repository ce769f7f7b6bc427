//! A controller of websites: own kind, status, owned objects, finalizer, events, leader election, metrics. Copy the folder and begin.

mod api;
mod reconcile;

use std::{error::Error, net::SocketAddr, sync::Arc};

use informer::{
    cache::Cache,
    client::{Kinds, LiveClient},
    controller::GenerationChanged,
    events::ApiSink,
    leaderelection::{Fence, Options},
    manager::Cluster,
    prelude::*,
    prometheus::Registry,
    transport::Transport,
};
use k8s_openapi::api::core::v1::ConfigMap;

use crate::{api::Website, reconcile::Websites};

/// All of it over any transport, with the lease in this namespace and health and metrics at this address; `replica` says who it is.
///
/// # Errors
/// When parts do not fit, or the address is taken.
pub fn manager(
    transport: impl Transport + 'static,
    namespace: &str,
    address: SocketAddr,
    replica: Options,
) -> Result<Manager, Box<dyn Error + Send + Sync>> {
    let registry = Registry::new();
    let kinds = Kinds::kubernetes();
    kinds.register_typed::<Website>()?;
    let live = LiveClient::new(registry.transport(transport, "apiserver"), kinds);

    let lock = LeaseLock::new(live.client(), namespace, "websites");
    let elector = Elector::new(lock, replica)?.metrics(Arc::new(registry.clone()));
    let broadcaster = Broadcaster::new(ApiSink::new(live.client()), Default::default());
    let cache = Cache::builder(live).metrics(&registry.informers(), "website");
    let cluster = Cluster::cached("", cache.build()?);

    // Says in every object in which term of the lease it was last claimed.
    let fence = Fence::new(elector.leadership(), "example.com/term");
    let changed = GenerationChanged::new::<Website>(K8s)?;
    let controller = Controller::builder("website")
        .for_(cluster.kind::<Website>()?.predicate(changed))
        .owns(cluster.kind::<ConfigMap>()?)
        .reconciler(Websites {
            client: fence.around(cluster.client().clone().read_your_writes()),
            events: broadcaster.recorder("example.com/websites"),
        })
        .metrics_from(registry.clone())
        // Tests run several replicas in one process.
        .skip_name_validation()
        .build()?;

    let manager = Manager::builder()
        .health_addr(address)
        .metrics(move || registry.render())
        .runnable(broadcaster)
        .cluster(&cluster)
        .leader_election(elector)
        .controller(&controller);
    Ok(manager.signals(Signals::os(Default::default())).build()?)
}
