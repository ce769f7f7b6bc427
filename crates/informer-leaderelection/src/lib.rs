//! Leader election by a Lease: a pure machine and its driver.
//!
//! # What it is
//! Of several processes, one leads: it holds a lease and renews it, the others wait until the lease is given back or no longer renewed. What
//! client-go's `tools/leaderelection` is, with its numbers: a lease of 15 s, given up after 10 s without a renewal, attempts every 2 s.
//! * [`Elector`]: takes part in an election, with work that runs while it leads ([`run_with`](Elector::run_with)) or without
//!   ([`run`](Elector::run)). [`Leadership`] reads how it goes.
//! * [`Machine`]: the rules, without clock, chance, lock or task.
//! * [`Lock`]: where the record is kept: [`LeaseLock`] over any client, [`MemoryLock`], or your own.
//! * [`Candidacy`]: coordinated election, in which the server elects among candidates by their versions; kube-apiserver 1.37 serves it behind the
//!   feature gate `CoordinatedLeaderElection`.
//! * [`Fence`]: puts the term into what the leader writes; [`Fenced`] is a client that lets nothing past it.
//! * [`HealthAdaptor`], [`Metrics`], [`Event`]: health, numbers, and what client-go records as events.
//!
//! # What it is not
//! It guards what asks it. A lease cannot stop a process that is past asking: work that must not be done by two carries its
//! [`Term`], and whoever accepts the work refuses an older term than the last. For objects in the cluster [`Fence`] does that, with an
//! annotation and the resource version; `examples/three_candidates.rs` shows it.
//!
//! # The contract
//! 1. At most one candidate leads at any instant, whatever their clocks show, as long as the clocks' rates differ by less than the lease
//!    duration over the renew deadline (one and a half) and the lease is changed by candidates alone. The renew deadline counts from when the
//!    last renewal that went through was *sent* (client-go's counts from when it was answered, and a retry later).
//! 2. Whether a lease has lapsed is judged by how long it was seen unchanged by the local clock, never by what is written in it.
//! 3. Every write carries the version and the uid of what was read.
//! 4. A leader that sees another holder stops at once. It does not lead again in the same run.
//! 5. Stopped leading is said once for each time of leading, before the lease is given back, and given back is only what is still held, by
//!    what was just read, after the guarded work has ended.
//! 6. No request is waited for longer than [`Options::call_timeout`](field@Options::call_timeout), and never beyond the deadline it serves.
//! 7. [`Leadership::is_leader`] asks the clock: a process that was paused for longer than its lease gets `false` at once.
//!
//! # Example
//! ```
//! use informer_leaderelection::{Elector, End, MemoryLock, Options, unique_identity};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut options = Options::new(unique_identity());
//! options.release_on_cancel = true;
//! // In a cluster: `LeaseLock::new(&client, "default", "my-controller")`.
//! let lock = MemoryLock::new();
//! let elector = Elector::new(lock.clone(), options)?;
//!
//! let end = elector
//!     .run_with(std::future::pending(), |leadership| async move {
//!         assert!(leadership.is_leader());
//!         println!("leading in term {:?}", leadership.term());
//!         // A server would go on until `leadership.ending()`.
//!     })
//!     .await;
//! assert_eq!(end, End::Stopped { released: true });
//! assert!(lock.stored().expect("it was created").record.is_free());
//! # Ok(()) }
//! ```
//!
//! # Where it differs from client-go
//! Beside 1, 4 and 5 above: a lease that was seen held and is gone is waited for as if it were there, and terms go on counting when it is created
//! again; the duration is written rounded up; strategy and preferred holder are kept by all writes; the lease is renewed while the guarded work
//! ends, for one lease duration at most; a lost lease is not released; a release is tried again after any failure, until there is nothing left to
//! give back; a write to acquire whose outcome is unknown when stopping is looked after. Stopped leading is only said to who was said to lead.
//!
//! # Cancel safety
//! Dropping the future of a run stops it at once: [`Leadership`] says so, the work is dropped with it, others wait for the lease to lapse.
//! The futures of [`Leadership`] may be dropped and made again at will.
//!
//! # Features
//! None.
//!
//! # Swap it
//! Give [`Elector::new`] another [`Lock`] (`examples/own_lock.rs`), another [`Clock`](informer_core::Clock), or drive the [`Machine`] by
//! yourself.

mod candidacy;
mod elector;
mod event;
mod fence;
mod health;
mod identity;
mod leadership;
mod lock;
mod machine;
mod metrics;
mod micro_time;
mod options;
mod record;

pub use candidacy::{Candidacy, CandidacyOptions, LeaseCandidate, LeaseCandidateSpec};
pub use elector::Elector;
pub use event::Event;
pub use fence::{Fence, Fenced};
pub use health::HealthAdaptor;
pub use identity::unique_identity;
pub use leadership::{Leadership, NotRenewed};
pub use lock::{BoxLock, Lease, LeaseLock, LeaseSpec, Lock, LockError, MemoryLock, Mishap};
pub use machine::{Action, End, Failure, Input, Loss, Machine, Why};
pub use metrics::Metrics;
pub use micro_time::{MicroTime, MicroTimeError};
pub use options::{InvalidOptions, JITTER_FACTOR, Options};
pub use record::{NoTerm, Observed, Record, Term};
