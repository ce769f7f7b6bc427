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
    latest: BTreeMap<(HandlerId, ObjectKey), Latest>,
    /// How often a server went back.
    restored: u32,
}

#[derive(Debug, Default)]
struct Latest {
    version: u64,
    /// How often it was taken back. A slow handler may hear of a state from before a restore after it, so that it is the sum that counts.
    n_back: u32,
}

impl Invariant for Order {
    fn name(&self) -> &'static str {
        "per-key order"
    }

    fn sentence(&self) -> &'static str {
        "Per key, deltas are handed out in the order in which they were pushed: handlers see a forward chain. Never from 0 once synced. \
         Only a restored etcd takes a key back, once for each time."
    }

    fn fact(&mut self, noted: &Noted, _: &View<'_>) -> Verdict {
        if let Fact::Restored { .. } = &noted.fact {
            self.restored += 1;
        }
        let Fact::Told { handler, change, .. } = &noted.fact else {
            return Ok(());
        };
        let entry = change.entry();
        let version = number(&entry.stamp.version)
            .ok_or_else(|| format!("h{handler} is told {change:?} without a version"))?;
        let latest = self.latest.entry((*handler, entry.key.clone())).or_default();
        let forward = match change {
            Change::Added { .. } | Change::Updated { .. } => version > latest.version,
            Change::Removed { .. } | Change::Resynced { .. } => version >= latest.version,
        };
        if !forward {
            // Also a deletion can be taken back, at a version that the handler was not told.
            latest.n_back += 1;
            if latest.n_back > self.restored {
                let known = latest.version;
                return Err(format!("h{handler} is told {change:?} after version {known}"));
            }
        }
        latest.version = version;
        Ok(())
    }
}
