//! `test`: every test there is, and the runners' closing lines at the end.
//!
//! One `cargo test` over the whole workspace, so that each crate is compiled once, with one set of features. The tests in
//! `tests/apiserver` find the real servers through the variable that is set here.

use std::collections::BTreeMap;
use std::path::Path;

use cargo_metadata::Message;

use crate::process::{capture, cargo, tee};
use crate::{Result, assets};

/// The package whose tests need real servers.
const REAL_TIER: &str = "apiserver-tests";
/// Where it lies, below `tests`.
const REAL_TIER_FOLDER: &str = "apiserver";

pub(crate) fn run(root: &Path, quick: bool) -> Result {
    let mut arguments = vec!["test", "--workspace", "--all-features", "--no-fail-fast"];
    let mut variables = Vec::new();
    if quick {
        arguments.extend(["--exclude", REAL_TIER]);
    } else {
        variables.push((assets::VARIABLE, assets::provide(root)?));
    }
    let programs = programs(root, &arguments)?;
    let mut closings = Closings {
        programs,
        lines: Vec::new(),
        current: String::new(),
    };
    let ok = tee(cargo(root, &arguments).envs(variables), |line| {
        closings.read(line)
    })?;
    closings.print();
    if quick {
        println!("left out, as asked by --quick: {REAL_TIER}, which needs etcd and kube-apiserver");
    }
    closings.judge(ok, (!quick).then_some(REAL_TIER_FOLDER))
}

/// Compiles the tests and returns which package each test program belongs to, by file name.
fn programs(root: &Path, arguments: &[&str]) -> Result<BTreeMap<String, String>> {
    let mut build = cargo(root, arguments);
    build.args(["--no-run", "--message-format=json-render-diagnostics"]);
    build.stderr(std::process::Stdio::inherit());
    let messages = capture(&mut build)?;
    let mut programs = BTreeMap::new();
    for message in Message::parse_stream(messages.as_bytes()) {
        let Message::CompilerArtifact(artifact) = message? else {
            continue;
        };
        if let Some(file) = artifact.executable.as_ref().and_then(|path| path.file_name()) {
            // The last part of the manifest's folder names the package: folders are named after them.
            let folder = artifact
                .manifest_path
                .parent()
                .and_then(|folder| folder.file_name());
            programs.insert(
                file.to_owned(),
                format!("{} {}", folder.unwrap_or_default(), artifact.target.name),
            );
        }
    }
    Ok(programs)
}

/// Collects, from cargo's merged output, how each test program ended.
#[derive(Debug)]
struct Closings {
    programs: BTreeMap<String, String>,
    /// What the runner says next belongs to this.
    current: String,
    lines: Vec<(String, Closing)>,
}

/// One `test result:` line.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
struct Closing {
    text: String,
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Closings {
    fn read(&mut self, line: &str) {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("Running ") {
            let file = rest.rsplit_once('(').map(|(_, path)| path.trim_end_matches(')'));
            let file = file.and_then(|path| Path::new(path).file_name()?.to_str());
            let known = file.and_then(|file| self.programs.get(file));
            self.current = known.map_or_else(|| rest.to_owned(), Clone::clone);
        } else if let Some(name) = line.strip_prefix("Doc-tests ") {
            self.current = format!("{} doc tests", name.replace('_', "-"));
        } else if let Some(closing) = Closing::parse(line) {
            self.lines.push((self.current.clone(), closing));
        }
    }

    fn print(&self) {
        println!("\nclosing lines of the test runners:");
        for (name, closing) in self.lines.iter().filter(|(_, closing)| closing.total() > 0) {
            println!("  {name:<48} {}", closing.text);
        }
        let sum = self.sum();
        println!(
            "{} test programs: {} passed, {} failed, {} ignored",
            self.lines.len(),
            sum.passed,
            sum.failed,
            sum.ignored
        );
    }

    fn sum(&self) -> Closing {
        self.lines
            .iter()
            .fold(Closing::default(), |sum, (_, closing)| Closing {
                text: String::new(),
                passed: sum.passed + closing.passed,
                failed: sum.failed + closing.failed,
                ignored: sum.ignored + closing.ignored,
            })
    }

    /// An ignored test is a failure: nobody would look at it again. So is a tier of which nothing ran.
    fn judge(&self, cargo_succeeded: bool, needed: Option<&str>) -> Result {
        let sum = self.sum();
        if let Some(needed) = needed {
            let mut of_it = self
                .lines
                .iter()
                .filter(|(name, _)| name.split(' ').next() == Some(needed));
            if !of_it.any(|(_, closing)| closing.passed + closing.failed > 0) {
                return Err(format!("no test of tests/{needed} ran").into());
            }
        }
        match (cargo_succeeded, sum.failed, sum.ignored) {
            (true, 0, 0) if sum.passed > 0 => Ok(()),
            (true, 0, 0) => Err("no test ran".into()),
            (true, 0, ignored) => Err(format!("{ignored} tests are ignored").into()),
            (_, failed, _) => Err(format!("tests failed ({failed} of them said so)").into()),
        }
    }
}

impl Closing {
    fn total(&self) -> u64 {
        self.passed + self.failed + self.ignored
    }

    fn parse(line: &str) -> Option<Self> {
        let text = line.strip_prefix("test result: ")?;
        let count = |what: &str| {
            let words: Vec<&str> = text.split([' ', ';']).filter(|word| !word.is_empty()).collect();
            words
                .windows(2)
                .find(|pair| pair[1] == what)
                .and_then(|pair| pair[0].parse().ok())
                .unwrap_or(0)
        };
        let (passed, failed, ignored) = (count("passed"), count("failed"), count("ignored"));
        Some(Self {
            text: text.to_owned(),
            passed,
            failed,
            ignored,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OK: &str =
        "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s";
    const BAD: &str =
        "test result: FAILED. 3 passed; 1 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.10s";

    fn read(lines: &[&str]) -> Closings {
        let programs = BTreeMap::from([("it-0a1b".to_owned(), "informer-store it".to_owned())]);
        let mut closings = Closings {
            programs,
            lines: Vec::new(),
            current: String::new(),
        };
        lines.iter().for_each(|line| closings.read(line));
        closings
    }

    #[test]
    fn a_closing_line_goes_to_the_program_that_ran_last() {
        let closings = read(&[
            "     Running tests/it/main.rs (target/debug/deps/it-0a1b)",
            "test a ... ok",
            OK,
            "   Doc-tests informer_store",
            BAD,
        ]);
        let names: Vec<&str> = closings.lines.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["informer-store it", "informer-store doc tests"]);
        let sum = closings.sum();
        assert_eq!((sum.passed, sum.failed, sum.ignored), (15, 1, 2));
    }

    #[test]
    fn only_a_run_with_tests_and_none_ignored_is_good() {
        assert!(read(&[OK]).judge(true, None).is_ok());
        assert!(read(&[OK]).judge(false, None).is_err());
        assert!(read(&[]).judge(true, None).is_err());
        assert!(
            read(&[&OK.replace("0 ignored", "1 ignored")])
                .judge(true, None)
                .is_err()
        );
        assert!(read(&[BAD]).judge(true, None).is_err());
    }

    #[test]
    fn a_tier_of_which_nothing_ran_is_a_failure() {
        let closings = read(&["Running tests/it/main.rs (target/debug/deps/it-0a1b)", OK]);
        assert!(closings.judge(true, Some("informer-store")).is_ok());
        assert!(closings.judge(true, Some("apiserver")).is_err());
    }
}
