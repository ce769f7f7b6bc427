//! A watch resumes where the last one ended, bookmarks included.

use std::collections::{BTreeMap, BTreeSet};

use super::{Invariant, Verdict};
use crate::{
    fact::{Fact, InformerId, Noted},
    net::AskKind,
    world::View,
};

/// From where each informer may resume.
#[derive(Debug, Default)]
pub(super) struct Bookmarks {
    positions: BTreeMap<InformerId, Position>,
}

#[derive(Debug, Default)]
struct Position {
    /// The client has read up to here for certain.
    read: Option<u64>,
    /// And it may have read these.
    handed: BTreeSet<u64>,
}

impl Invariant for Bookmarks {
    fn name(&self) -> &'static str {
        "resume"
    }

    fn sentence(&self) -> &'static str {
        "A watch resumes at the last version received, bookmarks included, byte for byte. A watch that ends quietly is opened again; it \
         never causes a list."
    }

    fn fact(&mut self, noted: &Noted, _: &View<'_>) -> Verdict {
        match &noted.fact {
            Fact::Whole { informer, version } | Fact::Handed { informer, version } => {
                let position = self.positions.entry(*informer).or_default();
                position.handed.insert(*version);
            }
            Fact::Read { informer, version } => {
                let position = self.positions.entry(*informer).or_default();
                position.read = Some(*version);
                position.handed.clear();
            }
            Fact::Asked { informer, ask } if ask.kind == AskKind::Watch => {
                let position = self.positions.entry(*informer).or_default();
                let from: u64 = ask
                    .version
                    .as_deref()
                    .and_then(|version| version.parse().ok())
                    .ok_or_else(|| format!("i{informer} asks {ask}: a watch from nowhere"))?;
                if position.read != Some(from) && !position.handed.contains(&from) {
                    return Err(format!(
                        "i{informer} asks {ask}, after it has read {:?} and perhaps {:?}",
                        position.read, position.handed
                    ));
                }
                // What it did not read before is lost with the old watch.
                position.read = Some(from);
                position.handed.clear();
            }
            _ => {}
        }
        Ok(())
    }
}
