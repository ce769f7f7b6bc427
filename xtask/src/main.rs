//! The project's one door for developers: `cargo xtask COMMAND`.
//!
//! | command | what it does |
//! |---|---|
//! | `test [--quick]` | every test; `--quick` leaves out the tier that needs a real API server |
//! | `ci [--long]` | everything that must hold before a change goes in, with the time of each step |
//! | `assets` | locates or builds etcd, kube-apiserver and the client-go harness, prints their folder |
//! | `parity [--cases N]` | random operations through client-go and through ours, compared step by step |
//! | `sim [--seeds N]` | informers, work queues and controllers in simulated worlds; `--mutations` shows that they find bugs |
//! | `fuzz [TARGET] [--seconds N]` | bytes thrown at the decoders and parsers, from the kept corpus |
//! | `layers` | proves that dependencies go strictly down and that pure crates hold no runtime |
//! | `tidy` | house rules on sources and manifests, and the tables from the seeds and from client-go's tests to ours |
//! | `examples` | runs every example |
//! | `deps` | size of each crate's dependency closure, and who uses the committed packages |
//! | `release plan` / `release verify` | what a release would do, and whether each package stands alone |
//!
//! One file per command. Checks are plain functions that return findings, so that they are tests too.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the terminal"
)]

mod assets;
mod ci;
mod deny;
mod deps;
mod examples;
mod flags;
mod fuzz;
mod layers;
mod loom;
mod msrv;
mod parity;
mod process;
mod release;
mod sim;
mod test;
mod tidy;
mod tools;
mod workspace;

use std::process::ExitCode;

use flags::{ReleaseCmd, Xtask, XtaskCmd};

/// What a command returns: a sentence for the person, nothing to match on.
type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    match run(Xtask::from_env_or_exit()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: Xtask) -> Result {
    let root = workspace::root();
    match flags.subcommand {
        XtaskCmd::Assets(_) => {
            println!("{}", assets::provide(&root)?.display());
            Ok(())
        }
        XtaskCmd::Parity(parity) => parity::run(&root, &parity),
        XtaskCmd::Sim(sim) => sim::run(&root, &sim),
        XtaskCmd::Fuzz(fuzz) => fuzz::run(&root, &fuzz),
        XtaskCmd::Layers(_) => layers::run(&root),
        XtaskCmd::Tidy(_) => tidy::run(&root),
        XtaskCmd::Deps(_) => deps::run(&root),
        XtaskCmd::Examples(_) => examples::run(&root),
        XtaskCmd::Test(test) => {
            test::run(&root, test.quick)?;
            if test.quick {
                Ok(())
            } else {
                parity::some(&root, parity::IN_TEST)
            }
        }
        XtaskCmd::Ci(ci) => ci::run(&root, ci.long),
        XtaskCmd::Release(release) => match release.subcommand {
            ReleaseCmd::Plan(_) => release::plan::run(&root),
            ReleaseCmd::Verify(_) => release::verify::run(&root),
        },
    }
}

/// Prints findings, one a line, and turns any into a failure.
fn report(check: &str, findings: &[String]) -> Result {
    for finding in findings {
        eprintln!("{check}: {finding}");
    }
    match findings.len() {
        0 => {
            eprintln!("{check}: ok");
            Ok(())
        }
        n => Err(format!("{check}: {n} finding{}", if n == 1 { "" } else { "s" }).into()),
    }
}
