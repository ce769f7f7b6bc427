//! Known bugs of the field.

mod cf_01;
mod lp_02;
