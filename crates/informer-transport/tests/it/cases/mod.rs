//! Cases seen in the field, each named after its number.

mod lp_04;
mod tr_01;
mod tr_02;
