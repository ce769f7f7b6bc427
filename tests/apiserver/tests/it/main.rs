//! The real tier: everything here runs against a real kube-apiserver.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be unwrapped in a test has failed it"
)]

mod plane;
mod relay;
