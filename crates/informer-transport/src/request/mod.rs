//! Requests of the Kubernetes API, built without input or output.

mod builder;
mod patch;
mod path;
mod query;
mod repeated;

pub use builder::{RequestBuilder, RequestError};
pub use patch::{DeleteOptions, Patch, Preconditions, Propagation, WriteOptions};
pub use query::{Query, Selectors};
pub use repeated::RepeatedBySender;
