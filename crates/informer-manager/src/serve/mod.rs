//! A small server of HTTP/1.1 for health, metrics and the like.

mod connection;
mod endpoint;
mod server;

pub(crate) use endpoint::Metrics;
pub use endpoint::{Endpoint, Render, Reply, Request};
pub use server::{Limits, Server};
