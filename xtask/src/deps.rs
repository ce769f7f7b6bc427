//! `deps`: how much each crate pulls in, and who uses the packages that the project is committed to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use cargo_metadata::DependencyKind;

use crate::workspace::{self, Workspace, closure};
use crate::{Result, report};

/// The packages that the project is committed to: each earns its place by a use in a published crate.
const COMMITTED: [&str; 8] = [
    "tokio",
    "hyper",
    "bytes",
    "serde",
    "smallvec",
    "ahash",
    "crossbeam-channel",
    "tracing",
];

/// Kept lists of closures, one file per crate, a package a line: a change of a closure is a change to review.
const KEPT: &str = "tests/swap/closures";

pub(crate) fn run(root: &Path) -> Result {
    let workspace = Workspace::load(root)?;
    let mut closures = BTreeMap::new();
    println!("{:<26} {:>5} {:>9}  {:>4}", "crate", "layer", "packages", "ours");
    for (name, member) in workspace.published() {
        let packages = closure(root, name)?;
        let ours = packages
            .iter()
            .filter(|package| workspace.is_member(package))
            .count();
        let layer = member
            .layer
            .map_or_else(|| "-".to_owned(), |layer| layer.to_string());
        println!("{name:<26} {layer:>5} {:>9}  {ours:>4}", packages.len());
        closures.insert(name.clone(), packages);
    }
    println!("\n{:<26} used by", "committed package");
    let users = users(&workspace)?;
    for package in COMMITTED {
        let names = users
            .get(package)
            .map(|names| names.iter().cloned().collect::<Vec<_>>().join(", "));
        println!("{package:<26} {}", names.unwrap_or_else(|| "nobody".to_owned()));
    }
    println!();
    let mut findings = unused(&users);
    findings.extend(changed(root, &closures)?);
    report("deps", &findings)
}

/// Which published crates depend on a committed package and name it in their sources.
fn users(workspace: &Workspace) -> Result<BTreeMap<&'static str, BTreeSet<String>>> {
    let files = workspace::files(&workspace.root)?;
    let mut users: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, member) in workspace.published() {
        let source = member.dir.join("src");
        let mut text = String::new();
        for file in files.iter().filter(|file| file.starts_with(&source)) {
            text.push_str(&fs::read_to_string(workspace.root.join(file))?);
        }
        for package in COMMITTED {
            let mut normal = member
                .edges
                .iter()
                .filter(|edge| edge.kind == DependencyKind::Normal);
            if normal.any(|edge| edge.to == package) && names(&text, package) {
                users.entry(package).or_default().insert(name.clone());
            }
        }
    }
    Ok(users)
}

/// Whether a source names a package outside of comments: in a path or in a `use`.
fn names(text: &str, package: &str) -> bool {
    let ident = package.replace('-', "_");
    text.lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("//"))
        .any(|line| {
            line.match_indices(&ident).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                let whole = before.is_none_or(|char| !char.is_alphanumeric() && char != '_' && char != ':');
                whole && line[at + ident.len()..].starts_with("::")
            })
        })
}

fn unused(users: &BTreeMap<&str, BTreeSet<String>>) -> Vec<String> {
    let unused = COMMITTED.iter().filter(|package| !users.contains_key(**package));
    unused
        .map(|package| format!("no published crate uses {package}, to which the project is committed"))
        .collect()
}

/// Differences between closures and the kept lists, where such lists are kept.
fn changed(root: &Path, closures: &BTreeMap<String, BTreeSet<String>>) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for file in workspace::files(root)?
        .into_iter()
        .filter(|file| file.starts_with(KEPT))
    {
        let name = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let Some(closure) = closures.get(&name) else {
            findings.push(format!(
                "{} is kept for a crate that does not exist",
                file.display()
            ));
            continue;
        };
        let text = fs::read_to_string(root.join(&file))?;
        let kept = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let kept: BTreeSet<String> = kept.map(str::to_owned).collect();
        for package in closure.difference(&kept) {
            findings.push(format!(
                "{name} now compiles {package}, which {} does not list",
                file.display()
            ));
        }
        for package in kept.difference(closure) {
            findings.push(format!(
                "{name} no longer compiles {package}, which {} lists",
                file.display()
            ));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_counts_only_in_code_and_as_a_whole_name() {
        for (text, used) in [
            ("use bytes::Bytes;", true),
            ("fn f(x: &bytes::Bytes) {}", true),
            ("#[derive(bytes::X)]", true),
            ("// bytes::Bytes", false),
            ("use mybytes::X;", false),
            ("use crate::bytes::X;", false),
            ("let bytes = 1;", false),
        ] {
            assert_eq!(names(text, "bytes"), used, "{text}");
        }
        assert!(names("use crossbeam_channel::Sender;", "crossbeam-channel"));
    }

    #[test]
    fn a_committed_package_without_a_user_is_found() {
        let all: BTreeMap<&str, BTreeSet<String>> = COMMITTED
            .iter()
            .skip(1)
            .map(|package| (*package, BTreeSet::from(["x".to_owned()])))
            .collect();
        let found = unused(&all);
        assert_eq!(found.len(), 1);
        assert!(found[0].contains(COMMITTED[0]), "{found:?}");
    }
}
