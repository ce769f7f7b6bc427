//! Making a failing plan small: first without operations, then in a simpler world.

use crate::{
    config::{Config, HandlerConfig, Style},
    op::Op,
    plan::Plan,
    run::run,
    thing::Which,
};

/// How many runs a plan is worth.
const RUNS: u32 = 3000;

struct Search {
    /// The invariant that fails.
    name: String,
    best: Plan,
    runs: u32,
}

/// The smallest plan that was found to violate the same invariant as this one, and what it violates. `None` when this one violates none.
#[must_use]
pub fn shrink(plan: &Plan) -> Option<(Plan, crate::Violation)> {
    let violation = run(plan, false).violation?;
    let mut search = Search {
        name: violation.name,
        best: plan.clone(),
        runs: 0,
    };
    loop {
        let before = (search.best.ops.len(), search.best.to_string().len());
        search.drop_ops();
        search.simplify_config();
        search.simplify_ops();
        let after = (search.best.ops.len(), search.best.to_string().len());
        if after >= before || search.runs >= RUNS {
            break;
        }
    }
    let violation = run(&search.best, false).violation?;
    Some((search.best, violation))
}

impl Search {
    /// Takes a plan if it fails in the same way.
    fn try_plan(&mut self, plan: Plan) -> bool {
        if self.runs >= RUNS || plan == self.best {
            return false;
        }
        self.runs += 1;
        let fails = run(&plan, false)
            .violation
            .is_some_and(|violation| violation.name == self.name);
        if fails {
            self.best = plan;
        }
        fails
    }

    /// Leaves out runs of operations, long ones first.
    fn drop_ops(&mut self) {
        let mut length = self.best.ops.len().next_power_of_two();
        while length > 0 {
            let mut at = 0;
            while at < self.best.ops.len() {
                let mut plan = self.best.clone();
                let end = (at + length).min(plan.ops.len());
                plan.ops.drain(at..end);
                if !self.try_plan(plan) {
                    at += length;
                }
            }
            length /= 2;
        }
    }

    fn simplify_config(&mut self) {
        let simpler: [fn(&mut Config); 19] = [
            |config| config.controller = None,
            |config| config.mill = None,
            |config| config.election = None,
            |config| {
                if let Some(election) = &mut config.election {
                    let post = &mut election.post;
                    (post.refused_percent, post.late_percent, post.lost_percent) = (0, 0, 0);
                }
            },
            |config| {
                if let Some(election) = &mut config.election {
                    election.post.latency_ms = 0;
                }
            },
            |config| {
                for informer in &mut config.informers {
                    (informer.index_fail_percent, informer.index_panic_percent) = (0, 0);
                }
            },
            |config| config.informers.truncate(1),
            |config| {
                config.informers.pop();
            },
            |config| {
                if config.informers.len() > 1 {
                    config.informers.remove(0);
                }
            },
            |config| config.informers.iter_mut().for_each(|it| it.handlers.clear()),
            |config| {
                for informer in &mut config.informers {
                    informer.handlers.pop();
                }
            },
            |config| config.informers.iter_mut().for_each(|it| it.stutter_percent = 0),
            |config| config.informers.iter_mut().for_each(|it| it.resync_s = None),
            |config| config.informers.iter_mut().for_each(|it| it.which = Which::All),
            |config| config.informers.iter_mut().for_each(|it| it.page = None),
            |config| config.replicas = 1,
            |config| config.network.latency_us = 0,
            |config| (config.network.held_percent, config.network.split_percent) = (0, 0),
            |config| {
                for handler in config.informers.iter_mut().flat_map(|it| &mut it.handlers) {
                    *handler = HandlerConfig {
                        style: Style::Sync,
                        ..HandlerConfig::reference()
                    };
                }
            },
        ];
        for simplify in simpler {
            let mut plan = self.best.clone();
            simplify(&mut plan.config);
            if !plan.config.informers.is_empty() {
                self.try_plan(plan);
            }
        }
        for smaller in [0, 1, 3] {
            if smaller < self.best.config.initial {
                let mut plan = self.best.clone();
                plan.config.initial = smaller;
                self.try_plan(plan);
            }
        }
    }

    /// Smaller numbers in what is left.
    fn simplify_ops(&mut self) {
        for at in 0..self.best.ops.len() {
            let simpler: Vec<Op> = match &self.best.ops[at] {
                Op::Pass { ms } if *ms > 1 => vec![Op::Settle, Op::Pass { ms: 1 }],
                Op::Run { polls } if *polls > 1 => {
                    vec![Op::Run { polls: 1 }, Op::Run { polls: polls / 2 }]
                }
                Op::Burst { kind, n } if *n > 1 => vec![Op::Burst {
                    kind: *kind,
                    n: n / 2,
                }],
                Op::Chaos { on, percent, mishaps } if mishaps.len() > 1 => mishaps
                    .iter()
                    .map(|mishap| Op::Chaos {
                        on: *on,
                        percent: *percent,
                        mishaps: vec![*mishap],
                    })
                    .collect(),
                _ => Vec::new(),
            };
            for op in simpler {
                let mut plan = self.best.clone();
                plan.ops[at] = op;
                if self.try_plan(plan) {
                    break;
                }
            }
        }
    }
}
