//! The same operations through client-go and through ours, compared step by step.
//!
//! # How it works
//! A [suite](suites) makes random sequences of operations from a seed, in words that both sides understand. An [oracle](Oracle), a Go
//! program over client-go, plays each in a bubble of virtual time and tells after every operation what was said and what is seen now.
//! Ours plays the same, and tells the same. Where ours differs on purpose, the suite [translates](suites::Suite::translate) the oracle's
//! answer by a [`Difference`] that `DIFFERENCES.md` explains; everything else must be equal, step by step. A sequence that differs is
//! [shrunk](shrink()) and kept as a [`Trace`], which is replayed by every test run from then on, with or without Go.
//!
//! # What it is not
//! It measures nothing, and it tests no driver: what depends on a scheduler belongs into the crates' own tests.

mod compare;
mod difference;
pub mod object;
mod oracle;
mod random;
mod run;
pub mod sequence;
mod shrink;
pub mod suites;
mod trace;
mod view;

pub use compare::{Mismatch, compare};
pub use difference::{Difference, Differences};
pub use object::{Object, Thing};
pub use oracle::{Oracle, Version};
pub use random::Random;
pub use run::{Report, campaign, check, holds, replay};
pub use sequence::{Sequence, Step};
pub use shrink::shrink;
pub use trace::{Trace, folder, traces};
pub use view::View;
