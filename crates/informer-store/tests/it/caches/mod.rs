//! The small caches beside and above the store.

mod expiration;
mod model;
mod mutation;
mod mutation_more;
mod undelta;
