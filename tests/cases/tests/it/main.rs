//! One file per case, named after its id.

#![allow(
    clippy::unwrap_used,
    reason = "what cannot be unwrapped in a test has failed it"
)]

mod cm_01;
mod cm_02;
mod cm_03;
mod consistency;
mod frame_limit;
mod kube_a;
mod kube_b;
mod kube_c;
mod kube_c_controllers;
mod lp_01;
mod lp_02;
mod lp_03;
mod tr_05;
mod wp_01;
mod wp_04;
mod wp_05;
mod wp_06;
mod wp_07;
mod wp_08;
mod wp_12;
