//! kube and informer together, on the embedded server.

#![expect(clippy::unwrap_used, reason = "a failed test says where")]

mod events;
mod kube_runtime;
mod objects;
mod source;
mod support;
mod transport;
