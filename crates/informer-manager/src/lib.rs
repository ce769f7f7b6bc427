//! Controllers, caches, servers and leader election, started and stopped in order.
//!
//! # What it is
//! The manager of controller-runtime. [`Runnable`]s start group by group ([`Group`]), each when the one before is ready: servers, webhooks,
//! caches, what runs everywhere, what prepares, and what runs on the leader alone. The first that fails, a signal or a lost lease stops
//! them all, in order and within a grace time, and a [`Report`] says what did not end. It serves `/healthz`, `/readyz`, `/metrics` and
//! `/debug/informers` and `/debug/controllers`.
//!
//! # What it is not
//! It reconciles nothing and caches nothing: controllers, informers, electors and recorders are what it runs. It knows no registry of
//! metrics; whatever renders text will do ([`Render`]). No TLS and no authentication: the endpoints are for probes, or for a proxy before
//! them.
//!
//! # The contract
//! 1. A group starts when all before it are ready. One that is not ready in time is named, and the next starts without it, or the manager
//!    ends ([`machine::Late`]); an informer that fails is ready to be read by those who do not need it, and `/readyz` names it.
//! 2. What needs leadership never starts before it is won, nor once the manager stops.
//! 3. The first error stops everything and is what the run returns. Errors that come later are in the report.
//! 4. A stop goes group by group, in controller-runtime's order, within one grace time. Reconciles that run may finish. What is left then
//!    is dropped where it awaits, and is named; what blocks its thread is named and not awaited.
//! 5. The lease is given back when everything that needs it has ended, and never before. When it is lost, everything is dropped at once,
//!    and the run ends with an error.
//! 6. A second signal waits for nothing.
//!
//! # Example
//! ```
//! use informer_manager::{Group, Manager, runnable};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let manager = Manager::builder()
//!     .health_addr("127.0.0.1:0".parse()?)
//!     .runnable(
//!         runnable("ticker", |life| async move {
//!             // … until it is to stop:
//!             life.stopping().await;
//!             Ok(())
//!         })
//!         .group(Group::Others),
//!     )
//!     .build()?;
//! println!("probe http://{}/readyz", manager.health_addr().expect("it was asked for"));
//!
//! let running = manager.spawn();
//! running.handle().started().await;
//! let report = running.stop().await?;
//! assert!(report.is_clean());
//! # Ok(()) }
//! ```
//!
//! # Cancel safety
//! Dropping the future of [`Manager::run`] drops everything that it runs where it awaits.
//!
//! # Swap it
//! * What runs: [`Runnable`]. Who stands for election: [`Candidate`].
//! * What is checked: [`Check`]. What is served: [`Endpoint`], [`Render`].
//! * Time: any [`Clock`](informer_core::Clock). Signals: [`Signals`].

mod adapters;
mod builder;
mod candidate;
mod cluster;
mod controllers;
mod driver;
mod election;
mod error;
mod group;
mod health;
mod kinds;
mod life;
pub mod machine;
mod manager;
mod report;
mod runnable;
mod serve;
mod shared;
mod signals;

pub use builder::Builder;
pub use candidate::{Candidate, Seat};
pub use cluster::Cluster;
pub use controllers::Controllers;
pub use election::record_election;
pub use error::{AddError, BuildError, RunError};
pub use group::Group;
pub use health::{Check, Checks, Verdict};
pub use kinds::Informers;
pub use life::{Life, Stop};
pub use machine::{Grace, Late};
pub use manager::{Handle, Manager, Running};
pub use report::{LateError, Report, Undone, Unfinished};
pub use runnable::{BoxError, RunFn, Runnable, runnable};
pub use serve::{Endpoint, Limits, Render, Reply, Request, Server};
pub use signals::{Ring, Second, Signals};
