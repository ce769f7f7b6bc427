//! Cases from the field, one file each.

mod ac_03;
mod ac_04;
mod ac_05;
