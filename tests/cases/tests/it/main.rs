//! One file per case, named after its id.

mod lp_01;
mod lp_02;
mod lp_03;
mod wp_01;
mod wp_04;
mod wp_05;
mod wp_06;
mod wp_07;
mod wp_08;
mod wp_12;
