//! What the benchmarks against a real kube-apiserver share: pods as a cluster has them, the server that is full of them, and what
//! processes cost.

mod pods;
mod process;
mod server;
mod table;

pub use pods::resource;
pub use process::{Memory, Process};
pub use server::{Burden, Server, connect};
pub use table::spread;

use std::error::Error;

/// Any error will do.
pub type Result<T = ()> = std::result::Result<T, Box<dyn Error + Send + Sync>>;
