//! A world: one API server model, a network, clients with their informers and handlers, and the invariants that watch them.

mod apply;
mod calm;
mod client;
mod controller;
mod election;
mod handler;
mod mill;

use std::{
    collections::{BTreeMap, BTreeSet},
    mem,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use informer_controller::Controller;
use informer_core::{Clock, ObjectKey, Store};
use informer_sharedinformer::{Registration, SharedInformer};
use informer_testkit::{FakeApi, ManualClock, Options, Rng, SharedApi};
use informer_workqueue::Queue;
use tokio::task::JoinHandle;

use self::handler::Mood;
pub(crate) use self::{
    election::{Candidate, Election},
    mill::Mill,
};
use crate::{
    config::{Config, HandlerConfig, InformerConfig},
    fact::{Fact, HandlerId, InformerId, Probe},
    history::History,
    idle::Idle,
    invariants::{self, Invariant},
    net::Network,
    outcome::Violation,
    plan::Plan,
    thing::{self, Color, Thing},
    trace::Trace,
};

/// An informer of one life of its client.
pub(crate) struct Member {
    pub(crate) id: InformerId,
    pub(crate) config: InformerConfig,
    pub(crate) informer: SharedInformer<ObjectKey, Thing>,
    pub(crate) store: Arc<dyn Store<ObjectKey, Thing>>,
    pub(crate) handlers: Vec<Handler>,
    /// Its index functions fail no more.
    sure: Arc<AtomicBool>,
    task: JoinHandle<()>,
}

impl Member {
    /// Its index functions fail at times, so that what the store refuses comes late.
    pub(crate) fn is_unsure(&self) -> bool {
        self.config.index_fail_percent + self.config.index_panic_percent > 0
    }

    /// Whether the store refuses the latest state of an object, as it was told to.
    pub(crate) fn refuses(&self, key: &ObjectKey) -> bool {
        if !self.is_unsure() {
            return false;
        }
        let status = self.informer.status();
        let name = format!("{key:?}");
        status.refused > status.refusals.len() || status.refusals.iter().any(|it| *it.key == *name)
    }
}

/// A handler that was added and not removed.
pub(crate) struct Handler {
    pub(crate) id: HandlerId,
    pub(crate) config: HandlerConfig,
    pub(crate) registration: Registration,
    /// There is one for each informer, which misses nothing and merges nothing.
    pub(crate) is_reference: bool,
    mood: Arc<Mood>,
}

/// A controller that runs.
pub(crate) struct Steward {
    pub(crate) id: InformerId,
    controller: Controller<ObjectKey>,
    queue: Queue<ObjectKey, ManualClock>,
    task: JoinHandle<()>,
    mood: Arc<Mood>,
}

/// What invariants see.
pub(crate) struct View<'a> {
    pub(crate) now: Duration,
    pub(crate) revision: u64,
    pub(crate) history: &'a History,
    /// Those that were not told to stop.
    pub(crate) members: &'a [Member],
    pub(crate) steward: Option<&'a Steward>,
    pub(crate) mill: Option<&'a Mill>,
    pub(crate) candidates: &'a [Candidate],
    /// Clients that run, or were told to stop and still do.
    pub(crate) n_clients: usize,
    pub(crate) n_exchanges: usize,
}

pub(crate) struct World {
    config: Config,
    clock: ManualClock,
    api: SharedApi<ManualClock>,
    network: Arc<Network>,
    probe: Probe,
    idle: Idle,
    rng: Rng,
    history: History,
    members: Vec<Member>,
    /// Told to stop, and not known to have ended.
    leaving: Vec<JoinHandle<()>>,
    steward: Option<Steward>,
    mill: Option<Mill>,
    election: Option<Election>,
    /// Who works on work queues, fills them and waits for them.
    hands: Vec<JoinHandle<()>>,
    /// The version of the last thing that each informer was handed.
    positions: BTreeMap<InformerId, u64>,
    /// Informers that have not had a whole state since the last restore. While there are some, nothing is written: a version that comes
    /// again before they ask would be another one than they think, and nothing on the wire says so.
    astray: BTreeSet<InformerId>,
    /// Those who wait for a version that their informer must come to.
    waiting: Vec<(InformerId, JoinHandle<()>)>,
    next_id: u32,
    /// What the next write writes.
    next_n: u64,
    invariants: Vec<Box<dyn Invariant>>,
    trace: Trace,
    n_steps: u64,
}

