//! Leader election by a Lease: a pure machine and its driver.

mod machine;
mod metrics;
mod micro_time;
mod options;
mod record;

pub use machine::{Action, End, Failure, Input, Loss, Machine, Why};
pub use metrics::Metrics;
pub use micro_time::{MicroTime, MicroTimeError};
pub use options::{InvalidOptions, JITTER_FACTOR, Options};
pub use record::{Observed, Record, Term};
