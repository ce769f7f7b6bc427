//! Plays random sequences through client-go and through ours, and compares them. `cargo xtask parity` builds what it needs and calls it.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for the terminal"
)]

use std::{
    error::Error,
    fs,
    hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher},
    path::Path,
    process::ExitCode,
    time::Instant,
};

use parity_tests::{
    Difference, Differences, Oracle, Report, campaign, folder, replay, suites, suites::kubeconfig,
};

mod flags;

use flags::Parity;

fn main() -> ExitCode {
    match run(&Parity::from_env_or_exit()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("parity: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(flags: &Parity) -> Result<(), Box<dyn Error>> {
    let oracles = Oracle::folder()?;
    let is_only = |name: &str| flags.suite.as_deref().is_none_or(|only| only == name);
    let mut findings = kubeconfig::replay(&oracles, flags.record && is_only("kubeconfig"))?;
    if flags.suite.as_deref() != Some("kubeconfig") {
        findings.extend(replay(&oracles, flags.record)?);
    }
    findings.iter().for_each(|finding| eprintln!("parity: {finding}"));
    let (cases, seed) = (flags.cases.unwrap_or(20_000), flags.seed.unwrap_or(1));
    let mut met = Differences::default();
    let mut failed = !findings.is_empty();
    println!(
        "{:<16} {:>9} {:>11} {:>8}",
        "suite", "sequences", "operations", "seconds"
    );
    let mut all = 0;
    for suite in suites::ALL {
        if !is_only(suite.name()) {
            continue;
        }
        let share = if flags.suite.is_some() { 100 } else { suite.share() };
        #[expect(clippy::disallowed_methods, reason = "the time is what this prints")]
        let began = Instant::now();
        let report = campaign(suite, &oracles, seed, (cases * share).div_ceil(100))?;
        println!(
            "{:<16} {:>9} {:>11} {:>8.1}",
            suite.name(),
            report.n_sequences,
            report.n_ops,
            began.elapsed().as_secs_f64()
        );
        all += report.n_sequences;
        met.add(&report.differences);
        failed |= keep(&report, seed)?;
    }
    println!("{all} sequences, seed {seed}");
    for (difference, n) in met.iter() {
        println!("  {n:>9} times {difference}");
    }
    // With many sequences, one that is met by none is no difference any more, or nobody looks for it.
    if cases >= 5_000 && flags.suite.is_none() {
        for difference in Difference::ALL
            .into_iter()
            .filter(|it| it.is_by_chance() && !met.has(*it))
        {
            failed = true;
            eprintln!("parity: {difference} was not met");
        }
    }
    if failed {
        Err("the two sides differ".into())
    } else {
        Ok(())
    }
}

/// Writes the failures down as traces. Says whether there are any.
fn keep(report: &Report, seed: u64) -> Result<bool, Box<dyn Error>> {
    for (trace, mismatch) in &report.failures {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(&trace.sequence.ops);
        let name = format!("{}-{hash:016x}.txt", trace.sequence.suite);
        let file = folder().join(&name);
        fs::write(&file, trace.write())?;
        eprintln!(
            "parity: {} differs with seed {seed}, kept as {}",
            trace.sequence.suite,
            shown(&file)
        );
        for op in &trace.sequence.ops {
            eprintln!("    {op}");
        }
        eprintln!("{mismatch}");
    }
    Ok(!report.failures.is_empty())
}

fn shown(file: &Path) -> String {
    let below = file.strip_prefix(folder()).unwrap_or(file);
    format!("tests/parity/traces/{}", below.display())
}
