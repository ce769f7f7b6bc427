//! `release verify`: packages every crate in publish order and compiles each package alone.
//!
//! What a package holds is not what the folder holds: files left out, dev-dependencies dropped, workspace fields
//! written out, paths replaced by versions. So the packages are unpacked into a scratch workspace, where the registry's
//! place is taken by the unpacked packages themselves, and each is compiled with its own default features, which shows a
//! crate that only compiled because a neighbour had switched a feature on.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::Result;
use crate::process::{KUBERNETES, cargo, run as execute};
use crate::workspace::Workspace;

pub(crate) fn run(root: &Path) -> Result {
    let workspace = Workspace::load(root)?;
    let order = workspace.publish_order()?;
    assert_complete(&workspace, &order)?;
    eprintln!("publish order: {}", order.join(", "));

    let scratch = root.join("target/release-verify");
    if scratch.exists() {
        fs::remove_dir_all(&scratch)?;
    }
    fs::create_dir_all(&scratch)?;
    package(root, &order, &scratch)?;
    for name in &order {
        let archive = format!("packed/package/{name}-{}.crate", workspace.members[*name].version);
        execute(
            Command::new("tar")
                .current_dir(&scratch)
                .args(["--extract", "--gzip", "--file", &archive]),
        )?;
    }
    fs::write(scratch.join("Cargo.toml"), scratch_manifest(&workspace, &order))?;
    // The versions that the tests ran with.
    fs::copy(root.join("Cargo.lock"), scratch.join("Cargo.lock"))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| root.join("target").into());
    for name in &order {
        // The scratch workspace shares our target folder, so what comes from the registry is compiled once.
        let mut check = cargo(&scratch, &["check", "--quiet", "--package", name]);
        check
            .env("CARGO_TARGET_DIR", &target)
            .env(KUBERNETES.0, KUBERNETES.1);
        execute(&mut check)?;
    }
    eprintln!("release verify: {} packages, each compiles alone", order.len());
    Ok(())
}

/// Every member is either in the order or says `publish = false`.
fn assert_complete(workspace: &Workspace, order: &[&str]) -> Result {
    for (name, member) in &workspace.members {
        if member.publish != order.contains(&name.as_str()) {
            return Err(format!("{name} is neither in the publish order nor `publish = false`").into());
        }
    }
    Ok(())
}

fn package(root: &Path, order: &[&str], scratch: &Path) -> Result {
    let mut command = cargo(
        root,
        &[
            "package",
            "--no-verify",
            "--allow-dirty",
            "--quiet",
            "--target-dir",
        ],
    );
    command.arg(scratch.join("packed"));
    for name in order {
        command.args(["--package", name]);
    }
    execute(&mut command)
}

/// A workspace of the unpacked packages that also stand in for the registry's.
fn scratch_manifest(workspace: &Workspace, order: &[&str]) -> String {
    let folders: Vec<String> = order
        .iter()
        .map(|name| format!("{name}-{}", workspace.members[*name].version))
        .collect();
    let members: Vec<String> = folders.iter().map(|folder| format!("{folder:?}")).collect();
    let mut manifest = format!(
        "[workspace]\nresolver = \"3\"\nmembers = [{}]\n",
        members.join(", ")
    );
    // As in the checkout, or nothing compiled there could be used again here.
    manifest.push_str("\n[profile.dev]\ndebug = \"line-tables-only\"\n\n[patch.crates-io]\n");
    for (name, folder) in order.iter().zip(&folders) {
        manifest.push_str(&format!("{name} = {{ path = {folder:?} }}\n"));
    }
    manifest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::Fixture;

    #[test]
    fn every_member_is_ordered_or_private() {
        let fixture = Fixture::new().member("open", 0, "").manifest(
            "closed",
            "[package]\nname = \"closed\"\npublish = false\nedition = \"2024\"\n",
        );
        let workspace = Workspace::load(fixture.root()).unwrap();
        assert!(assert_complete(&workspace, &["open"]).is_ok());
        assert!(assert_complete(&workspace, &[]).is_err());
        assert!(assert_complete(&workspace, &["open", "closed"]).is_err());
    }

    #[test]
    fn the_scratch_workspace_names_each_package_twice() {
        let fixture = Fixture::new().member("open", 0, "");
        let manifest = scratch_manifest(&Workspace::load(fixture.root()).unwrap(), &["open"]);
        assert!(manifest.contains("members = [\"open-0.1.0\"]"), "{manifest}");
        assert!(
            manifest.contains("open = { path = \"open-0.1.0\" }"),
            "{manifest}"
        );
    }
}
