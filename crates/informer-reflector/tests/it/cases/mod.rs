//! Public failure stories, retold for the reflector alone; each test is named after its case.

mod kube_03;
mod kube_04;
mod kube_06;
mod kube_08;
mod kube_10;
mod kube_11;
mod kube_13;
mod kube_14;
mod kube_22;
mod lp_01;
mod lp_03;
mod wp_01;
mod wp_02;
mod wp_03;
mod wp_04;
mod wp_06;
mod wp_07;
mod wp_09;
mod wp_10;
mod wp_11;
mod wp_12;
mod wp_13;
