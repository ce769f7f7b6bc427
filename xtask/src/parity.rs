//! `parity`: random operations through client-go and through ours, compared step by step.
//!
//! Builds the oracles, then runs the program of `tests/parity`, which knows the rest.

use std::path::Path;

use crate::flags::Parity;
use crate::process::{cargo, run as execute};
use crate::{Result, assets};

/// What the programs are found by.
const VARIABLE: &str = "INFORMER_ORACLES";

/// Sequences in CI, over all suites.
pub(crate) const IN_CI: u64 = 20_000;
/// Sequences in a plain test run.
pub(crate) const IN_TEST: u64 = 2_000;

pub(crate) fn run(root: &Path, flags: &Parity) -> Result {
    let mut arguments = Vec::new();
    for (name, value) in [("--cases", flags.cases), ("--seed", flags.seed)] {
        arguments.extend(
            value
                .iter()
                .flat_map(|value| [name.to_owned(), value.to_string()]),
        );
    }
    arguments.extend(
        flags
            .suite
            .iter()
            .flat_map(|suite| ["--suite".to_owned(), suite.clone()]),
    );
    if flags.record {
        arguments.push("--record".to_owned());
    }
    start(root, &arguments)
}

/// So many sequences, from the usual seed.
pub(crate) fn some(root: &Path, cases: u64) -> Result {
    start(root, &["--cases".to_owned(), cases.to_string()])
}

fn start(root: &Path, arguments: &[String]) -> Result {
    let oracles = assets::oracles(root)?;
    let program = ["run", "--quiet", "-p", "parity-tests", "--bin", "parity", "--"];
    execute(cargo(root, &program).args(arguments).env(VARIABLE, oracles))
}
