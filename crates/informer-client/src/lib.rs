//! A Kubernetes client over any transport.
//!
//! # What it is
//! A [`Client`] asks one API server through a [`Transport`](informer_transport::Transport). An [`Api`] is one kind in one form of object (typed,
//! the user's own serde struct, dynamic, metadata only) with its verbs; its [`source`](Api::source) is the
//! [`ListerWatcher`](informer_core::ListerWatcher) that a reflector reads from. [`Discovery`] turns `po` or `deployments.apps` into a
//! [`Resource`](informer_core::Resource). [`DynamicMeta`] and [`PartialMeta`] read metadata for selectors and predicates.
//!
//! # What it is not
//! It connects to nothing (`informer-hyper` does), retries nothing and caches nothing: that is for reflectors and informers.
//!
//! # Example
//! ```no_run
//! use informer_client::{Client, Selectors};
//! use informer_core::Resource;
//! # async fn example(transport: impl informer_transport::Transport) -> Result<(), informer_client::Error> {
//!
//! #[derive(Debug, serde::Deserialize)]
//! struct Pod {
//!     spec: Spec,
//! }
//! #[derive(Debug, serde::Deserialize)]
//! #[serde(rename_all = "camelCase")]
//! struct Spec {
//!     node_name: Option<String>,
//! }
//!
//! let client = Client::new(transport);
//! let pods = client.objects::<Pod>(Resource::namespaced("", "v1", "pods", "Pod"));
//! let web = pods.clone().in_namespace("default").get("web").await?;
//! println!("{} runs on {:?}", web.identity, web.object.spec.node_name);
//! for pod in pods.list(&Selectors::all().labels("app=web")).await?.items {
//!     println!("{}", pod.identity);
//! }
//! # Ok(()) }
//! ```
//! `examples/own_transport.rs` runs the client over a transport of its own.
//!
//! # Cancel safety
//! The feeds of a source may be dropped or raced at any await point without losing an event. Dropping the future of a verb abandons the
//! request, which the server may have seen.
//!
//! # Features
//! * `k8s-openapi`: `Client::typed` for its types, and the metadata strategy `K8s`. The version of Kubernetes is the program's to choose, by a
//!   feature of k8s-openapi in its own manifest.
//!
//! # Swap it
//! Give [`Client::new`] another transport, or [`Client::with_codec`] another codec. A source that is no API server implements
//! [`ListerWatcher`](informer_core::ListerWatcher) and needs nothing of this crate.

mod api;
mod body;
mod client;
mod discovery;
mod error;
#[cfg(feature = "k8s-openapi")]
mod k8s;
mod meta;
mod source;

pub use api::{Api, ObjectList};
pub use client::Client;
pub use discovery::{ApiResource, Discovery, ResolveError, UnknownResource};
pub use error::Error;
pub use informer_transport::{
    DeleteOptions, DynamicObject, ObjectMeta, PartialMetadata, Patch, Preconditions, Propagation, Query,
    Selectors, WriteOptions,
};
#[cfg(feature = "k8s-openapi")]
pub use k8s::{K8s, KnownScope, resource_of};
pub use meta::{DynamicMeta, PartialMeta};
pub use source::{ApiSource, ListFeed, WatchFeed};
