//! Request rate bounded in an outage.

use std::{collections::BTreeMap, time::Duration};

use super::{Invariant, Verdict};
use crate::{
    fact::{Fact, InformerId, Noted},
    world::View,
};

/// Rounds that a reflector may make in 600 seconds of failure.
const ROUNDS: u32 = 25;

/// Requests of a round: one start, one fallback, and each once more without a version.
const REQUESTS: u32 = 4;

/// A wait that is shorter than this is no back-off: the shortest one is 800 ms.
const SHORT: Duration = Duration::from_millis(700);

#[derive(Debug, Default)]
pub(super) struct Rate {
    outage: bool,
    clients: BTreeMap<InformerId, Client>,
}

#[derive(Debug, Default)]
struct Client {
    rounds: u32,
    requests: u32,
    /// When its last request ended.
    ended: Option<Duration>,
}

impl Invariant for Rate {
    fn name(&self) -> &'static str {
        "request rate"
    }

    fn sentence(&self) -> &'static str {
        "No more than 25 rounds in 600 s of failure per reflector, a round being one start with at most one fallback and one unversioned \
         retry."
    }

    fn fact(&mut self, noted: &Noted, _: &View<'_>) -> Verdict {
        match &noted.fact {
            Fact::OutageBegan => {
                self.outage = true;
                self.clients.clear();
            }
            Fact::OutageEnded => self.outage = false,
            Fact::Closed { informer } if self.outage => {
                self.clients.entry(*informer).or_default().ended = Some(noted.at);
            }
            Fact::Asked { informer, ask } if self.outage => {
                let client = self.clients.entry(*informer).or_default();
                let waited = client
                    .ended
                    .is_none_or(|ended| noted.at.saturating_sub(ended) >= SHORT);
                if waited {
                    client.rounds += 1;
                    client.requests = 0;
                }
                client.requests += 1;
                if client.rounds > ROUNDS {
                    return Err(format!("i{informer} asks {ask} in round {}", client.rounds));
                }
                if client.requests > REQUESTS {
                    return Err(format!(
                        "i{informer} asks {ask}, request {} of a round",
                        client.requests
                    ));
                }
            }
            _ => {}
        }
        Ok(())
    }
}
