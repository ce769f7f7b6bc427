//! `sim`: runs seeds, and for one that fails says what, and how to see it again with as little as possible.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the terminal"
)]

use std::{process::ExitCode, time::Instant};

use flags::Sim;
use sim_tests::{Plan, run, run_many, run_twice, shrink};

mod flags {
    //! The command line.
    #![allow(
        missing_docs,
        missing_debug_implementations,
        unreachable_pub,
        dead_code,
        clippy::use_self,
        clippy::manual_let_else,
        reason = "written by the macro"
    )]

    use std::path::PathBuf;

    xflags::xflags! {
        /// Runs informers, work queues and controllers in simulated worlds.
        cmd sim {
            /// Run this seed alone, and print its trace.
            optional --seed seed: u64
            /// The first of many seeds; 0 by default.
            optional --first first: u64
            /// How many seeds; 1000 by default.
            optional --seeds seeds: u64
            /// Run the plan in this file, and print its trace.
            optional --plan path: PathBuf
            /// Stop at the first seed that fails.
            optional --until-failure
            /// Do not look for a smaller plan that fails.
            optional --no-shrink
            /// On so many threads; as many as there are processors by default.
            optional --threads n: usize
        }
    }
}

fn main() -> ExitCode {
    let flags = Sim::from_env_or_exit();
    let plan = match (&flags.plan, flags.seed) {
        (Some(path), _) => match read(path) {
            Ok(plan) => Some(plan),
            Err(error) => {
                eprintln!("sim: {}: {error}", path.display());
                return ExitCode::from(1);
            }
        },
        (None, Some(seed)) => Some(Plan::of_seed(seed)),
        (None, None) => None,
    };
    let ok = match plan {
        Some(plan) => one(&plan, !flags.no_shrink),
        None => many(&flags),
    };
    if ok { ExitCode::SUCCESS } else { ExitCode::from(2) }
}

fn read(path: &std::path::Path) -> Result<Plan, Box<dyn std::error::Error>> {
    Ok(Plan::parse(&std::fs::read_to_string(path)?)?)
}

/// Runs one plan and prints its trace.
fn one(plan: &Plan, shrinks: bool) -> bool {
    let outcome = run_twice(plan);
    for line in run(plan, true).lines {
        println!("{line}");
    }
    println!("trace {:016x}, {} steps", outcome.hash, outcome.n_steps);
    match outcome.violation {
        None => true,
        Some(violation) => {
            eprintln!("{violation}");
            if shrinks {
                print_small(plan);
            }
            false
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the rate is what is printed")]
fn many(flags: &Sim) -> bool {
    let (first, n_seeds) = (flags.first.unwrap_or(0), flags.seeds.unwrap_or(1000));
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let n_threads = flags.threads.unwrap_or_else(processors);
    let began = Instant::now();
    let report = run_many(first, n_seeds, n_threads, flags.until_failure);
    let seconds = began.elapsed().as_secs_f64();
    for (seed, violation) in &report.failures {
        println!("seed {seed}: {violation}");
    }
    if let (Some((seed, _)), false) = (report.failures.first(), flags.no_shrink) {
        eprintln!("the smallest plan that was found for seed {seed}:");
        print_small(&Plan::of_seed(*seed));
    }
    println!(
        "{} seeds from {first}, each twice: {} failed, {} steps, {} facts, {seconds:.1} s, {:.0} steps a second",
        report.n_seeds,
        report.failures.len(),
        report.n_steps,
        report.n_lines,
        2.0 * report.n_steps as f64 / seconds,
    );
    report.failures.is_empty()
}

fn print_small(plan: &Plan) {
    match shrink(plan) {
        None => eprintln!("# it does not fail again"),
        Some((small, violation)) => {
            for line in violation.to_string().lines() {
                eprintln!("# {line}");
            }
            eprint!("{small}");
        }
    }
}
