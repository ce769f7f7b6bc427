//! Chain unbroken: what a handler is told of a key fits to what it was told before.

use std::collections::BTreeMap;

use informer_core::{Change, ObjectKey, Stamp};

use super::{Invariant, Verdict};
use crate::{
    fact::{Fact, HandlerId, Noted},
    world::View,
};

/// What each handler believes.
#[derive(Debug, Default)]
pub(super) struct Chain {
    beliefs: BTreeMap<HandlerId, BTreeMap<ObjectKey, Stamp>>,
}

impl Invariant for Chain {
    fn name(&self) -> &'static str {
        "chain"
    }

    fn sentence(&self) -> &'static str {
        "Handlers see, per key, a gapless forward chain: Added, then Updated whose old is the previous new, then Removed; Resynced in \
         between repeats the current state. A different uid under the same key is always Removed then Added. A relist brings no change \
         for what did not change."
    }

    fn fact(&mut self, noted: &Noted, _: &View<'_>) -> Verdict {
        match &noted.fact {
            Fact::Told { handler, change, .. } => {
                let belief = self.beliefs.entry(*handler).or_default();
                follow(belief, change).map_err(|what| format!("h{handler} is told {change:?}, {what}"))
            }
            Fact::Left { handler, .. } => {
                self.beliefs.remove(handler);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Follows a change, or says why it does not follow.
fn follow<K>(belief: &mut BTreeMap<ObjectKey, Stamp>, change: &Change<ObjectKey, K>) -> Verdict {
    let known = belief.get(change.key());
    match change {
        Change::Added { new, .. } => match known {
            Some(known) => Err(format!("but knows it at {}", known.version)),
            None => {
                belief.insert(new.key.clone(), new.stamp.clone());
                Ok(())
            }
        },
        Change::Updated { old, new } => {
            if known != Some(&old.stamp) {
                return Err(format!("but knows {known:?}"));
            }
            if old.stamp.uid != new.stamp.uid {
                return Err("which is another object".to_owned());
            }
            if old.stamp.version == new.stamp.version {
                return Err("where nothing changed".to_owned());
            }
            belief.insert(new.key.clone(), new.stamp.clone());
            Ok(())
        }
        Change::Removed { last, .. } => match belief.remove(&last.key) {
            None => Err("but knows nothing of it".to_owned()),
            Some(known) if known.uid != last.stamp.uid => Err("which is another object".to_owned()),
            Some(_) => Ok(()),
        },
        Change::Resynced { current } => {
            if known == Some(&current.stamp) {
                Ok(())
            } else {
                Err(format!("but knows {known:?}"))
            }
        }
    }
}
