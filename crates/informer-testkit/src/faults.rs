//! Faults: what goes wrong with which request, by script or by seed.

use std::{collections::BTreeMap, time::Duration};

use bytes::Bytes;

use crate::{ApiError, Rng, Verb};

/// Which requests a fault is for. Everything that is not named may be anything.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct On {
    verbs: Vec<Verb>,
    resource: Option<String>,
    path: Option<String>,
    query: Vec<(String, String)>,
}

impl On {
    /// Any request.
    pub fn any() -> Self {
        Self::default()
    }

    /// Lists.
    pub fn list() -> Self {
        Self::verb(Verb::List)
    }

    /// Watches, streaming lists included.
    pub fn watch() -> Self {
        Self {
            verbs: vec![Verb::Watch, Verb::StreamingList],
            ..Self::default()
        }
    }

    /// Streaming lists.
    pub fn streaming_list() -> Self {
        Self::verb(Verb::StreamingList)
    }

    /// Requests of this verb.
    pub fn verb(verb: Verb) -> Self {
        Self {
            verbs: vec![verb],
            ..Self::default()
        }
    }

    /// Writes of all kinds.
    pub fn write() -> Self {
        Self {
            verbs: vec![
                Verb::Create,
                Verb::Update,
                Verb::Patch,
                Verb::Delete,
                Verb::DeleteCollection,
            ],
            ..Self::default()
        }
    }

    /// About the resource of this plural name.
    pub fn of(mut self, plural: &str) -> Self {
        self.resource = Some(plural.to_owned());
        self
    }

    /// Of paths that begin like this.
    pub fn path(mut self, prefix: &str) -> Self {
        self.path = Some(prefix.to_owned());
        self
    }

    /// With this query parameter; an empty value also stands for its absence.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.query.push((name.to_owned(), value.to_owned()));
        self
    }

    fn matches(&self, verb: Verb, resource: &str, path: &str, query: &BTreeMap<String, String>) -> bool {
        let parameter =
            |(name, value): &(String, String)| query.get(name).map_or("", String::as_str) == value;
        (self.verbs.is_empty() || self.verbs.contains(&verb))
            && self.resource.as_deref().is_none_or(|it| it == resource)
            && self.path.as_deref().is_none_or(|prefix| path.starts_with(prefix))
            && self.query.iter().all(parameter)
    }
}

/// What goes wrong.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Fault {
    /// The connection is refused.
    Refused,
    /// The connection is cut before an answer.
    HangUp,
    /// No answer ever comes.
    Silence,
    /// The answer is this failure: 401, 403, 404, 410, 429, 5xx, a version that is too large.
    Status(ApiError),
    /// The answer comes late: a slow page.
    Delay(Duration),
    /// The answer comes from a replica that is this many revisions behind, and catches up after a while. Reads without a version do not
    /// mind: they are answered by the leader.
    Lag {
        /// How far behind.
        revisions: u64,
        /// When it has caught up.
        catches_up_in: Duration,
    },
    /// The answer begins well, and its body ends badly.
    Body(Plan),
}

impl Fault {
    /// The connection is cut after this many events of a watch; a list is cut before its body.
    #[must_use]
    pub fn cut_after(events: usize) -> Self {
        Self::Body(Plan::new(events, Limit::Events, Ending::Cut))
    }

    /// The connection is cut in the middle of the event after this many; a list in the middle of its body.
    #[must_use]
    pub fn half_line_after(events: usize) -> Self {
        Self::Body(Plan::new(events, Limit::Half, Ending::Cut))
    }

    /// The connection is cut after this many bytes of body.
    #[must_use]
    pub fn cut_at_byte(bytes: usize) -> Self {
        Self::Body(Plan::new(bytes, Limit::Bytes, Ending::Cut))
    }

    /// The body ends cleanly after this many events: a watch closed by the server.
    #[must_use]
    pub fn end_after(events: usize) -> Self {
        Self::Body(Plan::new(events, Limit::Events, Ending::End))
    }

    /// Nothing comes after this many events, not even an end.
    #[must_use]
    pub fn silence_after(events: usize) -> Self {
        Self::Body(Plan::new(events, Limit::Events, Ending::Silence))
    }

    /// After this many events of a watch comes an ERROR event with this failure, then the end.
    #[must_use]
    pub fn error_after(events: usize, error: ApiError) -> Self {
        Self::Body(Plan::new(events, Limit::Events, Ending::Error(error)))
    }
}

