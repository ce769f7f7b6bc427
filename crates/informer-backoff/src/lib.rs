//! Exponential backoff with jitter that resets on health, as a pure machine.
//!
//! # What it is
//! [`Backoff`] says how long to wait before the next attempt. It starts at 800 ms, doubles up to 30 s, and adds up to as much again by
//! chance: the numbers of client-go's reflector. [`SplitMix64`] is a small seeded generator for machines that must give the same trace
//! for the same seed.
//!
//! # What it is not
//! It has no clock, waits for nothing and draws no random numbers: time and chance are arguments. It is not a rate limiter per item.
//!
//! # The contract
//! 1. Delays grow from `initial` by `factor` up to `cap`; each has up to `jitter` times itself added.
//! 2. It starts over only after `healthy_for` of *health*, that is of time between [`Backoff::on_healthy`] and the next failure, never
//!    because time passed (client-go `wait.Backoff.DelayWithReset` starts over every two minutes, also in the middle of an outage).
//! 3. No input makes it panic or overflow: options without sense are clamped.
//!
//! # Example
//! ```
//! use informer_backoff::{Backoff, Options, SplitMix64};
//! use std::time::Duration;
//!
//! # #[allow(clippy::disallowed_methods, reason = "an example may look at the clock")]
//! let now = std::time::Instant::now();
//! let mut random = SplitMix64::new(7);
//! let mut backoff = Backoff::new(Options::default());
//!
//! let first = backoff.next(now, random.next_u64());
//! assert!(first >= Duration::from_millis(800) && first < Duration::from_millis(1600));
//! let second = backoff.next(now + first, random.next_u64());
//! assert!(second >= Duration::from_millis(1600) && second < Duration::from_millis(3200));
//!
//! // Two minutes of health, then a failure: it starts over.
//! backoff.on_healthy(now);
//! let again = backoff.next(now + Duration::from_secs(120), random.next_u64());
//! assert!(again < Duration::from_millis(1600));
//! ```
//!
//! # Features
//! None.
//!
//! # Swap it
//! The type is concrete on purpose: other curves are other [`Options`].

mod backoff;
mod random;

pub use backoff::{Backoff, Options};
pub use random::SplitMix64;
