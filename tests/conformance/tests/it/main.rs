//! Each suite on ours, on a foreign implementation, and on one that is wrong for each of its checks.

#![expect(clippy::unwrap_used, reason = "a failed test says where")]

mod clock;
mod delta_queue;
mod delta_sink;
mod event_handler;
mod feed;
mod index_func;
mod key_func;
mod lister_watcher;
mod rules;
mod store;
mod store_writer;
mod transport;
mod wrong;
