//! An embedded Kubernetes API server, for demos and tests.
//!
//! # What it is
//! [`Server`] serves an `informer_testkit::FakeApi` over HTTP/1.1 and HTTP/2 (with prior knowledge) on a loopback port, in real time:
//! informers, client-go and `kubectl --server` work against it: `get`, `describe`, `apply` on either side, `create -f`, `patch`, `scale`,
//! `label`, `delete`. It can live by itself ([`Options::workload`]) or be written to through [`Server::with`] or over HTTP. What it answers
//! is compared with kube-apiserver, request by request.
//!
//! [`HostileProxy`] stands between clients and this or any other server: it cuts, resets, delays, drips, reorders and silences
//! connections, from a seed or by command.
//!
//! # What it is not
//! It speaks JSON only and no TLS: a body in protobuf, as `kubectl create configmap` sends it, or in YAML gets 415. It keeps everything in
//! memory, and leaves out what `FakeApi` leaves out: admission, validation by schema, defaults, scheduling, garbage collection. Never
//! expose it.
//!
//! # Example
//! ```
//! use informer_apiserver::Server;
//! use informer_core::Resource;
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let server = Server::start(Default::default()).await?;
//! let pods = Resource::namespaced("", "v1", "pods", "Pod");
//! server.with(|api| api.create(&pods, json!({"metadata": {"name": "web"}}))).expect("the name is free");
//!
//! // Any client: `kubectl get pods --server` this address.
//! assert!(server.url().starts_with("http://127.0.0.1:"));
//! server.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Cancel safety
//! Dropping the future of [`Server::start`] leaves nothing behind. Dropping a [`Server`] stops it; [`Server::shutdown`] also waits until
//! nothing of it runs.

mod hostile;
mod serve;
mod server;

pub use hostile::HostileProxy;
pub use server::{Options, Server};
