//! A lease is given back by its holder only.

use super::{Invariant, Verdict};
use crate::{
    fact::{Fact, Noted},
    world::View,
};

#[derive(Debug)]
pub(super) struct GivenBack;

impl Invariant for GivenBack {
    fn name(&self) -> &'static str {
        "given back"
    }

    fn sentence(&self) -> &'static str {
        "Only what is still held is given back: a write that leaves a lease without a holder is its holder's."
    }

    fn fact(&mut self, noted: &Noted, _: &View<'_>) -> Verdict {
        let Fact::LeaseWritten {
            candidate,
            before,
            after,
        } = &noted.fact
        else {
            return Ok(());
        };
        // Each life of a candidate has a name of its own behind the point.
        if !after.is_empty() || before.starts_with(&format!("e{candidate}.")) {
            return Ok(());
        }
        Err(format!("e{candidate} gave back what {before} held"))
    }
}
