//! `release plan`: the next version of each crate, in dependency order, with the reason.
//!
//! A crate's own commits since its last `<crate>-v*` tag decide: `feat!:`, `fix!:` or a `BREAKING CHANGE` footer
//! breaks, `feat:` adds, anything else that touches the crate's sources is a fix. A crate whose dependency breaks breaks
//! with it, because our types stand in each other's signatures; one whose dependency changes otherwise gets a patch
//! release, so that its lower bound moves on.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::process::Command;

use cargo_metadata::DependencyKind;

use crate::Result;
use crate::process::capture;
use crate::workspace::{Member, Workspace};

/// How much a release changes, least first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Bump {
    Nothing,
    /// Only what the crate depends on changed.
    Dependency,
    Fix,
    Feature,
    Breaking,
    /// There is no tag: the version in the manifest is the first one.
    Initial,
}

pub(crate) fn run(root: &Path) -> Result {
    let workspace = Workspace::load(root)?;
    let mut own = BTreeMap::new();
    for (name, member) in workspace.published() {
        own.insert(name.clone(), since_tag(root, name, member)?);
    }
    println!(
        "{:<26} {:>8} {:>8}  {:<10} commits",
        "crate", "now", "next", "bump"
    );
    for (name, bump) in plan(&workspace, &own)? {
        let now = &workspace.members[name].version;
        let commits = own[name].1;
        println!(
            "{name:<26} {now:>8} {:>8}  {bump:<10} {commits}",
            next(now, bump)?
        );
    }
    let held: Vec<&str> = workspace
        .members
        .iter()
        .filter(|(_, member)| !member.publish)
        .map(|(name, _)| name.as_str())
        .collect();
    println!("\nnot published: {}", held.join(", "));
    Ok(())
}

/// The bump of a crate's own commits, and how many there are.
fn since_tag(root: &Path, name: &str, member: &Member) -> Result<(Bump, usize)> {
    let git = |arguments: &[&str]| capture(Command::new("git").current_dir(root).args(arguments));
    let tags = git(&[
        "tag",
        "--list",
        "--sort=-version:refname",
        "--merged",
        "HEAD",
        &format!("{name}-v*"),
    ])?;
    let tag = tags.lines().next();
    let range = tag.map_or_else(|| "HEAD".to_owned(), |tag| format!("{tag}..HEAD"));
    let log = git(&[
        "log",
        "--format=%B%x00",
        &range,
        "--",
        &member.dir.to_string_lossy(),
    ])?;
    let messages: Vec<&str> = log
        .split('\0')
        .map(str::trim)
        .filter(|message| !message.is_empty())
        .collect();
    let bump = match tag {
        None => Bump::Initial,
        Some(_) => messages
            .iter()
            .map(|message| classify(message))
            .max()
            .unwrap_or(Bump::Nothing),
    };
    Ok((bump, messages.len()))
}

/// What one commit message says of its change.
fn classify(message: &str) -> Bump {
    let subject = message.lines().next().unwrap_or_default();
    let kind = subject.split_once(':').map_or("", |(kind, _)| kind);
    let word = kind.split(['(', '!']).next().unwrap_or_default();
    let footer = message.lines().any(|line| line.starts_with("BREAKING CHANGE"));
    if footer || (kind.ends_with('!') && ["feat", "fix", "refactor", "perf"].contains(&word)) {
        Bump::Breaking
    } else if word == "feat" {
        Bump::Feature
    } else {
        Bump::Fix
    }
}

/// Each published crate with its bump, dependencies first.
fn plan<'a>(workspace: &'a Workspace, own: &BTreeMap<String, (Bump, usize)>) -> Result<Vec<(&'a str, Bump)>> {
    let mut planned: BTreeMap<&str, Bump> = BTreeMap::new();
    let mut order = Vec::new();
    for name in workspace.publish_order()? {
        let needs = workspace.members[name]
            .edges
            .iter()
            .filter(|edge| edge.kind != DependencyKind::Development);
        let moved = needs.filter_map(|edge| planned.get(edge.to.as_str())).max();
        let from_below = match moved {
            Some(Bump::Breaking) => Bump::Breaking,
            Some(Bump::Nothing) | None => Bump::Nothing,
            Some(_) => Bump::Dependency,
        };
        let bump = own
            .get(name)
            .map_or(Bump::Nothing, |(bump, _)| *bump)
            .max(from_below);
        planned.insert(name, bump);
        order.push((name, bump));
    }
    Ok(order)
}

