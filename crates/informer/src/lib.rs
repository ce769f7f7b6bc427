//! Kubernetes informers, work queues and controllers: the facade.
//!
//! # What it is
//! All layers under one name, joined where they are strangers to one another: [`connect`] makes a client from a kubeconfig,
//! [`ApiExt::informer`] an informer from a client. What a usual program names is in the [`prelude`]; each layer is a module of its own,
//! and a crate of its own for those who need only one.
//!
//! # What it is not
//! It holds no rules. A program that needs one layer depends on that crate alone: `informer-workqueue` needs no Kubernetes, `informer-store`
//! no runtime.
//!
//! # Example
//! Watch pods, index them by node, reconcile the nodes. `examples/pods_by_node.rs` is this as a program, `examples/control_loop.rs` shows the
//! same by hand, from the pieces.
//! ```
//! use std::{convert::Infallible, time::Duration};
//!
//! use informer::{controller::map_fn, prelude::*};
//!
//! #[derive(serde::Deserialize)]
//! struct Pod {
//!     spec: Spec,
//! }
//!
//! #[derive(serde::Deserialize)]
//! #[serde(rename_all = "camelCase")]
//! struct Spec {
//!     node_name: Option<String>,
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = informer_apiserver::Server::start(informer_apiserver::Options::default().workload(1)).await?;
//! # let client = Client::new(HyperTransport::builder(server.url()).build()?);
//! # let _ = || -> Result<(), Box<dyn std::error::Error>> {
//! let config = Config::find(&Overrides::default())?.ok_or("no kubeconfig")?;
//! let client = informer::connect(&config)?;
//! # Ok(())
//! # };
//! let pods = client
//!     .objects::<Pod>(Resource::namespaced("", "v1", "pods", "Pod"))
//!     .informer()
//!     .index("node", |pod: &Pod, emit: &mut dyn FnMut(&str)| {
//!         pod.spec.node_name.as_deref().into_iter().for_each(emit);
//!     })
//!     .build()?;
//!
//! let lister = pods.lister();
//! let nodes = Controller::builder("nodes")
//!     .watches(&pods, map_fn(|pod: &Entry<ObjectKey, Pod>| pod.object.spec.node_name.clone()))
//!     .reconcile(move |node: String, _| {
//!         let n_pods = lister.by_index("node", &node).map_or(0, |pods| pods.len());
//!         tracing::info!(%node, n_pods);
//!         async { Ok::<_, Infallible>(Action::Done) }
//!     })
//!     .build()?;
//!
//! let watching = pods.spawn()?;
//! let reconciling = nodes.spawn()?;
//! pods.wait_synced(Duration::from_secs(30)).await?;
//! # assert!(!pods.store().is_empty());
//! // … until the program ends:
//! reconciling.stop().await?;
//! watching.stop().await;
//! # server.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Cancel safety
//! As each layer says of itself. What runs is stopped by dropping what [`SharedInformer::spawn`](sharedinformer::SharedInformer::spawn) and
//! its like returned.
//!
//! # Features
//! One for each layer; the default has all that the example needs.
//!
//! | feature | has |
//! |---|---|
//! | `client` | requests, sources and discovery over any transport |
//! | `hyper` | the transport over hyper and rustls |
//! | `kubeconfig` | kubeconfig files and in-cluster configuration |
//! | `sharedinformer` | shared informers, and with them `reflector`, `deltafifo`, `store` |
//! | `controller` | controllers, and with them `sharedinformer`, `workqueue` |
//! | `manager` (off) | the manager, and with it `cache`, `controller`, `events`, `leaderelection` |
//! | `cache` (off) | one informer per kind, and a client that reads from it |
//! | `leaderelection` (off) | leader election by a Lease |
//! | `events` (off) | recorders of events |
//! | `prometheus` (off) | all numbers as Prometheus metrics; with `hyper` and `kubeconfig` those of connections and exec plug-ins |
//! | `prometheus-process` (off) | those of the process as well |
//! | `kube` (off) | a `kube::Client` as transport, and kube types in every layer |
//! | `kube-runtime` (off) | the stores of kube-runtime fed by an informer, its watchers as sources |
//! | `protobuf` | Kubernetes protobuf, with JSON as the fall-back |
//! | `k8s-openapi` (off) | `Client::typed` for the types of k8s-openapi, and their metadata |
//!
//! # Swap it
//! Every contract is in [`contracts`] (and [`transport`] and [`workqueue`] for theirs); what implements it can stand in for what is here.

#[cfg(all(feature = "client", feature = "sharedinformer"))]
mod api_ext;
#[cfg(all(feature = "client", feature = "hyper", feature = "kubeconfig"))]
mod connect;
pub mod prelude;
#[cfg(all(feature = "client", feature = "sharedinformer"))]
mod sources;

#[cfg(all(feature = "client", feature = "sharedinformer"))]
pub use api_ext::{ApiExt, Informing};
#[cfg(all(feature = "client", feature = "hyper", feature = "kubeconfig"))]
pub use connect::{connect, connector};
#[cfg(feature = "reflector")]
pub use informer_backoff as backoff;
#[cfg(feature = "cache")]
pub use informer_cache as cache;
#[cfg(feature = "client")]
pub use informer_client as client;
#[cfg(feature = "controller")]
pub use informer_controller as controller;
pub use informer_core as contracts;
#[cfg(feature = "deltafifo")]
pub use informer_deltafifo as deltafifo;
#[cfg(feature = "events")]
pub use informer_events as events;
#[cfg(feature = "hyper")]
pub use informer_hyper as hyper;
#[cfg(feature = "kube")]
pub use informer_kube as kube;
#[cfg(feature = "kubeconfig")]
pub use informer_kubeconfig as kubeconfig;
#[cfg(feature = "leaderelection")]
pub use informer_leaderelection as leaderelection;
#[cfg(feature = "manager")]
pub use informer_manager as manager;
#[cfg(feature = "prometheus")]
pub use informer_prometheus as prometheus;
#[cfg(feature = "reflector")]
pub use informer_reflector as reflector;
#[cfg(feature = "sharedinformer")]
pub use informer_sharedinformer as sharedinformer;
#[cfg(feature = "store")]
pub use informer_store as store;
#[cfg(any(feature = "client", feature = "hyper", feature = "kubeconfig"))]
pub use informer_transport as transport;
#[cfg(feature = "workqueue")]
pub use informer_workqueue as workqueue;
#[cfg(all(feature = "client", feature = "sharedinformer"))]
pub use sources::{ClientSources, Dynamic, MetadataOnly, Typed};