impl World {
    pub(crate) fn new(config: &Config, idle: Idle, keep_trace: bool) -> Self {
        let clock = ManualClock::new();
        let mut options = Options::default();
        options.seed = config.seed;
        options.history = config.history.into();
        options.bookmark_every = Duration::from_secs(config.bookmark_s.into());
        options.streaming_lists = config.streaming_lists;
        options.request_log = 1;
        let api = SharedApi::new(FakeApi::with_builtins_and(options), clock.clone());
        let probe = Probe::new(clock.clone());
        let network = Network::new(
            api.clone(),
            probe.clone(),
            config.network.clone(),
            config.replicas,
        );
        Self {
            clock,
            network: Arc::new(network),
            api,
            probe,
            idle,
            rng: Rng::new(config.seed),
            history: History::default(),
            members: Vec::new(),
            leaving: Vec::new(),
            steward: None,
            mill: None,
            election: None,
            hands: Vec::new(),
            positions: BTreeMap::new(),
            astray: BTreeSet::new(),
            waiting: Vec::new(),
            next_id: 0,
            next_n: 0,
            invariants: invariants::all(),
            trace: Trace::new(keep_trace),
            n_steps: 0,
            config: config.clone(),
        }
    }

    /// Chaos, then calm, then the end.
    pub(crate) async fn live(&mut self, plan: &Plan) -> Result<(), Violation> {
        self.change(thing::serve_custom);
        for kind in 0..thing::KINDS {
            for slot in 0..self.config.initial.min(self.config.slots) {
                let color = Color::ALL[self.rng.index(3)];
                self.put(kind, slot, color);
            }
        }
        for at in 0..self.config.informers.len() {
            self.start_client(at)?;
        }
        self.open_mill();
        self.begin_election()?;
        for op in &plan.ops {
            self.trace.line(self.clock.elapsed(), format_args!("{op:?}"));
            self.apply(op).await?;
            self.look()?;
        }
        self.calm().await?;
        self.end().await
    }

    pub(crate) fn into_trace(self) -> (Trace, u64) {
        (self.trace, self.n_steps)
    }

    /// Looks at everything, and asks the invariants.
    fn look(&mut self) -> Result<(), Violation> {
        self.n_steps += 1;
        let facts = self.probe.take();
        self.follow(&facts);
        let mut invariants = mem::take(&mut self.invariants);
        let result = self.judge(&facts, &mut invariants);
        self.invariants = invariants;
        result
    }

    /// What was noted and not looked at yet counts for where they are, too.
    fn follow_now(&mut self) {
        let facts = self.probe.take();
        self.follow(&facts);
        self.probe.put_back(facts);
    }

    /// Where each informer is.
    fn follow(&mut self, facts: &[crate::fact::Noted]) {
        for noted in facts {
            match &noted.fact {
                Fact::Handed { informer, version } | Fact::Paged { informer, version } => {
                    self.positions.insert(*informer, *version);
                }
                Fact::Whole { informer, version } => {
                    self.positions.insert(*informer, *version);
                    self.astray.remove(informer);
                }
                Fact::Stopping { informer } => {
                    self.positions.remove(informer);
                    self.astray.remove(informer);
                }
                _ => {}
            }
        }
    }

