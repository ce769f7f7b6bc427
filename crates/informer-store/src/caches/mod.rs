//! Small caches beside and above the store.
//!
//! Each is passive: no lock, no clock, `now` is an argument. Shared between tasks, put it behind a lock of your choice.

mod expiration;
mod mutation;
mod mutation_error;
mod recent;
mod undelta;

pub use expiration::ExpirationCache;
pub use mutation::{MutationCache, MutationOptions};
pub use mutation_error::MutationError;
pub use undelta::UndeltaStore;
