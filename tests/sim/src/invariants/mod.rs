//! The invariants, one file each, named after what they say, each with the sentence of the contract that it checks.

mod adds;
mod bookmarks;
mod chain;
mod converges;
mod deletes;
mod drained;
mod given_back;
mod index;
mod leader;
mod ledger;
mod listeners;
mod memory;
mod once;
mod order;
mod phantom;
mod rate;
mod reconciled;
mod served;
mod snapshot;
mod stop;
mod store_first;
mod synced;
mod time;

use crate::{fact::Noted, world::View};

/// Something that holds at every moment of every world.
pub(crate) trait Invariant {
    fn name(&self) -> &'static str;

    /// The sentence of the contract.
    fn sentence(&self) -> &'static str;

    /// Something happened, in this order.
    fn fact(&mut self, _noted: &Noted, _view: &View<'_>) -> Verdict {
        Ok(())
    }

    /// After every step, however small.
    fn step(&mut self, _view: &View<'_>) -> Verdict {
        Ok(())
    }

    /// Nothing is ready to run.
    fn settled(&mut self, _view: &View<'_>) -> Verdict {
        Ok(())
    }

    /// What is not yet as it must become when nothing goes wrong any more.
    fn lacks(&self, _view: &View<'_>) -> Option<String> {
        None
    }
}

/// What is wrong, if anything.
pub(crate) type Verdict = Result<(), String>;

/// One of each, for one world.
pub(crate) fn all() -> Vec<Box<dyn Invariant>> {
    vec![
        Box::<chain::Chain>::default(),
        Box::<order::Order>::default(),
        Box::new(phantom::Phantom),
        Box::new(store_first::StoreFirst),
        Box::<listeners::Listeners>::default(),
        Box::new(snapshot::Snapshot),
        Box::new(index::Index),
        Box::<deletes::Deletes>::default(),
        Box::<synced::Synced>::default(),
        Box::<bookmarks::Bookmarks>::default(),
        Box::<time::Time>::default(),
        Box::new(memory::Memory),
        Box::<rate::Rate>::default(),
        Box::<stop::Stop>::default(),
        Box::<once::Once>::default(),
        Box::<adds::Adds>::default(),
        Box::<served::Served>::default(),
        Box::<drained::Drained>::default(),
        Box::<leader::Leader>::default(),
        Box::new(given_back::GivenBack),
        Box::<reconciled::Reconciled>::default(),
        Box::new(converges::Converges),
    ]
}
