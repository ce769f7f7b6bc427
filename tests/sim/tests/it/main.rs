//! The simulator in `cargo test`: some seeds, the plans that once failed, and the simulator itself.

mod herd;
mod plans;
mod seeds;
mod traces;
