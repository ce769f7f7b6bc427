//! `layers`: dependencies go strictly down, and pure crates hold no runtime.
//!
//! Each member says its layer in `[package.metadata.informer]`. A normal or build dependency on another member must
//! point to a lower layer: never sideways, never up. A dev-dependency on a crate that is not lower must be
//! path-only, because such an edge vanishes on packaging and so cannot spoil the publish order. A crate that
//! says `runtime = false` has neither tokio nor hyper among what its default features compile.

use std::collections::BTreeSet;
use std::path::Path;

use cargo_metadata::DependencyKind;

use crate::workspace::{Workspace, closure};
use crate::{Result, report};

/// What `runtime = false` keeps out.
const RUNTIME: [&str; 2] = ["tokio", "hyper"];

/// What single crates promise to stay free of, beyond the runtime; a name that ends in `-` is a prefix.
const PROMISES: [(&str, &[&str]); 1] = [("informer-workqueue", &["hyper", "serde", "k8s-", "kube", "kube-"])];

pub(crate) fn run(root: &Path) -> Result {
    report("layers", &check(&Workspace::load(root)?)?)
}

/// All violations in the workspace.
pub(crate) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let mut findings = edges(workspace);
    for (name, member) in &workspace.members {
        let promised: Vec<&str> = PROMISES
            .iter()
            .filter(|(of, _)| of == name)
            .flat_map(|(_, names)| names.iter().copied())
            .chain(RUNTIME.into_iter().filter(|_| member.runtime == Some(false)))
            .collect();
        if !promised.is_empty() {
            findings.extend(held(name, &promised, &closure(&workspace.root, name)?));
        }
    }
    Ok(findings)
}

/// Violations that the manifests alone show.
fn edges(workspace: &Workspace) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, member) in &workspace.members {
        let Some(layer) = member.layer else {
            if member.publish {
                findings.push(format!(
                    "{name} is published and says no layer in [package.metadata.informer]"
                ));
            }
            continue;
        };
        if member.runtime.is_none() {
            findings.push(format!(
                "{name} does not say `runtime = true` or `false` beside its layer"
            ));
        }
        for edge in &member.edges {
            let Some(other) = workspace.members.get(&edge.to) else {
                continue;
            };
            let lower = other.layer.is_some_and(|other| other < layer);
            let at = other
                .layer
                .map_or_else(|| "no layer".to_owned(), |layer| format!("layer {layer}"));
            if edge.kind == DependencyKind::Development {
                if !lower && edge.binds() {
                    findings.push(format!(
                        "{name} (layer {layer}) has a dev-dependency on {} ({at}) that is not path-only",
                        edge.to
                    ));
                }
            } else if !lower {
                findings.push(format!("{name} (layer {layer}) depends on {} ({at})", edge.to));
            }
        }
    }
    findings
}

/// Which promised absences a closure breaks.
fn held(name: &str, promised: &[&str], closure: &BTreeSet<String>) -> Vec<String> {
    let breaks = |package: &str| {
        promised
            .iter()
            .any(|rule| package == *rule || (rule.ends_with('-') && package.starts_with(rule)))
    };
    let broken = closure.iter().filter(|package| breaks(package));
    broken
        .map(|package| format!("{name} compiles {package} with its default features"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{self, tests::Fixture};

    #[test]
    fn the_workspace_keeps_its_layers() {
        let workspace = Workspace::load(&workspace::root()).unwrap();
        assert_eq!(check(&workspace).unwrap(), Vec::<String>::new());
    }

    fn findings(fixture: &Fixture) -> Vec<String> {
        edges(&Workspace::load(fixture.root()).unwrap())
    }

    #[test]
    fn down_is_fine_also_through_a_dev_dependency_that_packaging_drops() {
        let fixture = Fixture::new()
            .member("low", 0, "[dev-dependencies]\nhigh = { path = \"../high\" }")
            .member(
                "high",
                1,
                "[dependencies]\nlow = { path = \"../low\", version = \"0.1.0\" }",
            );
        assert_eq!(findings(&fixture), Vec::<String>::new());
    }

    #[test]
    fn up_and_sideways_are_found() {
        let fixture = Fixture::new()
            .member(
                "a",
                1,
                "[dependencies]\nb = { path = \"../b\", version = \"0.1.0\", optional = true }",
            )
            .member(
                "b",
                1,
                "[dependencies]\nc = { path = \"../c\", version = \"0.1.0\" }",
            )
            .member(
                "c",
                2,
                "[dev-dependencies]\nd = { path = \"../d\", version = \"0.1.0\" }",
            )
            .member("d", 3, "");
        assert_eq!(
            findings(&fixture),
            [
                "a (layer 1) depends on b (layer 1)",
                "b (layer 1) depends on c (layer 2)",
                "c (layer 2) has a dev-dependency on d (layer 3) that is not path-only",
            ]
        );
    }

    #[test]
    fn a_published_crate_without_a_layer_is_found_and_a_private_one_is_not() {
        let fixture = Fixture::new()
            .manifest(
                "open",
                "[package]\nname = \"open\"\nversion = \"0.1.0\"\nedition = \"2024\"\n",
            )
            .manifest(
                "closed",
                "[package]\nname = \"closed\"\npublish = false\nedition = \"2024\"\n",
            );
        assert_eq!(
            findings(&fixture),
            ["open is published and says no layer in [package.metadata.informer]"]
        );
    }

    #[test]
    fn a_runtime_behind_a_pure_crate_is_found_however_far() {
        let fixture = Fixture::new()
            .manifest(
                "tokio",
                "[package]\nname = \"tokio\"\npublish = false\nedition = \"2024\"\n",
            )
            .manifest(
                "middle",
                "[package]\nname = \"middle\"\npublish = false\nedition = \"2024\"\n\
                 [dependencies]\ntokio = { path = \"../tokio\" }\n",
            )
            .member("pure", 0, "[dependencies]\nmiddle = { path = \"../middle\" }");
        let found = check(&Workspace::load(fixture.root()).unwrap()).unwrap();
        assert!(
            found.contains(&"pure compiles tokio with its default features".to_owned()),
            "{found:?}"
        );
    }

    #[test]
    fn a_feature_that_is_off_by_default_does_not_count() {
        let fixture = Fixture::new()
            .manifest("tokio", "[package]\nname = \"tokio\"\npublish = false\nedition = \"2024\"\n")
            .member(
                "pure",
                0,
                "[dependencies]\ntokio = { path = \"../tokio\", optional = true }\n[features]\nreal = [\"dep:tokio\"]",
            );
        let found = check(&Workspace::load(fixture.root()).unwrap()).unwrap();
        assert!(
            !found.iter().any(|finding| finding.contains("compiles")),
            "{found:?}"
        );
    }

    #[test]
    fn a_prefix_rule_matches_packages_of_the_family_only() {
        let closure = ["k8s-openapi", "k8sish", "serde_json"].map(str::to_owned).into();
        assert_eq!(
            held("x", &["k8s-", "serde"], &closure),
            ["x compiles k8s-openapi with its default features"]
        );
    }
}
