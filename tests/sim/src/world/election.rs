//! An election among candidates whose clocks differ, on a server of its own, so that a restored etcd takes no lease back.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use informer_client::Client;
use informer_core::Clock;
use informer_leaderelection::{Elector, Event, Leadership, Lease, LeaseLock, MicroTime, Options, Term};
use informer_testkit::{FakeApi, ManualClock, SharedApi};
use serde_json::json;
use tokio::{sync::Notify, task::JoinHandle};

use super::World;
use crate::{
    config::{CandidateConfig, ElectionConfig},
    fact::{Fact, Probe},
    net::{Line, Post, Scribe},
    op::Fate,
    outcome::Violation,
    skew::SkewClock,
};

const NAMESPACE: &str = "default";
const NAME: &str = "world";

/// The candidates, and where their lease is.
pub(crate) struct Election {
    config: ElectionConfig,
    api: SharedApi<ManualClock>,
    pub(crate) candidates: Vec<Candidate>,
}

/// A process that takes part, over and over: what it loses it tries to get again, under a new name.
pub(crate) struct Candidate {
    place: usize,
    /// The election of its present life.
    leadership: Arc<Mutex<Option<Leadership>>>,
    line: Arc<Line>,
    stop: Arc<Notify>,
    /// `None`: it does not run.
    task: Option<JoinHandle<()>>,
}

impl Candidate {
    /// The term and the name that it leads under at this moment, by its own clock.
    pub(crate) fn leads(&self) -> Option<(String, Term)> {
        let leadership = self.leadership.lock().unwrap_or_else(PoisonError::into_inner);
        let leadership = leadership.as_ref()?;
        Some((leadership.identity().to_owned(), leadership.term()?))
    }

    pub(crate) fn runs(&self) -> bool {
        self.task.is_some()
    }
}

impl fmt::Debug for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidate")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl World {
    /// Begins the election, where the world has one.
    pub(super) fn begin_election(&mut self) -> Result<(), Violation> {
        let Some(config) = self.config.election.clone() else {
            return Ok(());
        };
        let mut options = informer_testkit::Options::default();
        options.seed = self.rng.bits();
        options.request_log = 1;
        let api = SharedApi::new(FakeApi::with_builtins_and(options), self.clock.clone());
        let candidates = (0..config.candidates.len()).map(|place| Candidate {
            place,
            leadership: Arc::default(),
            line: Arc::default(),
            stop: Arc::default(),
            task: None,
        });
        self.election = Some(Election {
            candidates: candidates.collect(),
            config,
            api,
        });
        let n_candidates = self.election.as_ref().map_or(0, |it| it.candidates.len());
        (0..n_candidates).try_for_each(|at| self.start_candidate(at))
    }

    fn start_candidate(&mut self, at: usize) -> Result<(), Violation> {
        let (id, rng) = (self.next_id(), self.rng.fork());
        let Some(election) = &mut self.election else {
            return Ok(());
        };
        let candidate = &mut election.candidates[at];
        if candidate.runs() {
            return Ok(());
        }
        candidate.stop = Arc::default();
        let config = &election.config;
        let mut options = Options::new("");
        options.lease_duration = Duration::from_millis(config.lease_ms.into());
        options.renew_deadline = Duration::from_millis(config.renew_ms.into());
        options.retry_period = Duration::from_millis(config.retry_ms.into());
        options.release_on_cancel = config.release;
        let of_it = config.candidates[candidate.place].clone();
        let clock = SkewClock::new(
            self.clock.clone(),
            Duration::from_secs(of_it.ahead_s.into()),
            of_it.rate,
        );
        let process = Process {
            id,
            options,
            clock,
            config: of_it,
            probe: self.probe.clone(),
            post: Post::new(
                election.api.clone(),
                config.post.clone(),
                candidate.line.clone(),
                Scribe {
                    candidate: id,
                    probe: self.probe.clone(),
                    holder,
                },
                rng,
            ),
            leadership: candidate.leadership.clone(),
            stop: candidate.stop.clone(),
        };
        #[expect(
            clippy::disallowed_methods,
            reason = "the world owns its tasks, and ends with its runtime"
        )]
        let task = tokio::spawn(process.live());
        candidate.task = Some(task);
        Ok(())
    }

    pub(super) fn move_candidate(&mut self, which: u8, fate: Fate) -> Result<(), Violation> {
        let Some(election) = &mut self.election else {
            return Ok(());
        };
        let at = usize::from(which) % election.candidates.len();
        let candidate = &mut election.candidates[at];
        match fate {
            Fate::Start => return self.start_candidate(at),
            Fate::Stop => {
                candidate.stop.notify_one();
                self.hands.extend(candidate.task.take());
            }
            Fate::Kill => {
                if let Some(task) = candidate.task.take() {
                    task.abort();
                    self.hands.push(task);
                }
            }
        }
        Ok(())
    }

    pub(super) fn cut_off(&self, which: u8, ms: u32) {
        if let Some(election) = &self.election {
            let at = usize::from(which) % election.candidates.len();
            let until = self.clock.now() + Duration::from_millis(ms.into());
            election.candidates[at].line.cut(until);
        }
    }

    /// Somebody else writes something into the lease that is none of the candidates' business.
    pub(super) fn touch_lease(&mut self) {
        let Some(election) = &self.election else { return };
        self.next_n += 1;
        let patch = json!({"metadata": {"annotations": {"example.com/touched": self.next_n.to_string()}}});
        let patch = informer_testkit::Patch::Merge(patch);
        // It may not be there yet.
        let _absent_at_worst = election
            .api
            .with(|api| api.patch(&Lease::resource(), Some(NAMESPACE), NAME, &patch));
    }

    /// All lines are good, and everybody runs.
    pub(super) fn calm_election(&mut self) -> Result<(), Violation> {
        let Some(election) = &self.election else {
            return Ok(());
        };
        let n_candidates = election.candidates.len();
        for candidate in &election.candidates {
            candidate.line.calm();
        }
        (0..n_candidates).try_for_each(|at| self.start_candidate(at))
    }

    /// Everybody stops, politely or not.
    pub(super) fn end_election(&mut self) {
        let Some(mut election) = self.election.take() else {
            return;
        };
        for candidate in &mut election.candidates {
            candidate.stop.notify_one();
            if let Some(task) = candidate.task.take() {
                if self.rng.chance(0.5) {
                    task.abort();
                }
                self.hands.push(task);
            }
        }
    }
}

