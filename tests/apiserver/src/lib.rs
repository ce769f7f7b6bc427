//! A real control plane for tests: etcd and kube-apiserver on loopback ports of their own, with certificates of their own.
//!
//! Several run side by side. Nothing is left behind: each server hangs on a leash (see [`process`]) that also holds when the test
//! process is killed. What is here depends on no crate that it helps to test, so that it can be the judge of them.
//!
//! Bounds of time are stretched by `INFORMER_TIME_SCALE` (5 unless it is set), since tests share their machine with compilers.
//!
//! `cargo run -p apiserver-tests` starts one, prints where its kubeconfig is, and stops it when standard input ends.

pub mod assets;
pub mod certificates;
pub mod etcd;
pub mod http;
pub mod kubeconfig;
pub mod plane;
mod ports;
pub mod process;
pub mod relay;
pub mod wait;

pub use kubeconfig::Login;
pub use plane::{ControlPlane, Options};
pub use relay::Relay;