    fn judge(
        &mut self,
        facts: &[crate::fact::Noted],
        invariants: &mut [Box<dyn Invariant>],
    ) -> Result<(), Violation> {
        let (revision, n_exchanges) = self.api.with(|api| (api.revision(), api.n_exchanges()));
        for noted in facts {
            self.trace.line(noted.at, format_args!("{}", noted.fact));
            let view = self.view(revision, n_exchanges);
            for invariant in &mut *invariants {
                let verdict = invariant.fact(noted, &view);
                verdict.map_err(|what| Violation::of(&**invariant, what))?;
            }
        }
        let view = self.view(revision, n_exchanges);
        for invariant in invariants {
            let verdict = invariant.step(&view);
            verdict.map_err(|what| Violation::of(&**invariant, what))?;
        }
        Ok(())
    }

    fn view(&self, revision: u64, n_exchanges: usize) -> View<'_> {
        View {
            now: self.clock.elapsed(),
            revision,
            history: &self.history,
            members: &self.members,
            steward: self.steward.as_ref(),
            mill: self.mill.as_ref(),
            candidates: self
                .election
                .as_ref()
                .map_or(&[], |election| &election.candidates),
            n_clients: self.members.len() + self.leaving.len(),
            n_exchanges,
        }
    }

    /// Lets everything run until nothing is ready, then asks the invariants, also what must hold when nothing moves.
    async fn settle(&mut self) -> Result<(), Violation> {
        let settled = self.idle.settle().await;
        settled.map_err(|_| Violation::new("livelock", "something runs on while time stands still"))?;
        self.look()?;
        let (revision, n_exchanges) = self.api.with(|api| (api.revision(), api.n_exchanges()));
        let mut invariants = mem::take(&mut self.invariants);
        let view = self.view(revision, n_exchanges);
        let verdict = invariants.iter_mut().try_for_each(|invariant| {
            let verdict = invariant.settled(&view);
            verdict.map_err(|what| Violation::of(&**invariant, what))
        });
        self.invariants = invariants;
        verdict?;
        self.reap()
    }

    /// Lets virtual time pass, from one thing that is due to the next.
    async fn pass(&mut self, period: Duration) -> Result<(), Violation> {
        let end = self.clock.now() + period;
        self.settle().await?;
        while let Some(next) = self.clock.next_sleeper().filter(|next| *next <= end) {
            self.clock.advance_to(next);
            self.settle().await?;
        }
        self.clock.advance_to(end);
        self.settle().await
    }

    /// A task that ended by a panic is a bug; one that has ended is forgotten.
    fn reap(&mut self) -> Result<(), Violation> {
        let mut panicked = Vec::new();
        let mut tasks: Vec<_> = mem::take(&mut self.leaving);
        tasks.retain_mut(|task| {
            let over = task.is_finished();
            if over {
                panicked.extend(outcome_of(task));
            }
            !over
        });
        self.leaving = tasks;
        self.hands.retain_mut(|task| {
            let over = task.is_finished();
            if over {
                panicked.extend(outcome_of(task));
            }
            !over
        });
        self.waiting.retain(|(_, task)| !task.is_finished());
        for member in &mut self.members {
            if member.task.is_finished() {
                panicked.extend(outcome_of(&mut member.task));
                panicked.push(format!("the run of i{} ended by itself", member.id));
            }
        }
        match panicked.pop() {
            Some(what) => Err(Violation::new("panic", what)),
            None => Ok(()),
        }
    }

    /// Changes the server, and writes down what that changed.
    fn change<R>(&mut self, change: impl FnOnce(&mut FakeApi) -> R) -> R {
        let history = &mut self.history;
        self.api.with(|api| history.record(api, change))
    }

    fn next_id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id
    }

    fn member(&self, nth: u8) -> usize {
        usize::from(nth) % self.members.len()
    }

    fn note(&self, fact: Fact) {
        self.probe.note(fact);
    }
}

/// How a task that is over ended, if that was by a panic.
fn outcome_of(task: &mut JoinHandle<()>) -> Option<String> {
    let waker = std::task::Waker::noop();
    let polled = std::pin::Pin::new(task).poll(&mut std::task::Context::from_waker(waker));
    match polled {
        std::task::Poll::Ready(Err(error)) if error.is_panic() => Some(error.to_string()),
        _ => None,
    }
}
