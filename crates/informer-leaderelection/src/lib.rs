//! Leader election by a Lease: a pure machine and its driver.

mod elector;
mod event;
mod health;
mod identity;
mod leadership;
mod lock;
mod machine;
mod metrics;
mod micro_time;
mod options;
mod record;

pub use elector::Elector;
pub use event::Event;
pub use health::HealthAdaptor;
pub use identity::unique_identity;
pub use leadership::{Leadership, NotRenewed};
pub use lock::{BoxLock, Lease, LeaseLock, LeaseSpec, Lock, LockError, MemoryLock, Mishap};
pub use machine::{Action, End, Failure, Input, Loss, Machine, Why};
pub use metrics::Metrics;
pub use micro_time::{MicroTime, MicroTimeError};
pub use options::{InvalidOptions, JITTER_FACTOR, Options};
pub use record::{Observed, Record, Term};
