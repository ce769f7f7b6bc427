//! Stop within the bound.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::{Invariant, Verdict};
use crate::{
    fact::{Fact, HandlerId, InformerId, Noted},
    world::View,
};

/// The bound, and as much as a task of the simulated machine may come late.
const BOUND: Duration = Duration::from_millis(200 + 50);

#[derive(Debug, Default)]
pub(super) struct Stop {
    /// When each was told to stop.
    stopping: BTreeMap<InformerId, Duration>,
    /// Requests that are open.
    open: BTreeMap<InformerId, i32>,
    ended: BTreeSet<InformerId>,
    left: BTreeSet<HandlerId>,
}

impl Invariant for Stop {
    fn name(&self) -> &'static str {
        "stop"
    }

    fn sentence(&self) -> &'static str {
        "Stop means stop: within 200 ms no handler call starts and nothing of ours runs, whatever it was waiting for. After a removal no \
         call begins."
    }

    fn fact(&mut self, noted: &Noted, _: &View<'_>) -> Verdict {
        match &noted.fact {
            Fact::Stopping { informer } | Fact::ControllerStopping { controller: informer } => {
                self.stopping.insert(*informer, noted.at);
            }
            Fact::Ended { informer, .. } => {
                self.ended.insert(*informer);
                let late = self
                    .stopping
                    .get(informer)
                    .is_none_or(|at| noted.at.saturating_sub(*at) > BOUND);
                if late {
                    return Err(format!("i{informer} ended too late, or untold"));
                }
            }
            Fact::Left { handler, .. } => drop(self.left.insert(*handler)),
            Fact::Told {
                informer,
                handler,
                change,
                ..
            } if self.is_over(*informer, noted.at) || self.left.contains(handler) => {
                return Err(format!(
                    "h{handler} of i{informer} is told {change:?} after its end"
                ));
            }
            Fact::Began { controller, key, .. } if self.is_over(*controller, noted.at) => {
                return Err(format!("c{controller} reconciles {key} after its end"));
            }
            Fact::Asked { informer, ask } => {
                *self.open.entry(*informer).or_default() += 1;
                if self.is_over(*informer, noted.at) || self.ended.contains(informer) {
                    return Err(format!("i{informer} asks {ask} after its end"));
                }
            }
            Fact::Closed { informer } => *self.open.entry(*informer).or_default() -= 1,
            _ => {}
        }
        Ok(())
    }

    fn settled(&mut self, view: &View<'_>) -> Verdict {
        let mut over = self
            .stopping
            .iter()
            .filter(|(_, at)| view.now.saturating_sub(**at) > BOUND);
        match over.find(|(informer, _)| self.open.get(informer).is_some_and(|open| *open != 0)) {
            None => Ok(()),
            Some((informer, at)) => Err(format!(
                "i{informer} was stopped at {at:?}, and has a request open"
            )),
        }
    }
}

impl Stop {
    fn is_over(&self, informer: InformerId, now: Duration) -> bool {
        // What was handed over at the moment of the stop may be told; time has not passed then.
        self.stopping
            .get(&informer)
            .is_some_and(|at| now.saturating_sub(*at) > BOUND)
    }
}
