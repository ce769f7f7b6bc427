//! Cases from the field, one file each.

mod ac_01;
mod ac_02;
mod ac_05;
mod tr_03;
mod tr_04;
