//! Per-key order: a handler sees the states of a key in the order in which the server made them.

use std::collections::BTreeMap;

use informer_core::{Change, ObjectKey};

use super::{Invariant, Verdict};
use crate::{
    fact::{Fact, HandlerId, Noted},
    history::number,
    world::View,
};

/// The latest version that each handler was told of each key, in whatever incarnation.
#[derive(Debug, Default)]
pub(super) struct Order {
    latest: BTreeMap<(HandlerId, ObjectKey), u64>,
}

impl Invariant for Order {
    fn name(&self) -> &'static str {
        "per-key order"
    }

    fn sentence(&self) -> &'static str {
        "Per key, deltas are handed out in the order in which they were pushed: handlers see a forward chain. Never from 0 once synced."
    }

    fn fact(&mut self, noted: &Noted, _: &View<'_>) -> Verdict {
        let Fact::Told { handler, change, .. } = &noted.fact else {
            return Ok(());
        };
        let entry = change.entry();
        let version = number(&entry.stamp.version)
            .ok_or_else(|| format!("h{handler} is told {change:?} without a version"))?;
        let latest = self.latest.entry((*handler, entry.key.clone())).or_default();
        let forward = match change {
            Change::Added { .. } | Change::Updated { .. } => version > *latest,
            Change::Removed { .. } | Change::Resynced { .. } => version >= *latest,
        };
        if !forward {
            return Err(format!("h{handler} is told {change:?} after version {latest}"));
        }
        *latest = version;
        Ok(())
    }
}
