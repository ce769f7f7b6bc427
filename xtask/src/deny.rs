//! Licences, sources and duplicates of what we depend on, through cargo-deny and `deny.toml`.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::process::run as execute;
use crate::{Result, tools};

/// Checks; installs cargo-deny below `target/tools` where the machine has none.
pub(crate) fn run(root: &Path) -> Result {
    let deny = tools::provide(root, "cargo-deny")?;
    execute(
        Command::new(&deny)
            .current_dir(root)
            .args(["check", "bans", "licenses", "sources"]),
    )?;
    advisories(root, &deny)
}

/// Known vulnerabilities, where their database can be reached. Elsewhere this is said, and is no failure: the checkout is
/// not to blame for a network.
fn advisories(root: &Path, deny: &Path) -> Result {
    let fetched = Command::new(deny)
        .current_dir(root)
        .args(["fetch", "db"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    if !fetched.success() {
        eprintln!("deny: NOT CHECKED: the advisory database cannot be reached from here");
        return Ok(());
    }
    execute(
        Command::new(deny)
            .current_dir(root)
            .args(["check", "--disable-fetch", "advisories"]),
    )
}
