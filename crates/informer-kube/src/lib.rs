//! kube and informer side by side: a kube client as transport, kube types in every layer, informers and kube-runtime fed by one another.
//!
//! # What it is
//! A program built on kube takes over one piece at a time, and keeps the rest:
//! * [`KubeTransport`]: a `kube::Client` as [`Transport`](informer_transport::Transport). Its configuration and credentials stay; sources,
//!   informers and controllers stand above it. The other way round, `informer_transport::TransportService` makes a `kube::Client` of any
//!   transport.
//! * [`KubeClientExt::kube`], [`KubeKindsExt::register_kube`], [`KubeMeta`], [`KubeCodec`], [`resource_of`]: types of k8s-openapi, types that
//!   `kube::CustomResource` is derived for, dynamic objects and metadata only, wherever a kind, its bytes or its metadata are wanted.
//! * With the feature `runtime`, `KubeInformerExt`: an informer as the event stream of a kube watcher, and as a kube store, so that any number
//!   of kube's controllers share one list and one watch; `WatcherSource`: a kube watcher as the source of an informer; `key_of` and
//!   `object_ref`: a controller of kube reads our lister by the reference that it has.
//!
//! # What it is not
//! It is not needed for types of k8s-openapi alone: `informer-client` has them. It repeats no rule of either side.
//!
//! # Example
//! ```
//! use informer_client::{Client, Selectors};
//! use informer_kube::{KubeClientExt, KubeTransport};
//! use informer_sharedinformer::SharedInformer;
//! use k8s_openapi::api::core::v1::Pod;
//! # use informer_apiserver::Server;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let server = Server::start(Default::default()).await?;
//! # let pods = informer_core::Resource::namespaced("", "v1", "pods", "Pod");
//! # server.with(|api| api.create(&pods, serde_json::json!({"metadata": {"name": "web"}})))?;
//! # let config = kube::Config::new(server.url().parse()?);
//! # let _ = || async {
//! let config = kube::Config::infer().await?;
//! # Ok::<_, Box<dyn std::error::Error>>(())
//! # };
//! let client = Client::new(KubeTransport::from_config(config)?);
//! let pods = SharedInformer::builder(client.kube::<Pod>().source(Selectors::all())).build()?;
//! let running = pods.spawn()?;
//! pods.wait_synced(std::time::Duration::from_secs(30)).await?;
//! assert_eq!(pods.store().len(), 1);
//! running.stop().await;
//! # Ok(())
//! # }
//! ```
//! `examples/shared_informer.rs` turns a kube controller into one that shares an informer with two others.
//!
//! # Cancel safety
//! Dropping the future of a request abandons it; the server may have seen it. The streams lose nothing when a wait for their next event is
//! dropped.
//!
//! # Features
//! * `runtime`: what stands between informers and kube-runtime.
//!
//! kube's TLS is rustls with ring; other features of kube are the program's to choose. The version of Kubernetes is chosen by a feature of
//! k8s-openapi in the program's own manifest.
//!
//! # Swap it
//! Every piece stands alone: a kube client below our layers, our transport below a kube client, and informers and kube controllers each on
//! what the other brings.

mod objects;
#[cfg(feature = "runtime")]
mod runtime;
mod transport;

pub use objects::{
    KubeClientExt, KubeCodec, KubeKindsExt, KubeMeta, api_resource, resource_of, resource_with,
};
#[cfg(feature = "runtime")]
pub use runtime::{KubeEvents, KubeInformerExt, Mirror, Shared, WatcherSource, class_of, key_of, object_ref};
pub use transport::KubeTransport;
