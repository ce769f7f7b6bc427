//! Known bugs of the field.

mod cf_01;
mod cf_05;
mod lp_02;
