//! A Kubernetes client over any transport.
//!
//! # What it is
//! A [`Client`] asks one API server through a [`Transport`](informer_transport::Transport). An [`Api`] is one kind in one form of object (typed,
//! the user's own serde struct, dynamic, metadata only) with its verbs; its [`source`](Api::source) is the
//! [`ListerWatcher`](informer_core::ListerWatcher) that a reflector reads from. [`Discovery`] turns `po` or `deployments.apps` into a
//! [`Resource`](informer_core::Resource), and [`Kinds`] a Rust type, or what an object says of itself. [`RestMapper`] keeps a discovery for kinds that are in no
//! registry: [`LiveClient`] asks it. [`DynamicMeta`], [`PartialMeta`] and [`PackedMeta`] read metadata for selectors and predicates.
//!
//! [`Api::tables`] is the same kind in the columns that the server shows to people, as `kubectl get` prints it: its [`TableSource`] makes an
//! informer of rows, each with the object that it is of.
//!
//! [`ReadClient`] and [`WriteClient`] are what a program writes against when it does not care where answers come from: [`LiveClient`] asks the
//! server, `informer-cache` has one that reads from a cache. [`DryRun`], [`FieldOwner`], [`FieldValidation`], [`Namespaced`] and
//! [`Intercepted`] go around any of them, in any order. [`create_or_update`], [`OwnerObject`] the finalizer helpers and [`Finalizers`] are for those who
//! write objects.
//!
//! # Which client do I take
//! * **A program that reads and writes objects**, a controller for instance: [`ReadClientExt`] and [`WriteClientExt`], by type and
//!   [`ObjectKey`](informer_core::ObjectKey), on whatever client it is given: [`LiveClient`], or those of `informer-cache`, which read from a
//!   cache. `get`, `find`, `list`, `create`, `update`, `patch`, `apply`, `delete`. Wrappers and tests go around these.
//! * **A program that needs what an API server has beyond that**: [`Api`], one kind at a server, by name: pages, tables, watches, logs of one
//!   object, scale, eviction, tokens, options of the query. [`LiveClient::api`] leads there. `replace` is its word for what `update` is above,
//!   as in HTTP; all other words are the same.
//! * **An informer** takes the [`source`](Api::source) of an [`Api`].
//!
//! Most writes have no options: [`WriteOptions::NONE`] and [`DeleteOptions::NONE`] say so, and [`FieldOwner`] and [`DryRun`] set them for all.
//!
//! # What it is not
//! It connects to nothing (`informer-hyper` does), retries nothing and caches nothing: that is for reflectors and informers.
//!
//! # Example
//! ```
//! # use std::{collections::VecDeque, convert::Infallible, pin::Pin, task::{Context, Poll}};
//! # use bytes::Bytes;
//! # use http::{Request, Response};
//! # use http_body::Frame;
//! # struct Body(Option<Bytes>);
//! # impl http_body::Body for Body {
//! #     type Data = Bytes;
//! #     type Error = Infallible;
//! #     fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
//! #         Poll::Ready(self.0.take().map(|body| Ok(Frame::data(body))))
//! #     }
//! # }
//! # struct InMemory;
//! # impl informer_transport::Transport for InMemory {
//! #     type Body = Body;
//! #     type Error = Infallible;
//! #     async fn send(&self, request: Request<Bytes>) -> Result<Response<Body>, Infallible> {
//! #         let pod = r#"{"metadata":{"namespace":"default","name":"web"},"spec":{"nodeName":"n1"}}"#;
//! #         let is_list = request.uri().query().is_some();
//! #         let body = if is_list { format!(r#"{{"items":[{pod}]}}"#) } else { pod.to_owned() };
//! #         Ok(Response::new(Body(Some(body.into()))))
//! #     }
//! # }
//! use informer_client::{Client, Selectors};
//! use informer_core::Resource;
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
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let transport = InMemory;
//! let client = Client::new(transport);
//! let pods = client.objects::<Pod>(Resource::namespaced("", "v1", "pods", "Pod")).in_namespace("default");
//!
//! let web = pods.get("web").await?;
//! assert_eq!(web.identity.to_string(), "default/web");
//! assert_eq!(web.object.spec.node_name.as_deref(), Some("n1"));
//!
//! let all = pods.list(&Selectors::all().labels("app=web")).await?;
//! assert_eq!(all.items.len(), 1);
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
//! * `protobuf`: `Client::messages` and `Client::negotiated` for prost messages of kinds that are built in; metadata-only and packed objects
//!   are then asked for in protobuf first.
//!
//! # Swap it
//! Give [`Client::new`] another transport, or [`Client::with_codec`] another codec. A source that is no API server implements
//! [`ListerWatcher`](informer_core::ListerWatcher) and needs nothing of this crate.

mod access;
mod api;
mod body;
mod client;
mod discovery;
mod error;
#[cfg(feature = "k8s-openapi")]
mod k8s;
mod kinds;
mod meta;
mod object;
mod pager;
mod source;
mod table;
mod wrap;

pub use access::{
    Form, List, ListOptions, LiveClient, ReadClient, ReadClientExt, Write, WriteClient, WriteClientExt,
    WriteVerb, Written, codec_of,
};
pub use api::{Api, ObjectList, Scale, Token, TokenOptions};
pub use client::Client;
pub use discovery::{ApiResource, Discovery, ResolveError, RestMapper, UnknownResource};
pub use error::Error;
pub use informer_transport::{
    DeleteOptions, DynamicObject, ObjectMeta, OwnerReference, PackedObject, PartialMetadata, Patch,
    Preconditions, Propagation, Query, Selectors, WriteOptions,
};
#[cfg(feature = "k8s-openapi")]
pub use k8s::{K8s, KnownScope, resource_of};
pub use kinds::{KindConflict, Kinds, UnknownKind};
pub use meta::{DynamicMeta, PackedMeta, PartialMeta};
pub use object::{
    FinalizeError, Finalized, Finalizer, FinalizerFailure, Finalizers, Outcome, OwnerError, OwnerObject,
    add_finalizer, contains_finalizer, controller_of, create_or_patch, create_or_update, finalizer_patch,
    insert_finalizer, merge_patch, merge_patch_locked, owners_of, remove_finalizer, take_finalizer,
};
pub use pager::Pager;
pub use source::{ApiSource, ListFeed, WatchFeed};
pub use table::{
    RowCondition, Table, TableColumn, TableListFeed, TableRow, TableSource, TableWatchFeed, Tables,
};
pub use wrap::{
    DryRun, FieldOwner, FieldValidation, Intercepted, Interceptor, Namespaced, ReadOf, Validation,
};
