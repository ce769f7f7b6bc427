//! One run of one plan, on a thread and a runtime of its own making.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{
    idle::Idle,
    outcome::{Outcome, Violation},
    plan::Plan,
    world::World,
};

/// Runs a plan. With `keep_trace` the outcome has the trace as text.
#[must_use]
pub fn run(plan: &Plan, keep_trace: bool) -> Outcome {
    let idle = Idle::default();
    let runtime = match idle.runtime() {
        Ok(runtime) => runtime,
        Err(error) => return failed(Violation::new("runtime", error.to_string())),
    };
    let mut world = World::new(&plan.config, idle, keep_trace);
    let lived = catch_unwind(AssertUnwindSafe(|| runtime.block_on(world.live(plan))));
    let violation = match lived {
        Ok(lived) => lived.err(),
        Err(_) => Some(Violation::new(
            "panic",
            "the world panicked, or foreign code on its stack",
        )),
    };
    let (trace, n_steps) = world.into_trace();
    Outcome {
        hash: trace.hash(),
        n_lines: trace.n_lines(),
        n_steps,
        violation,
        lines: trace.into_lines(),
    }
}

/// Runs a plan twice. Two different traces are a violation like any other.
#[must_use]
pub fn run_twice(plan: &Plan) -> Outcome {
    let first = run(plan, false);
    if first.violation.is_some() {
        return first;
    }
    let second = run(plan, false);
    if first.hash == second.hash {
        return first;
    }
    let what = difference(&run(plan, true).lines, &run(plan, true).lines);
    Outcome {
        violation: Some(Violation {
            name: "determinism".to_owned(),
            sentence: "Nothing observable depends on hash order, thread timing or wall time; the simulator gives the same trace for a seed."
                .to_owned(),
            what,
        }),
        ..first
    }
}

fn difference(left: &[String], right: &[String]) -> String {
    let same = left
        .iter()
        .zip(right)
        .take_while(|(left, right)| left == right)
        .count();
    let line = |lines: &[String]| lines.get(same).cloned().unwrap_or_else(|| "the end".to_owned());
    format!("line {}: {:?} and {:?}", same + 1, line(left), line(right))
}

fn failed(violation: Violation) -> Outcome {
    Outcome {
        hash: 0,
        n_steps: 0,
        n_lines: 0,
        violation: Some(violation),
        lines: Vec::new(),
    }
}
