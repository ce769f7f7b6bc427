//! At most one leader.

use informer_leaderelection::Term;

use super::{Invariant, Verdict};
use crate::{
    fact::{Fact, Noted},
    world::View,
};

#[derive(Debug, Default)]
pub(super) struct Leader {
    /// The last term that began.
    last: Option<Term>,
}

impl Invariant for Leader {
    fn name(&self) -> &'static str {
        "one leader"
    }

    fn sentence(&self) -> &'static str {
        "At most one candidate leads at any instant of true time, whatever the clocks show, with rates apart by less than the lease duration \
         over the renew deadline; a term that begins later is a later term."
    }

    fn fact(&mut self, noted: &Noted, _: &View<'_>) -> Verdict {
        let Fact::Election {
            what,
            term: Some(term),
            ..
        } = &noted.fact
        else {
            return Ok(());
        };
        if let Some(last) = &self.last
            && !term.is_after(last)
        {
            return Err(format!("{what} in term {term}, after term {last}"));
        }
        self.last = Some(term.clone());
        Ok(())
    }

    fn step(&mut self, view: &View<'_>) -> Verdict {
        let leaders: Vec<_> = view
            .candidates
            .iter()
            .filter_map(|candidate| candidate.leads())
            .collect();
        if leaders.len() < 2 {
            return Ok(());
        }
        let names: Vec<_> = leaders
            .iter()
            .map(|(name, term)| format!("{name} in term {term}"))
            .collect();
        Err(format!("there lead at once {}", names.join(" and ")))
    }

    fn lacks(&self, view: &View<'_>) -> Option<String> {
        let mut running = view.candidates.iter().filter(|candidate| candidate.runs());
        let leads = running.clone().any(|candidate| candidate.leads().is_some());
        (running.next().is_some() && !leads).then(|| "nobody leads".to_owned())
    }
}