/// Who holds the lease, by the server.
fn holder(api: &FakeApi) -> String {
    let lease = api.get(&Lease::resource(), Some(NAMESPACE), NAME).ok();
    let holder = lease
        .as_ref()
        .and_then(|lease| lease["spec"]["holderIdentity"].as_str());
    holder.unwrap_or_default().to_owned()
}

/// One process.
struct Process {
    id: u32,
    options: Options,
    clock: SkewClock,
    config: CandidateConfig,
    probe: Probe,
    post: Post,
    leadership: Arc<Mutex<Option<Leadership>>>,
    stop: Arc<Notify>,
}

impl Process {
    /// Takes part until it is told to stop.
    async fn live(self) {
        const PAUSE: Duration = Duration::from_secs(1);
        let mut stopped = false;
        for life in 1_u64.. {
            let Some(elector) = self.elector(life) else { return };
            *self.leadership.lock().unwrap_or_else(PoisonError::into_inner) = Some(elector.leadership());
            let stop = async {
                self.stop.notified().await;
                stopped = true;
            };
            let _how = elector.run(stop).await;
            if stopped {
                return;
            }
            tokio::select! {
                biased;
                () = self.stop.notified() => return,
                () = self.clock.sleep_until(self.clock.now() + PAUSE) => {}
            }
        }
    }

    fn elector(&self, life: u64) -> Option<Elector<LeaseLock<Post>>> {
        let mut options = self.options.clone();
        options.identity = format!("e{}.{life}", self.id).into();
        let lock = LeaseLock::new(&Client::new(self.post.clone()), NAMESPACE, NAME);
        let (clock, probe, id) = (self.clock.clone(), self.probe.clone(), self.id);
        let began = i64::from(self.config.wall_s) * 1_000_000;
        let elector = Elector::new(lock, options).ok()?;
        let elector = elector
            .clock(self.clock.clone())
            .wall_clock(move || {
                let passed = i64::try_from(clock.elapsed().as_micros()).unwrap_or_default();
                MicroTime::from_micros(began + passed)
            })
            .seed(u64::from(self.id) << 20 | life)
            .on_event(move |event| {
                let term = match event {
                    Event::BecameLeader { term, .. } => Some(term.clone()),
                    _ => None,
                };
                probe.note(Fact::Election {
                    candidate: id,
                    what: event.to_string(),
                    term,
                });
            });
        Some(elector)
    }
}
