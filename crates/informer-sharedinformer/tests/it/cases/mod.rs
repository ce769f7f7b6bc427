//! Bug cases, one file each.

mod cf_01;
mod cf_02;
mod cf_04;
mod cm_05;
mod ih_01;
mod ih_02;
mod ih_03;
mod ih_04;
