//! `ci`: everything that must hold before a change goes in, with the time of each step.
//!
//! From nothing on two cores it stays below 45 minutes. Steps share one profile and one set of features per kind of
//! build (check for clippy and documentation, dev for tests, release for the program), so that nothing is compiled twice.
//! A failed step does not stop the others: one run tells all there is to repair.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::process::{KUBERNETES, capture, cargo, run as execute};
use crate::workspace::Workspace;
use crate::{
    Result, assets, deny, deps, examples, fuzz, layers, loom, msrv, parity, release, sim, test, tidy,
};

/// What a run from nothing may take.
const LIMIT: Duration = Duration::from_secs(45 * 60);

type Step = (&'static str, fn(&Path) -> Result);

/// Cheap ones first.
const STEPS: [Step; 17] = [
    ("format", |root| {
        execute(&mut cargo(root, &["fmt", "--all", "--check"]))
    }),
    ("lock file", |root| {
        capture(&mut cargo(root, &["metadata", "--locked", "--format-version=1"])).map(drop)
    }),
    ("layers", layers::run),
    ("tidy", tidy::run),
    ("deps", deps::run),
    ("clippy", |root| {
        let flags = [
            "--workspace",
            "--all-targets",
            "--all-features",
            "--",
            "-D",
            "warnings",
        ];
        execute(cargo(root, &["clippy", "--quiet"]).args(flags))
    }),
    ("msrv", msrv::run),
    ("documentation", |root| {
        let mut doc = cargo(
            root,
            &["doc", "--quiet", "--workspace", "--all-features", "--no-deps"],
        );
        execute(doc.env("RUSTDOCFLAGS", "-D warnings"))
    }),
    ("deny", deny::run),
    ("assets", |root| {
        for folder in [assets::provide(root)?, assets::oracles(root)?] {
            eprintln!("{}", folder.display());
        }
        Ok(())
    }),
    ("vet harness", vet_harness),
    ("test", |root| test::run(root, false)),
    ("parity", |root| parity::some(root, parity::IN_CI)),
    ("simulate", sim::in_ci),
    ("examples", examples::run),
    ("build program", |root| {
        execute(&mut cargo(
            root,
            &["build", "--release", "--quiet", "-p", "informer-cli"],
        ))
    }),
    ("run program", run_program),
];

/// What `--long` adds.
const LONG: [Step; 6] = [
    ("stress", stress),
    ("real loops", real_loops),
    ("loom", loom::run),
    ("fuzz", fuzz::all),
    ("release verify", release::verify::run),
    ("feature sets", feature_sets),
];

pub(crate) fn run(root: &Path, long: bool) -> Result {
    #[expect(
        clippy::disallowed_methods,
        reason = "the time of each step is what this prints"
    )]
    let now = Instant::now;
    let began = now();
    let mut rows: Vec<(&str, Duration, Result)> = Vec::new();
    for (name, step) in STEPS.into_iter().chain(LONG.into_iter().filter(|_| long)) {
        eprintln!("\n=== {name}");
        let began = now();
        let result = step(root);
        if let Err(error) = &result {
            eprintln!("xtask: {name}: {error}");
        }
        rows.push((name, began.elapsed(), result));
    }
    let took = began.elapsed();
    println!("\n{:<20} {:>8}  result", "step", "time");
    for (name, took, result) in &rows {
        let result = result.as_ref().map_or_else(|_| "FAILED", |()| "ok");
        println!("{name:<20} {:>8}  {result}", minutes(*took));
    }
    println!("{:<20} {:>8}  of {}", "all", minutes(took), minutes(LIMIT));
    let failed: Vec<&str> = rows
        .iter()
        .filter(|(_, _, result)| result.is_err())
        .map(|(name, _, _)| *name)
        .collect();
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("failed: {}", failed.join(", ")).into())
    }
}

/// Go's own checks on the harness and the oracles; after the assets, whose build has compiled what they import.
fn vet_harness(root: &Path) -> Result {
    for module in ["harness", "oracle", "oracle-v030", "oracle/common"] {
        let folder = root.join("tests/reference").join(module);
        let unformatted = capture(Command::new("gofmt").current_dir(&folder).args(["-l", "."]))?;
        if !unformatted.trim().is_empty() {
            return Err(format!("gofmt would change {}", unformatted.trim()).into());
        }
        execute(
            Command::new("go")
                .current_dir(&folder)
                .env("CGO_ENABLED", "0")
                .args(["vet", "-trimpath", "./..."]),
        )?;
    }
    Ok(())
}

/// The shared informer under everything at once, for half a minute with each queue instead of two seconds.
fn stress(root: &Path) -> Result {
    let mut test = cargo(
        root,
        &[
            "test",
            "--quiet",
            "-p",
            "informer-sharedinformer",
            "--test",
            "stress",
        ],
    );
    execute(test.env("INFORMER_STRESS_SECONDS", "30"))
}

/// The loops against real servers, for five minutes each with 5 000 objects instead of a few rounds with 300.
fn real_loops(root: &Path) -> Result {
    let mut test = cargo(
        root,
        &[
            "test",
            "--quiet",
            "-p",
            "apiserver-tests",
            "--test",
            "it",
            "loops::",
            "--",
            "--nocapture",
            // They mostly wait for a server.
            "--test-threads=4",
        ],
    );
    test.env(assets::VARIABLE, assets::provide(root)?);
    execute(test.env("INFORMER_LOOP_SECONDS", "300"))
}

/// The README's main command, for some seconds, piped: it ends by itself, with objects to show.
fn run_program(root: &Path) -> Result {
    let arguments = ["run", "--release", "--quiet", "-p", "informer-cli", "--"];
    let mut program = cargo(root, &arguments);
    program.args(["watch", "pods", "--for", "5s", "--embedded"]);
    let printed = capture(&mut program)?;
    let n_lines = printed.lines().count();
    eprintln!(
        "the program printed {n_lines} lines, the first: {}",
        printed.lines().next().unwrap_or_default()
    );
    if n_lines < 10 {
        Err("the program showed fewer than ten lines".into())
    } else {
        Ok(())
    }
}

/// Each published crate with no features, and with each of its features alone.
fn feature_sets(root: &Path) -> Result {
    for (name, member) in Workspace::load(root)?.published() {
        let none = std::iter::once("");
        let features = member
            .features
            .iter()
            .map(String::as_str)
            .filter(|feature| *feature != "default");
        for feature in none.chain(features) {
            let flags = ["--package", name, "--no-default-features", "--features", feature];
            // Some code has no user with few features.
            let mut check = cargo(root, &["clippy", "--quiet", "--no-deps"]);
            let check = check.env(KUBERNETES.0, KUBERNETES.1).args(flags);
            execute(check.args(["--", "-D", "warnings"]))?;
        }
    }
    Ok(())
}

fn minutes(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_minutes_and_seconds() {
        assert_eq!(minutes(Duration::from_millis(61_900)), "1:01");
        assert_eq!(minutes(LIMIT), "45:00");
    }
}
