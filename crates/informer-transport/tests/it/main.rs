//! Tests of informer-transport.

mod api_error;
mod cases;
mod chunking;
mod codec;
mod dynamic;
mod list;
mod request;
mod watch;
