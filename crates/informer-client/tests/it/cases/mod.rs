//! Cases seen in the field, each named after its number.

mod lp_03;
mod lp_04;
mod wp_05;
mod wp_10;
mod wp_12;
