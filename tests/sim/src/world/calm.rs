//! The calm after the chaos: nothing goes wrong any more, and everything must come right. Then everything is stopped.

use std::{mem, sync::atomic::Ordering, time::Duration};

use informer_core::Clock as _;
use informer_testkit::FakeApi;

use super::World;
use crate::{
    op::Ending,
    outcome::Violation,
    thing::{self, Color},
};

/// A connection that fell silent is noticed when its watch is long over: ten minutes and a grace time. Then come a back-off of a minute
/// and a streaming list and a list that may each have fallen silent as well.
const PATIENCE: Duration = Duration::from_secs(1500);

impl World {
    /// Ends all faults, and waits until every cache is what the server has.
    pub(super) async fn calm(&mut self) -> Result<(), Violation> {
        self.api.with(|api| {
            api.faults().clear();
            api.set_down(false);
        });
        self.network.calm();
        self.find_the_way().await?;
        self.change(thing::serve_custom);
        self.calm_mill();
        self.calm_election()?;
        for member in &self.members {
            member.sure.store(true, Ordering::Relaxed);
            member.handlers.iter().for_each(|handler| handler.mood.calm());
        }
        if let Some(steward) = &self.steward {
            steward.mood.calm();
        }
        self.trace.line(self.clock.elapsed(), format_args!("calm"));
        if self.rng.chance(0.5) {
            self.api.with(FakeApi::cut_connections);
        }
        self.converge().await?;
        // It does not only agree, it follows.
        for at in 0..self.members.len() {
            let kind = self.members[at].config.kind;
            self.put(kind, 0, Color::Red);
            self.change(|api| api.delete(&thing::resource(kind), Some("b"), "o1"))
                .ok();
        }
        self.converge().await
    }

    /// Nothing may be written before everybody knows of a restore.
    async fn find_the_way(&mut self) -> Result<(), Violation> {
        let end = self.clock.now() + PATIENCE;
        self.settle().await?;
        while !self.astray.is_empty() {
            let Some(next) = self.clock.next_sleeper().filter(|next| *next <= end) else {
                let what = format!("{:?} never noticed that the server went back", self.astray);
                return Err(Violation::new("restore", what));
            };
            self.clock.advance_to(next);
            self.settle().await?;
        }
        Ok(())
    }

    async fn converge(&mut self) -> Result<(), Violation> {
        let end = self.clock.now() + PATIENCE;
        loop {
            self.settle().await?;
            let Some(mut lacks) = self.lacks() else {
                return Ok(());
            };
            match self.clock.next_sleeper().filter(|next| *next <= end) {
                Some(next) => self.clock.advance_to(next),
                None => {
                    let late = format!(", {} s after the last fault", PATIENCE.as_secs());
                    lacks.what.push_str(&late);
                    return Err(lacks);
                }
            }
        }
    }

    /// What is not yet as it must become.
    fn lacks(&self) -> Option<Violation> {
        let (revision, n_exchanges) = self.api.with(|api| (api.revision(), api.n_exchanges()));
        let view = self.view(revision, n_exchanges);
        let mut invariants = self.invariants.iter();
        let lacks =
            invariants.find_map(|invariant| Some(Violation::of(&**invariant, invariant.lacks(&view)?)));
        lacks.or_else(|| {
            let is_there = |id: u32| self.members.iter().any(|member| member.id == id);
            let (id, _) = self.waiting.iter().find(|(id, _)| is_there(*id))?;
            let what = format!("somebody still waits for a version of i{id}");
            Some(Violation::new("wait_for", what))
        })
    }

    /// Stops everything, and looks for what is left.
    pub(super) async fn end(&mut self) -> Result<(), Violation> {
        while !self.members.is_empty() {
            let orderly = self.rng.chance(0.5);
            self.stop_client(0, orderly);
        }
        for (_, task) in mem::take(&mut self.waiting) {
            task.abort();
        }
        self.drain_mill(Ending::Now, Duration::ZERO);
        self.end_election();
        // Calls of handlers that were under way are theirs to end.
        self.pass(Duration::from_secs(60)).await?;
        let n_exchanges = self.api.with(|api| api.n_exchanges());
        let n_tasks = tokio::runtime::Handle::current().metrics().num_alive_tasks();
        let n_sleepers = self.clock.n_sleepers();
        if n_exchanges + n_tasks + n_sleepers == 0 && self.leaving.is_empty() {
            return Ok(());
        }
        Err(Violation::new(
            "nothing is left",
            format!(
                "a minute after all was stopped there are {n_exchanges} requests, {n_tasks} tasks, {n_sleepers} timers"
            ),
        ))
    }
}
