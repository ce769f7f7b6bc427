//! Elections.

use prometheus::{IntCounterVec, IntGaugeVec};

use super::Making;

/// The election's (component-base `clientgo/leaderelection`).
#[derive(Clone)]
pub(crate) struct ElectionFamilies {
    pub(crate) leading: IntGaugeVec,
    pub(crate) slow_path: IntCounterVec,
}

impl ElectionFamilies {
    pub(crate) fn new(make: &Making<'_>) -> Self {
        Self {
            leading: make.gauge(
                "leader_election_master_status",
                "Whether this process leads the lease of this name: 1, or 0 while it stands by.",
                &["name"],
            ),
            slow_path: make.counter(
                "leader_election_slowpath_total",
                "Renewals that had to read the lease of this name first.",
                &["name"],
            ),
        }
    }
}