/// How the body of an answer goes wrong. Made by the constructors of [`Fault`].
#[derive(Debug, Clone)]
pub struct Plan {
    left: usize,
    limit: Limit,
    ending: Ending,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    Events,
    Bytes,
    /// After so many events, half of the next.
    Half,
}

#[derive(Debug, Clone)]
pub(crate) enum Ending {
    Cut,
    End,
    Silence,
    Error(ApiError),
}

impl Plan {
    fn new(left: usize, limit: Limit, ending: Ending) -> Self {
        Self { left, limit, ending }
    }

    /// How the body ends, if it ends before its next chunk.
    pub(crate) fn due(&mut self) -> Option<Ending> {
        (self.left == 0 && self.limit != Limit::Half).then(|| self.ending.clone())
    }

    /// What of the next chunk still passes.
    pub(crate) fn pass(&mut self, chunk: Bytes) -> Bytes {
        match self.limit {
            Limit::Events => {
                self.left -= 1;
                chunk
            }
            Limit::Bytes => {
                let n_passing = chunk.len().min(self.left);
                self.left -= n_passing;
                chunk.slice(..n_passing)
            }
            Limit::Half if self.left > 0 => {
                self.left -= 1;
                chunk
            }
            Limit::Half => {
                self.limit = Limit::Events;
                chunk.slice(..chunk.len() / 2)
            }
        }
    }
}

#[derive(Debug, Clone)]
struct Rule {
    on: On,
    skip: u32,
    times: Option<u32>,
    fault: Fault,
}

#[derive(Debug, Clone)]
struct Chaos {
    rng: Rng,
    on: On,
    rate: f64,
    faults: Vec<Fault>,
}

/// What goes wrong, by script (rules, the first that fits) and by seed (chaos, for requests that no rule hit).
#[derive(Debug, Clone, Default)]
pub struct Faults {
    rules: Vec<Rule>,
    chaos: Option<Chaos>,
    n_drawn: u64,
}

impl Faults {
    /// The next request that fits.
    pub fn once(&mut self, on: On, fault: Fault) -> &mut Self {
        self.times(1, on, fault)
    }

    /// The next so many requests that fit.
    pub fn times(&mut self, times: u32, on: On, fault: Fault) -> &mut Self {
        self.rule(on, 0, Some(times), fault)
    }

    /// Every request that fits.
    pub fn always(&mut self, on: On, fault: Fault) -> &mut Self {
        self.rule(on, 0, None, fault)
    }

    /// The request that fits after so many others that did.
    pub fn after(&mut self, skip: u32, on: On, fault: Fault) -> &mut Self {
        self.rule(on, skip, Some(1), fault)
    }

    /// From now on, of the requests that fit, this share meets one of these faults, by seed.
    pub fn chaos(&mut self, seed: u64, rate: f64, on: On, faults: Vec<Fault>) -> &mut Self {
        self.chaos = Some(Chaos {
            rng: Rng::new(seed),
            on,
            rate,
            faults,
        });
        self
    }

    /// Nothing goes wrong any more, but for what already is.
    pub fn clear(&mut self) {
        self.rules.clear();
        self.chaos = None;
    }

    /// How many requests met a fault.
    #[must_use]
    pub fn n_drawn(&self) -> u64 {
        self.n_drawn
    }

    /// How many rules still wait for their requests.
    #[must_use]
    pub fn n_rules(&self) -> usize {
        self.rules.len()
    }

    fn rule(&mut self, on: On, skip: u32, times: Option<u32>, fault: Fault) -> &mut Self {
        self.rules.push(Rule {
            on,
            skip,
            times,
            fault,
        });
        self
    }

    /// The fault for a request.
    pub(crate) fn draw(
        &mut self,
        verb: Verb,
        resource: &str,
        path: &str,
        query: &BTreeMap<String, String>,
    ) -> Option<Fault> {
        let mut drawn = None;
        for rule in &mut self.rules {
            if !rule.on.matches(verb, resource, path, query) {
                continue;
            }
            if rule.skip > 0 {
                rule.skip -= 1;
                continue;
            }
            if let Some(times) = &mut rule.times {
                *times = times.saturating_sub(1);
            }
            drawn = Some(rule.fault.clone());
            break;
        }
        self.rules.retain(|rule| rule.times != Some(0));
        if drawn.is_none()
            && let Some(chaos) = &mut self.chaos
            && chaos.on.matches(verb, resource, path, query)
            && !chaos.faults.is_empty()
            && chaos.rng.chance(chaos.rate)
        {
            let index = chaos.rng.index(chaos.faults.len());
            drawn = Some(chaos.faults[index].clone());
        }
        self.n_drawn += u64::from(drawn.is_some());
        drawn
    }
}
