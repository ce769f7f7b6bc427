//! No add is lost.

use super::{Invariant, Verdict, ledger::Ledger};
use crate::{
    fact::{Fact, Noted},
    world::View,
};

#[derive(Debug, Default)]
pub(super) struct Adds {
    ledger: Ledger,
}

impl Invariant for Adds {
    fn name(&self) -> &'static str {
        "no add lost"
    }

    fn sentence(&self) -> &'static str {
        "No add is lost: an item that was added is handed out as soon as it is due and a worker is free, once more where it was added \
         while in work, and never without having been added."
    }

    fn fact(&mut self, noted: &Noted, _: &View<'_>) -> Verdict {
        if let Some(took) = self.ledger.enter(noted)
            && took.since.is_none()
        {
            return Err(format!("{} without an add that is due", noted.fact));
        }
        if let Fact::ShutDown { queue, how, .. } = &noted.fact
            && let Some(book) = self.ledger.books.get_mut(queue)
        {
            // What becomes of the items then is another invariant's.
            book.closed = Some(*how);
        }
        Ok(())
    }

    fn settled(&mut self, view: &View<'_>) -> Verdict {
        for (queue, book) in &self.ledger.books {
            let free = book.n_running() < usize::from(book.config.workers);
            if book.closed.is_some() || !free {
                continue;
            }
            if let Some((item, place)) = book.due(view.now).find(|(_, place)| !place.running) {
                return Err(format!(
                    "item {item} of q{queue} waits while a worker is free: {place:?}"
                ));
            }
        }
        Ok(())
    }

    fn lacks(&self, view: &View<'_>) -> Option<String> {
        let mill = view.mill.filter(|mill| !mill.is_idle())?;
        Some(format!("q{} has work", mill.id))
    }
}
