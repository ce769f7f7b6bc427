//! `examples`: every example of the workspace is run; each ends by itself, and its exit code counts.

use std::path::Path;
use std::process::Command;

use cargo_metadata::MetadataCommand;

use crate::Result;
use crate::process::{capture, cargo, run as execute};

/// What an example may take, in seconds, on a busy machine.
const LIMIT: &str = "120";

pub(crate) fn run(root: &Path) -> Result {
    // The same selection as that of the tests, so that nothing is compiled again.
    execute(&mut cargo(
        root,
        &["build", "--quiet", "--workspace", "--all-features", "--examples"],
    ))?;
    let metadata = MetadataCommand::new().current_dir(root).no_deps().exec()?;
    let built = metadata.target_directory.join("debug/examples");
    let packages = metadata.workspace_packages();
    let examples: Vec<&str> = packages
        .iter()
        .flat_map(|package| &package.targets)
        .filter(|target| target.is_example())
        .map(|target| target.name.as_str())
        .collect();
    for example in &examples {
        let printed = capture(Command::new("timeout").arg(LIMIT).arg(built.join(example)))?;
        let last = printed.lines().last().unwrap_or_default();
        eprintln!("{example}: {last}");
    }
    if examples.is_empty() {
        return Err("there is no example".into());
    }
    Ok(())
}
