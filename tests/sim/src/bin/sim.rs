//! `sim`: runs seeds, and says which fail.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

use std::process::ExitCode;

use sim_tests::{Plan, run, run_twice};

fn main() -> ExitCode {
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|it| it.parse().ok()).collect();
    let (first, n) = (arguments.first().copied().unwrap_or(0), arguments.get(1).copied().unwrap_or(100));
    let mut steps = 0;
    let mut bad = 0;
    for seed in first..first + n {
        let plan = Plan::of_seed(seed);
        let outcome = run_twice(&plan);
        steps += outcome.n_steps;
        if let Some(violation) = outcome.violation {
            println!("seed {seed}: {violation}");
            bad += 1;
            if n == 1 {
                for line in run(&plan, true).lines {
                    eprintln!("{line}");
                }
            }
        }
    }
    println!("{n} seeds, {steps} steps, {bad} bad");
    ExitCode::SUCCESS
}
