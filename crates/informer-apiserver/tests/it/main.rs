//! The embedded server over real sockets on loopback.

#![allow(
    clippy::unwrap_used,
    reason = "a test may unwrap, and so may what tests share"
)]

mod client;

mod hostile;
mod life;
mod requests;
mod watches;
