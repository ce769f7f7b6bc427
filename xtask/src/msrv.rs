//! The oldest supported compiler: stated once, and used.

use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::process::{capture, run as execute};
use crate::workspace::Workspace;

/// All members state the same `rust-version`, and that compiler accepts the workspace.
///
/// Where the compiler at hand is of that very version, the other steps have shown it already.
pub(crate) fn run(root: &Path) -> Result {
    let workspace = Workspace::load(root)?;
    let mut stated: Vec<&str> = workspace
        .members
        .values()
        .map(|member| member.rust_version.as_deref().unwrap_or("none"))
        .collect();
    stated.sort_unstable();
    stated.dedup();
    let [msrv] = stated[..] else {
        return Err(format!("members state different `rust-version`s: {}", stated.join(", ")).into());
    };
    let running = capture(Command::new("rustc").arg("--version"))?;
    if running
        .split_whitespace()
        .nth(1)
        .is_some_and(|version| same(version, msrv))
    {
        eprintln!("msrv: {msrv} is the compiler of this run");
        return Ok(());
    }
    let flags = [
        "run",
        "--install",
        msrv,
        "cargo",
        "check",
        "--workspace",
        "--all-features",
    ];
    execute(Command::new("rustup").current_dir(root).args(flags))
}

/// `1.95` covers every patch release of it.
fn same(version: &str, msrv: &str) -> bool {
    version
        .strip_prefix(msrv)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minor_version_covers_its_patches_only() {
        assert!(same("1.95.0", "1.95") && same("1.95", "1.95"));
        assert!(!same("1.96.0", "1.95") && !same("1.950.0", "1.95"));
    }
}
