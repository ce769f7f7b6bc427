//! Conformance suites: does a layer of your own keep the contract of the one it stands in for?
//!
//! One suite for each contract of `informer-core`, and for transports, in the module of its name. Each takes a closure that makes the implementation under
//! test, and what it is driven with, and runs named checks: directed ones, and random ones for a range of seeds. Each check is tagged with
//! the sentence of the contract that it checks, as it stands in the documentation of the trait.
//!
//! | trait | suite |
//! |---|---|
//! | [`Store`](informer_core::Store), [`Snapshot`](informer_core::Snapshot) | [`store`] |
//! | [`StoreWriter`](informer_core::StoreWriter) | [`store_writer`] |
//! | [`DeltaQueue`](informer_core::DeltaQueue) | [`delta_queue`] |
//! | [`DeltaSink`](informer_core::DeltaSink) | [`delta_sink`] |
//! | [`KeyFunc`](informer_core::KeyFunc) | [`key_func`] |
//! | [`IndexFunc`](informer_core::IndexFunc) | [`index_func`] |
//! | [`EventHandler`](informer_core::EventHandler) | [`event_handler`]; for who calls one, [`Witness`] |
//! | [`ListerWatcher`](informer_core::ListerWatcher) | [`lister_watcher`] |
//! | [`Feed`](informer_core::Feed) | [`feed`] |
//! | [`Clock`](informer_core::Clock) | [`clock`] |
//! | [`Transport`](informer_transport::Transport) | [`transport`] |
//!
//! # In a test
//! ```
//! use informer_core::{Identity, KeyError, KeyFunc};
//! use informer_testkit::conformance::key_func;
//!
//! struct Shouting;
//!
//! impl<K: ?Sized> KeyFunc<K> for Shouting {
//!     type Key = String;
//!
//!     fn key(&self, identity: &Identity, _: &K) -> Result<String, KeyError> {
//!         Ok(identity.to_string().to_uppercase())
//!     }
//! }
//!
//! # /*
//! #[test]
//! # */
//! fn shouting_conforms() {
//!     // An object without a name must have no key: the suite says so, with the sentence of the contract.
//!     let report = key_func::Suite::new("Shouting", || Shouting).run();
//!     assert_eq!(report.broken(), ["no_key_is_an_error"]);
//!     // In a test of one that should conform: `report.assert_conforms()`.
//! }
//! # shouting_conforms();
//! ```
//!
//! A [`Report`] has every [`Finding`], at most one for each check; `only` runs one check alone and `seeds` chooses the seeds, to look into
//! one. A panic of the implementation is a finding, and so is one that does not return where the suite can tell.
//!
//! # What it is not
//! It does not measure, and it cannot show the absence of faults: a suite that is passed says that the sentences of the contract hold for
//! what it tried.

mod check;
pub mod clock;
pub mod delta_queue;
pub mod delta_sink;
pub mod event_handler;
pub mod feed;
pub mod index_func;
pub mod key_func;
pub mod lister_watcher;
mod probe;
mod reference;
mod report;
mod rig;
mod samples;
pub mod store;
pub mod store_writer;
pub mod transport;
mod witness;
mod world;

pub use probe::Patience;
pub use report::{Finding, Report};
pub use samples::{Indices, Refusal, Samples, Thing, Things};
pub use witness::Witness;
