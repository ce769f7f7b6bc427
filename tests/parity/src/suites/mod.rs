//! What is compared: a suite each for the store, the queues, the shared informer, the reflector, the work queue and its limiters, elections,
//! and events.

mod correlator;
mod delta_fifo;
mod deltas;
mod election;
mod informer;
pub mod kubeconfig;
mod limiter;
mod objects;
mod real_fifo;
mod reflector;
mod series;
mod store;
mod work_queue;

use crate::{difference::Differences, oracle::Version, random::Random, sequence::Step};

/// One part of the machinery, on both sides.
pub trait Suite: Sync {
    /// Its name on the wire.
    fn name(&self) -> &'static str;

    /// Which client-go answers.
    fn version(&self) -> Version;

    /// How many of a hundred sequences are its.
    fn share(&self) -> u64;

    /// A random sequence.
    fn generate(&self, random: &mut Random) -> Vec<String>;

    /// Plays a sequence on our side.
    fn ours(&self, ops: &[String]) -> Vec<Step>;

    /// What ours should do where client-go does this: the same, but for the differences that are met.
    fn translate(&self, ops: &[String], answer: &[Step], met: &mut Differences) -> Vec<Step>;
}

/// All suites.
pub const ALL: [&dyn Suite; 14] = [
    &store::Store,
    &real_fifo::RealFifo,
    &delta_fifo::DeltaFifo,
    &informer::Informer(Version::Atomic),
    &informer::Informer(Version::Spread),
    &informer::Informer(Version::Old),
    &informer::Pump(Version::Atomic),
    &informer::Pump(Version::Old),
    &reflector::Reflector,
    &work_queue::WorkQueue,
    &limiter::Limiters,
    &election::Election,
    &correlator::Correlators,
    &series::Series,
];

/// The suite of that name.
#[must_use]
pub fn named(name: &str) -> Option<&'static dyn Suite> {
    ALL.into_iter().find(|suite| suite.name() == name)
}