/// The version after `now`: below 1.0 the second number breaks and the third adds, as cargo reads it.
fn next(now: &str, bump: Bump) -> Result<String> {
    let numbers: Vec<u64> = now
        .split('.')
        .map(str::parse)
        .collect::<std::result::Result<_, _>>()?;
    let [major, minor, patch] = numbers[..] else {
        return Err(format!("{now} is not of the form major.minor.patch").into());
    };
    let (major, minor, patch) = match (bump, major) {
        (Bump::Nothing | Bump::Initial, _) => (major, minor, patch),
        (Bump::Breaking, 0) => (0, minor + 1, 0),
        (Bump::Breaking, _) => (major + 1, 0, 0),
        (Bump::Feature, 1..) => (major, minor + 1, 0),
        (Bump::Feature, 0) | (Bump::Fix | Bump::Dependency, _) => (major, minor, patch + 1),
    };
    Ok(format!("{major}.{minor}.{patch}"))
}

impl fmt::Display for Bump {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Nothing => "-",
            Self::Dependency => "dependency",
            Self::Fix => "fix",
            Self::Feature => "feature",
            Self::Breaking => "breaking",
            Self::Initial => "initial",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::tests::Fixture;

    #[test]
    fn a_message_says_what_its_change_is() {
        for (message, bump) in [
            ("feat(store): add paging", Bump::Feature),
            ("feat(store)!: rename", Bump::Breaking),
            ("fix: x\n\nBREAKING CHANGE: y", Bump::Breaking),
            ("fix: x", Bump::Fix),
            ("Read LIST bodies item by item", Bump::Fix),
            ("Say it again!: no prefix", Bump::Fix),
        ] {
            assert_eq!(classify(message), bump, "{message}");
        }
    }

    #[test]
    fn versions_move_as_cargo_reads_them() {
        for (now, bump, then) in [
            ("0.1.0", Bump::Initial, "0.1.0"),
            ("0.1.3", Bump::Breaking, "0.2.0"),
            ("0.1.3", Bump::Feature, "0.1.4"),
            ("1.2.3", Bump::Breaking, "2.0.0"),
            ("1.2.3", Bump::Feature, "1.3.0"),
            ("1.2.3", Bump::Dependency, "1.2.4"),
        ] {
            assert_eq!(next(now, bump).unwrap(), then, "{now} {bump}");
        }
        assert!(next("1.0", Bump::Fix).is_err());
    }

    #[test]
    fn a_change_below_moves_what_stands_above() {
        let on =
            |name: &str| format!("[dependencies]\n{name} = {{ path = \"../{name}\", version = \"0.1.0\" }}");
        let fixture = Fixture::new()
            .member("a", 0, "")
            .member("b", 1, &on("a"))
            .member("c", 2, &on("b"))
            .member("lone", 0, "");
        let workspace = Workspace::load(fixture.root()).unwrap();
        let bumps = |a: Bump, b: Bump| {
            let own = [("a", a), ("b", b)]
                .map(|(name, bump)| (name.to_owned(), (bump, 1)))
                .into();
            let planned: BTreeMap<&str, Bump> = plan(&workspace, &own).unwrap().into_iter().collect();
            [planned["a"], planned["b"], planned["c"], planned["lone"]]
        };
        use Bump::{Breaking, Dependency, Feature, Fix, Nothing};
        assert_eq!(bumps(Fix, Nothing), [Fix, Dependency, Dependency, Nothing]);
        assert_eq!(bumps(Nothing, Feature), [Nothing, Feature, Dependency, Nothing]);
        assert_eq!(bumps(Breaking, Fix), [Breaking, Breaking, Breaking, Nothing]);
    }
}
