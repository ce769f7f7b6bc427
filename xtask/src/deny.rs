//! Licences, sources and duplicates of what we depend on, through cargo-deny and `deny.toml`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;
use crate::process::{cargo, run as execute};

/// Checks; installs cargo-deny below `target/tools` where the machine has none.
pub(crate) fn run(root: &Path) -> Result {
    let deny = program(root)?;
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

fn program(root: &Path) -> Result<PathBuf> {
    let tools = root.join("target/tools");
    let own = tools
        .join("bin")
        .join(format!("cargo-deny{}", std::env::consts::EXE_SUFFIX));
    for candidate in [PathBuf::from("cargo-deny"), own.clone()] {
        let version = Command::new(&candidate)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if version.is_ok_and(|status| status.success()) {
            return Ok(candidate);
        }
    }
    eprintln!("xtask: installing cargo-deny, once; takes some minutes");
    let mut install = cargo(root, &["install", "--locked", "--quiet", "cargo-deny", "--root"]);
    // Its own target folder, or it would share a lock with a build that is running.
    execute(install.arg(&tools).env("CARGO_TARGET_DIR", tools.join("target")))?;
    std::fs::remove_dir_all(tools.join("target"))?;
    Ok(own)
}
