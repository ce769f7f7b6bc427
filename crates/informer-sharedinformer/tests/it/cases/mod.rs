//! Bug cases, one file each.

mod cf_01;
mod cf_02;
mod cf_03;
mod cf_04;
mod cf_05;
mod cf_06;
mod cf_08;
mod cf_09;
mod cm_05;
mod ih_01;
mod ih_02;
mod ih_03;
mod ih_04;
mod tr_06;
