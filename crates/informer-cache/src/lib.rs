//! One shared informer per kind, started on first use, and a client that reads from it.
//!
//! # What it is
//! [`Cache`] is the map from kind to informer (controller-runtime's cache): kinds are listed and watched once, whoever asks and in whatever
//! form, in all namespaces or in some, with selectors, transforms, indices and a sync period for each. [`Cached`] is one kind of it.
//! [`CachedClient`] reads from the cache and writes at the server; [`ReadYourWrites`] is that client with reads that show what was written
//! through it. Both are a [`ReadClient`](informer_client::ReadClient) and a [`WriteClient`](informer_client::WriteClient), so the wrappers of
//! `informer-client` go around them.
//!
//! # What it is not
//! It runs no reconcilers and knows no controllers: a dashboard or a gateway uses it without them.
//!
//! # The contract
//! 1. A kind is listed and watched once, and held once; see [`Cache`] for the form it is held in and what other forms cost.
//! 2. Objects are shared and never copied: who changes one changes a copy of their own.
//! 3. Lists are in key order, with limits that count what matched, and tokens to go on with. Each page is of its own time.
//! 4. A kind that cannot be listed says why in [`Cache::status`] and in the errors of its readers, and stops no other kind.
//! 5. A kind that is not cached, or a namespace, is an error that says so, and never "not found".
//! 6. An object that could not be decoded is no absent one: a `get` fails and says so, a list has it among the unreadable. One of which an
//!    older state could be read is an entry that is [stale](informer_core::Entry::stale); `get` and `find` refuse it, `entry` shows it.
//! 7. Who depends on a kind that is removed is told.
//!
//! # Example
//! ```
//! use std::time::Duration;
//!
//! use informer_cache::{Cache, CachedClient};
//! use informer_client::{Kinds, ListOptions, LiveClient, ReadClientExt, WriteClientExt, WriteOptions};
//! use informer_core::{ObjectKey, TokioClock};
//! use informer_testkit::{FakeApi, FakeTransport, SharedApi};
//! use k8s_openapi::api::core::v1::ConfigMap;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A model of an API server; a real one is reached through `informer-hyper`.
//! let api = SharedApi::new(FakeApi::with_builtins(), TokioClock);
//! let live = LiveClient::new(FakeTransport::new(api), Kinds::kubernetes());
//!
//! let cache = Cache::new(live);
//! cache.index_field("data.owner", |config: &ConfigMap, emit: &mut dyn FnMut(&str)| {
//!     if let Some(owner) = config.data.iter().flatten().find(|(name, _)| *name == "owner") {
//!         emit(owner.1);
//!     }
//! })?;
//! cache.start();
//! cache.wait_synced(Duration::from_secs(5)).await?;
//!
//! let client = CachedClient::new(cache.clone()).read_your_writes();
//! let mut config = ConfigMap::default();
//! config.metadata.namespace = Some("default".into());
//! config.metadata.name = Some("web".into());
//! config.data = Some([("owner".to_owned(), "ann".to_owned())].into());
//! client.create(&config, &WriteOptions::default()).await?;
//!
//! let web = client.get::<ConfigMap>(&ObjectKey::namespaced("default", "web")).await?;
//! assert_eq!(web.data, config.data);
//! let of_ann = client.list::<ConfigMap>(&ListOptions::all().fields("data.owner=ann")).await?;
//! assert_eq!(of_ann.names(), ["default/web"]);
//! cache.shut_down().await;
//! # Ok(())
//! # }
//! ```
//! `examples/dashboard.rs` serves a dashboard's questions from a cache.
//!
//! # Cancel safety
//! Dropping the future of a read or a wait only ends the wait. Dropping that of a write abandons the request, which the server may have seen.
//!
//! # Wire formats
//! As client-go and controller-runtime do, kinds that are built in are asked for in protobuf where the form that is held can be read from it:
//! metadata, and types that were added by [`Kinds::register_message`](informer_client::Kinds::register_message). The server is told that JSON
//! will do as well, which is what custom resources come in. Serde types and dynamic objects are JSON. A client that is
//! [`json_only`](informer_client::LiveClient::json_only) asks for nothing else, and [`KindOptions::codec`] decides for one kind.
//!
//! # Features
//! * `protobuf`, by default: the above.
//!
//! # Swap it
//! What reads and writes takes a [`ReadClient`](informer_client::ReadClient) and a [`WriteClient`](informer_client::WriteClient): a live
//! client, this crate's, one of yours.

mod cache;
mod cached;
mod client;
mod error;
mod fields;
mod options;
mod own_writes;
mod scope;
mod slot;
mod transform;

pub use cache::{Cache, CacheBuilder, KindStatus};
pub use cached::Cached;
pub use client::CachedClient;
pub use error::{CacheError, CacheErrorKind};
pub use options::{KindOptions, Missing, PartOptions, Selecting};
pub use own_writes::{ReadOperation, ReadYourWrites, WaitMetrics, WaitResult};
pub use transform::AnyTransform;
