//! The real tier: everything here runs against a real kube-apiserver.

mod plane;
mod relay;
