//! Known bugs of the field, one test each.

mod cf_07;
mod lp_02;
