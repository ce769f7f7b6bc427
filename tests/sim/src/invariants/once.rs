//! Never twice at once.

use std::collections::BTreeSet;

use informer_core::ObjectKey;

use super::{Invariant, Verdict};
use crate::{
    fact::{Fact, InformerId, Noted, QueueId},
    world::View,
};

#[derive(Debug, Default)]
pub(super) struct Once {
    reconciles: BTreeSet<(InformerId, ObjectKey)>,
    items: BTreeSet<(QueueId, u8)>,
}

impl Invariant for Once {
    fn name(&self) -> &'static str {
        "never twice at once"
    }

    fn sentence(&self) -> &'static str {
        "An item of the work queue is never with two workers at once."
    }

    fn fact(&mut self, noted: &Noted, _: &View<'_>) -> Verdict {
        let twice = match &noted.fact {
            Fact::Began { controller, key, .. } => !self.reconciles.insert((*controller, key.clone())),
            Fact::Finished { controller, key, .. } => {
                self.reconciles.remove(&(*controller, key.clone()));
                false
            }
            Fact::Taken { queue, item } => !self.items.insert((*queue, *item)),
            Fact::Worked { queue, item, .. } => {
                self.items.remove(&(*queue, *item));
                false
            }
            _ => false,
        };
        if twice {
            Err(format!("{} while it is in work", noted.fact))
        } else {
            Ok(())
        }
    }
}
