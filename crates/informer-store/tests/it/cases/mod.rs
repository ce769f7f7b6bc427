//! Known bugs of the field.

mod cf_05;
mod cf_07;
mod cf_08;
mod lp_02;
