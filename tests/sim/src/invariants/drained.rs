//! A drain is complete, or what is left is reported.

use informer_workqueue::Shutdown;

use super::{
    Invariant, Verdict,
    ledger::{Book, Ledger},
};
use crate::{
    fact::{Fact, Noted},
    world::View,
};

#[derive(Debug, Default)]
pub(super) struct Drained {
    ledger: Ledger,
}

impl Invariant for Drained {
    fn name(&self) -> &'static str {
        "drained"
    }

    fn sentence(&self) -> &'static str {
        "A shutdown reports everything that it drops, and nothing else; a drain ends when what it promised to hand out was handed out and \
         all work in hand has ended."
    }

    fn fact(&mut self, noted: &Noted, _: &View<'_>) -> Verdict {
        if let Some(took) = self.ledger.enter(noted) {
            let book = self.ledger.books.get(&took.queue);
            let closed = book.and_then(|book| book.closed);
            let hands_out = closed.is_none_or(|how| how == Shutdown::Drain { queued: true });
            if !hands_out || book.is_some_and(|book| book.drained) {
                return Err(format!("{} after its end", noted.fact));
            }
        }
        match &noted.fact {
            Fact::ShutDown { queue, how, left } => {
                let book = self.ledger.books.get_mut(queue);
                book.map_or(Ok(()), |book| {
                    book.promote(noted.at);
                    shut_down(book, *how, left)
                })
                .map_err(|what| format!("q{queue} {what}"))
            }
            Fact::Drained { queue } => {
                let book = self.ledger.books.get(queue);
                book.map_or(Ok(()), complete)
                    .map_err(|what| format!("q{queue} is drained, and {what}"))
            }
            _ => Ok(()),
        }
    }

    fn settled(&mut self, _: &View<'_>) -> Verdict {
        let ended = |book: &&Book| book.closed.is_some() && !book.drained && complete(book).is_ok();
        let late = self.ledger.books.iter().find(|(_, book)| ended(book));
        late.map_or(Ok(()), |(queue, _)| {
            Err(format!("nothing is left of q{queue}, and nobody is told"))
        })
    }
}

fn shut_down(book: &mut Book, how: Shutdown, left: &[u8]) -> Verdict {
    for item in left {
        let place = book.items.entry(*item).or_default();
        if place.ready.take().is_none() & place.delayed.take().is_none() {
            return Err(format!("reports item {item}, which it did not have"));
        }
    }
    book.closed = Some(how);
    let hands_out = how == Shutdown::Drain { queued: true };
    for (item, place) in &mut book.items {
        // A delayed copy of what is ready anyway is part of that.
        if place.ready.is_some() {
            place.delayed = None;
        }
        let forgotten = place.delayed.is_some() || (place.ready.is_some() && !hands_out);
        if forgotten {
            return Err(format!("drops item {item} and does not say so: {place:?}"));
        }
    }
    Ok(())
}

fn complete(book: &Book) -> Verdict {
    let waits_for_work = book.closed != Some(Shutdown::Now);
    let mut items = book.items.iter();
    match items.find(|(_, place)| place.ready.is_some() || (place.running && waits_for_work)) {
        None => Ok(()),
        Some((item, place)) => Err(format!("there is item {item}: {place:?}")),
    }
}
