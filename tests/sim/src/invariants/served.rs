//! Every key is served.

use std::time::Duration;

use super::{Invariant, Verdict, ledger::Ledger};
use crate::{fact::Noted, op::PRIORITIES, world::View};

#[derive(Debug, Default)]
pub(super) struct Served {
    ledger: Ledger,
}

impl Invariant for Served {
    fn name(&self) -> &'static str {
        "every key served"
    }

    fn sentence(&self) -> &'static str {
        "Nothing starves where priorities age: an item is overtaken only by what became ready within the time that the difference in \
         priority is worth."
    }

    fn fact(&mut self, noted: &Noted, _: &View<'_>) -> Verdict {
        let Some(took) = self.ledger.enter(noted) else {
            return Ok(());
        };
        let (Some(since), Some(book)) = (took.since, self.ledger.books.get(&took.queue)) else {
            return Ok(());
        };
        let worth = Duration::from_millis(book.config.level_worth_ms.into());
        if worth.is_zero() {
            return Ok(());
        }
        let levels = u32::try_from(PRIORITIES.1 - PRIORITIES.0).unwrap_or_default();
        let overtaken = book.items.iter().find(|(_, place)| {
            let waits = place.ready.filter(|_| !place.running);
            waits.is_some_and(|ready| since > ready + worth * levels)
        });
        match overtaken {
            None => Ok(()),
            Some((item, place)) => Err(format!(
                "item {} of q{}, ready since {since:?}, overtakes item {item}: {place:?}",
                took.item, took.queue
            )),
        }
    }
}
