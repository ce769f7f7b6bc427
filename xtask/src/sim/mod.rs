//! `sim`: informers, work queues and controllers in simulated worlds.
//!
//! Builds the program of `tests/sim` in a profile of its own, since many short runs are worth optimising, and hands the flags on.

mod mutations;

use std::path::Path;

use crate::Result;
use crate::flags::Sim;
use crate::process::{cargo, run as execute};

/// Seeds in CI, each run twice.
const IN_CI: u64 = 10_000;

pub(crate) fn run(root: &Path, flags: &Sim) -> Result {
    if flags.mutations {
        return mutations::run(root, flags.only.as_deref());
    }
    let mut arguments = Vec::new();
    let numbers = [("--seed", flags.seed), ("--first", flags.first)];
    for (name, value) in numbers {
        arguments.extend(
            value
                .iter()
                .flat_map(|value| [name.to_owned(), value.to_string()]),
        );
    }
    arguments.extend(["--seeds".to_owned(), flags.seeds.unwrap_or(IN_CI).to_string()]);
    let plans = flags.plan.iter();
    arguments.extend(plans.flat_map(|plan| ["--plan".to_owned(), plan.display().to_string()]));
    start(root, &arguments)
}

/// The seeds of CI.
pub(crate) fn in_ci(root: &Path) -> Result {
    start(root, &["--seeds".to_owned(), IN_CI.to_string()])
}

/// How the simulator is started.
const PROGRAM: [&str; 7] = ["run", "--quiet", "--profile", "sim", "-p", "sim-tests", "--"];

fn start(root: &Path, arguments: &[String]) -> Result {
    execute(cargo(root, &PROGRAM).args(arguments))
}
