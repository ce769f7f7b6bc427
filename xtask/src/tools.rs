//! Cargo's helpers that a machine may lack.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::Result;
use crate::process::{cargo, run as execute};

/// The program of this name; installed below `target/tools` where the machine has none.
pub(crate) fn provide(root: &Path, name: &str) -> Result<PathBuf> {
    let tools = root.join("target/tools");
    let own = tools
        .join("bin")
        .join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    for candidate in [PathBuf::from(name), own.clone()] {
        let version = Command::new(&candidate)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if version.is_ok_and(|status| status.success()) {
            return Ok(candidate);
        }
    }
    eprintln!("xtask: installing {name}, once; takes some minutes");
    let mut install = cargo(root, &["install", "--locked", "--quiet", name, "--root"]);
    // Its own target folder, or it would share a lock with a build that is running.
    let build = tools.join("target");
    execute(install.arg(&tools).env("CARGO_TARGET_DIR", &build))?;
    std::fs::remove_dir_all(build)?;
    Ok(own)
}
