//! `fuzz`: each fuzz target for some time, from its kept corpus.
//!
//! The packages in `crates/*/fuzz` are no members of the workspace: cargo-fuzz builds them with instrumentation, which stable Rust can do
//! without a sanitizer. What a target holds to lies in the crate's own tests, which replay the corpus in `tests/corpus` each time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::run as execute;
use crate::{Result, flags, tools};

/// For each target, if nobody says otherwise.
const SECONDS: u64 = 60;

/// One input may take so long, and the program so many mebibytes, before either counts as a finding.
const LIMITS: [&str; 2] = ["-timeout=20", "-rss_limit_mb=2048"];

/// A target: its crate's folder, and its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    folder: PathBuf,
    name: String,
}

pub(crate) fn run(root: &Path, flags: &flags::Fuzz) -> Result {
    some(root, flags.target.as_deref(), flags.seconds.unwrap_or(SECONDS))
}

/// A minute of each, as CI has it.
pub(crate) fn all(root: &Path) -> Result {
    some(root, None, SECONDS)
}

fn some(root: &Path, only: Option<&str>, seconds: u64) -> Result {
    let targets: Vec<Target> = targets(root)?
        .into_iter()
        .filter(|target| only.is_none_or(|name| target.name == name))
        .collect();
    if targets.is_empty() {
        return Err(format!("there is no fuzz target {:?}", only.unwrap_or_default()).into());
    }
    let program = tools::provide(root, "cargo-fuzz")?;
    let mut failed = Vec::new();
    for target in &targets {
        eprintln!("fuzz: {} for {seconds} s", target.name);
        if let Err(error) = one(root, &program, target, seconds) {
            eprintln!("fuzz: {}: {error}", target.name);
            failed.push(target.name.as_str());
        }
    }
    if failed.is_empty() {
        eprintln!("fuzz: ok, {} targets", targets.len());
        Ok(())
    } else {
        Err(format!("fuzz: findings in {}", failed.join(", ")).into())
    }
}

fn one(root: &Path, program: &Path, target: &Target, seconds: u64) -> Result {
    let build = root.join("target/fuzz");
    // What is found goes below `target`; the kept corpus is only read.
    let found = build.join("corpus").join(&target.name);
    let artifacts = build.join("artifacts").join(&target.name);
    fs::create_dir_all(&found)?;
    fs::create_dir_all(&artifacts)?;
    let mut fuzz = Command::new(program);
    fuzz.current_dir(root)
        .args(["fuzz", "run", "--sanitizer", "none"]);
    fuzz.arg("--fuzz-dir").arg(target.folder.join("fuzz"));
    fuzz.arg("--target-dir").arg(build.join("build"));
    fuzz.arg(&target.name).arg(&found);
    fuzz.arg(target.folder.join("tests/corpus").join(&target.name));
    fuzz.arg("--").args(LIMITS);
    fuzz.arg(format!("-max_total_time={seconds}"));
    fuzz.arg(format!("-artifact_prefix={}/", artifacts.display()));
    fuzz.arg("-verbosity=0");
    execute(&mut fuzz)
}

/// All targets, in the order of their crates.
fn targets(root: &Path) -> Result<Vec<Target>> {
    let mut targets = Vec::new();
    for entry in fs::read_dir(root.join("crates"))? {
        let folder = entry?.path();
        let Ok(files) = fs::read_dir(folder.join("fuzz/fuzz_targets")) else {
            continue;
        };
        for file in files {
            let file = file?.path();
            if let Some(name) = file.file_stem() {
                targets.push(Target {
                    folder: folder.clone(),
                    name: name.to_string_lossy().into_owned(),
                });
            }
        }
    }
    targets.sort();
    Ok(targets)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    /// Each target has a kept corpus, and a name of its own, by which it can be asked for.
    #[test]
    fn every_target_has_a_corpus_and_a_name_of_its_own() {
        let targets = targets(&workspace::root()).unwrap();
        assert!(targets.len() >= 6, "{targets:?}");
        let mut names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), targets.len(), "{targets:?}");
        for target in &targets {
            let corpus = target.folder.join("tests/corpus").join(&target.name);
            let n_files = fs::read_dir(&corpus).map_or(0, Iterator::count);
            assert!(n_files > 10, "{}: {n_files} files", corpus.display());
        }
    }
}
