//! The workspace as the checks see it: members with layer, edges and what their manifests say.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{DependencyKind, MetadataCommand, Package};

use crate::Result;
use crate::process::{capture, cargo};

/// The root of the checkout.
pub(crate) fn root() -> PathBuf {
    // Cargo sets the variable for `cargo run` and `cargo test`; the compiled-in value serves a bare call.
    let manifest =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let own = PathBuf::from(manifest);
    own.parent().map(Path::to_path_buf).unwrap_or(own)
}

/// All members, ordered by name.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) members: BTreeMap<String, Member>,
}

/// One member.
#[derive(Debug)]
pub(crate) struct Member {
    /// Folder, relative to the root.
    pub(crate) dir: PathBuf,
    pub(crate) version: String,
    pub(crate) publish: bool,
    /// `[package.metadata.informer] layer`.
    pub(crate) layer: Option<u64>,
    /// `[package.metadata.informer] runtime`.
    pub(crate) runtime: Option<bool>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) features: BTreeSet<String>,
    /// Manifest fields that a published crate must have and this one lacks.
    pub(crate) missing: Vec<&'static str>,
    /// `rust-version` as written.
    pub(crate) rust_version: Option<String>,
}

/// A dependency as a manifest states it.
#[derive(Debug)]
pub(crate) struct Edge {
    pub(crate) to: String,
    pub(crate) kind: DependencyKind,
    /// A path without a version: cargo strips such a dev-dependency when it packages.
    pub(crate) path_only: bool,
}

impl Workspace {
    /// Reads the manifests below `root`.
    pub(crate) fn load(root: &Path) -> Result<Self> {
        let metadata = MetadataCommand::new()
            .manifest_path(root.join("Cargo.toml"))
            .current_dir(root)
            .no_deps()
            .exec()?;
        let root = metadata.workspace_root.clone().into_std_path_buf();
        let members = metadata
            .workspace_packages()
            .into_iter()
            .map(|package| (package.name.to_string(), Member::read(&root, package)))
            .collect();
        Ok(Self { root, members })
    }

    /// Members that go to the registry.
    pub(crate) fn published(&self) -> impl Iterator<Item = (&String, &Member)> {
        self.members.iter().filter(|(_, member)| member.publish)
    }

    /// Published members such that each comes after all it needs at build time, ties by layer, then name.
    pub(crate) fn publish_order(&self) -> Result<Vec<&str>> {
        let mut order: Vec<&str> = Vec::new();
        let mut left: Vec<(&String, &Member)> = self.published().collect();
        left.sort_by_key(|(name, member)| (member.layer, *name));
        while !left.is_empty() {
            let ready = left.iter().position(|(_, member)| {
                let mut needs = member
                    .edges
                    .iter()
                    .filter(|edge| edge.binds() && self.is_member(&edge.to));
                needs.all(|edge| order.contains(&edge.to.as_str()))
            });
            let Some(ready) = ready else {
                let names: Vec<&str> = left.iter().map(|(name, _)| name.as_str()).collect();
                return Err(format!(
                    "no publish order: {} need each other or an unpublished crate",
                    names.join(", ")
                )
                .into());
            };
            order.push(left.remove(ready).0.as_str());
        }
        Ok(order)
    }

    pub(crate) fn is_member(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }
}

impl Edge {
    /// Whether a release of the crate needs this dependency to be released before.
    pub(crate) fn binds(&self) -> bool {
        self.kind != DependencyKind::Development || !self.path_only
    }
}

impl Member {
    fn read(root: &Path, package: &Package) -> Self {
        let own = &package.metadata["informer"];
        let dir = package
            .manifest_path
            .parent()
            .map_or_else(|| root.to_path_buf(), |dir| dir.into());
        let edges = package.dependencies.iter().map(|dependency| Edge {
            to: dependency.name.clone(),
            kind: dependency.kind,
            path_only: dependency.path.is_some() && dependency.req.to_string() == "*",
        });
        let filled = [
            ("description", package.description.is_some()),
            ("license", package.license.is_some()),
            ("repository", package.repository.is_some()),
            ("keywords", (1..=5).contains(&package.keywords.len())),
            ("categories", (1..=5).contains(&package.categories.len())),
            ("rust-version", package.rust_version.is_some()),
        ];
        Self {
            dir: dir.strip_prefix(root).unwrap_or(&dir).to_path_buf(),
            version: package.version.to_string(),
            publish: package
                .publish
                .as_ref()
                .is_none_or(|registries| !registries.is_empty()),
            layer: own["layer"].as_u64(),
            runtime: own["runtime"].as_bool(),
            edges: edges.collect(),
            features: package.features.keys().cloned().collect(),
            missing: filled
                .into_iter()
                .filter(|(_, ok)| !ok)
                .map(|(field, _)| field)
                .collect(),
            rust_version: package.rust_version.as_ref().map(ToString::to_string),
        }
    }
}

/// The crates that `package` compiles with its default features, itself left out: what a program that
/// depends on it alone would pull in on this platform.
pub(crate) fn closure(root: &Path, package: &str) -> Result<BTreeSet<String>> {
    let printed = capture(&mut cargo(
        root,
        &[
            "tree",
            "--package",
            package,
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ],
    ))?;
    let names = printed.lines().filter_map(|line| line.split_whitespace().next());
    Ok(names.filter(|name| *name != package).map(str::to_owned).collect())
}

/// Files of the checkout that git knows or would add, relative to the root, sorted.
pub(crate) fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let mut git = Command::new("git");
    git.current_dir(root)
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let listed = capture(&mut git)?;
    let mut files: Vec<PathBuf> = listed
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(PathBuf::from)
        .filter(|file| root.join(file).is_file())
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}

#[cfg(test)]
pub(crate) mod tests;
