//! The numbers of an election, for whoever collects them.

use std::sync::Arc;

/// Is told how an election goes: client-go's `LeaderMetric`. `()` ignores it. `name` is [`Options::name`](crate::Options::name).
///
/// Called on the elector's task: count and return.
pub trait Metrics: Send + Sync {
    /// Whether this process leads (`leader_election_master_status`). Told once at the start, then at every change.
    fn leading(&self, _name: &str, _leading: bool) {}

    /// A renewal had to read the lease first (`leader_election_slowpath_total`).
    fn slow_path(&self, _name: &str) {}
}

impl Metrics for () {}

impl<M: Metrics + ?Sized> Metrics for Arc<M> {
    fn leading(&self, name: &str, leading: bool) {
        (**self).leading(name, leading);
    }

    fn slow_path(&self, name: &str) {
        (**self).slow_path(name);
    }
}
