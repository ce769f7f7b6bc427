//! kube-runtime: its stores and controllers fed by an informer, its watchers as sources.

mod error;
mod events;
mod intake;
mod mirror;
mod refs;
mod shared;
mod source;

pub use error::class_of;
pub use events::{KubeEvents, KubeInformerExt};
pub use mirror::Mirror;
pub use refs::{key_of, object_ref};
pub use shared::Shared;
pub use source::WatcherSource;
