//! Rules on members: manifests and the files beside them.

use std::fs;
use std::path::Path;

use cargo_metadata::DependencyKind;

use crate::Result;
use crate::workspace::{Member, Workspace};

/// Violations in the manifests.
pub(super) fn check(workspace: &Workspace) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for (name, member) in &workspace.members {
        let manifest = fs::read_to_string(workspace.root.join(&member.dir).join("Cargo.toml"))?;
        findings.extend(lints(name, &manifest));
        findings.extend(versions(name, &manifest));
        if member.publish {
            findings.extend(published(&workspace.root, name, member));
        }
    }
    if let Err(error) = workspace.publish_order() {
        findings.push(error.to_string());
    }
    Ok(findings)
}

/// Every member takes the workspace's lints.
fn lints(name: &str, manifest: &str) -> Option<String> {
    let section = section(manifest, "lints").any(|line| line == "workspace = true");
    let inline = manifest
        .lines()
        .any(|line| squeeze(line) == "lints.workspace=true");
    (!section && !inline)
        .then(|| format!("{name} does not take the workspace's lints (`lints.workspace = true`)"))
}

/// Versions stand in one place: the workspace's table.
fn versions(name: &str, manifest: &str) -> Vec<String> {
    let tables = ["dependencies", "dev-dependencies", "build-dependencies"];
    let lines = tables.iter().flat_map(|table| section(manifest, table));
    lines
        .map(squeeze)
        .filter(|line| !line.starts_with('#'))
        .filter(|line| {
            line.contains("version=") || line.split_once('=').is_some_and(|(_, v)| v.starts_with('"'))
        })
        .map(|line| {
            format!("{name}: `{line}` states a version: it belongs into the root's [workspace.dependencies]")
        })
        .collect()
}

fn published(root: &Path, name: &str, member: &Member) -> Vec<String> {
    let mut findings: Vec<String> = member
        .missing
        .iter()
        .map(|field| format!("{name} is published without `{field}` (one to five keywords and categories)"))
        .collect();
    if member.dir.file_name().is_none_or(|dir| dir != name) {
        findings.push(format!(
            "{name} lies in {}: a folder is named after its package",
            member.dir.display()
        ));
    }
    match fs::read_to_string(root.join(&member.dir).join("CHANGELOG.md")) {
        Err(_) => findings.push(format!("{name} has no CHANGELOG.md")),
        Ok(log) if !log.lines().any(|line| line.trim() == "## Unreleased") => {
            findings.push(format!("{name}: CHANGELOG.md has no `## Unreleased`"));
        }
        Ok(_) => {}
    }
    for edge in member
        .edges
        .iter()
        .filter(|edge| edge.path_only && edge.kind != DependencyKind::Development)
    {
        findings.push(format!(
            "{name} needs {} by path alone: such a package does not publish",
            edge.to
        ));
    }
    findings
}

/// The lines of one table of a manifest.
fn section<'a>(manifest: &'a str, table: &str) -> impl Iterator<Item = &'a str> {
    let header = format!("[{table}]");
    let lines = manifest.lines().map(str::trim);
    lines
        .skip_while(move |line| *line != header)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
}

fn squeeze(line: &str) -> String {
    line.chars().filter(|char| !char.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::Fixture;

    const GOOD: &str = "[package]\nname = \"good\"\nversion = \"0.1.0\"\nedition = \"2024\"\nrust-version = \"1.95\"\n\
                        description = \"d\"\nlicense = \"MIT\"\nrepository = \"https://example.com\"\n\
                        keywords = [\"k\"]\ncategories = [\"caching\"]\n[lints]\nworkspace = true\n";

    fn fixture(manifest: &str, log: Option<&str>) -> Vec<String> {
        let fixture = Fixture::new().manifest("good", manifest);
        fixture.write(
            "Cargo.toml",
            "[workspace]\nresolver = \"3\"\nmembers = [\"crates/*\"]\n[workspace.lints.rust]\nunsafe_code = \"forbid\"\n",
        );
        if let Some(log) = log {
            fixture.write("crates/good/CHANGELOG.md", log);
        }
        check(&Workspace::load(fixture.root()).unwrap()).unwrap()
    }

    #[test]
    fn a_good_crate_has_no_findings() {
        assert_eq!(
            fixture(GOOD, Some("# Changelog\n\n## Unreleased\n")),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_missing_changelog_or_heading_is_found() {
        assert_eq!(fixture(GOOD, None), ["good has no CHANGELOG.md"]);
        assert_eq!(
            fixture(GOOD, Some("# Changelog\n")),
            ["good: CHANGELOG.md has no `## Unreleased`"]
        );
    }

    #[test]
    fn missing_fields_and_lints_are_found() {
        let bare = GOOD
            .replace("license = \"MIT\"\n", "")
            .replace("[lints]\nworkspace = true\n", "");
        let found = fixture(&bare, Some("## Unreleased\n"));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].contains("lints") && found[1].contains("`license`"),
            "{found:?}"
        );
    }

    #[test]
    fn a_version_in_a_member_is_found() {
        for line in ["x = \"1\"", "x = { version = \"1\" }"] {
            let found = versions("good", &format!("{GOOD}[dependencies]\n{line}\n"));
            assert_eq!(found.len(), 1, "{line}");
        }
        assert!(
            versions(
                "good",
                "[dependencies]\nx.workspace = true\ny = { path = \"../y\" }\n"
            )
            .is_empty()
        );
    }
}
