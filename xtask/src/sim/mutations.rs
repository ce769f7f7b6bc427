//! Does the simulator find bugs? Each file of `tests/sim/mutations` breaks a copy of the workspace in one known way; some seed has to
//! notice.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::PROGRAM;
use crate::Result;
use crate::process::{capture, cargo};

/// Seeds that a mutation may survive before it counts as unnoticed.
const SEEDS: &str = "4000";

/// What a broken program may take of the machine before it counts as broken: megabytes, and seconds of processor time.
const MEMORY: u64 = 4000;
const PROCESSOR: u64 = 600;

/// One way to break the code.
#[derive(Debug, PartialEq, Eq)]
struct Mutation {
    /// What it is, in a sentence.
    about: String,
    edits: Vec<Edit>,
}

#[derive(Debug, PartialEq, Eq)]
struct Edit {
    file: PathBuf,
    old: String,
    new: String,
}

pub(super) fn run(root: &Path, only: Option<&str>) -> Result {
    let copy = root.join("target/mutants");
    copy_workspace(root, &copy)?;
    let mut failures = Vec::new();
    for (name, mutation) in mutations(&root.join("tests/sim/mutations"))? {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let originals = apply(&copy, &mutation).map_err(|error| format!("{name}: {error}"))?;
        let result = judge(&copy);
        for (file, text) in originals {
            fs::write(file, text)?;
        }
        let told = result.map_err(|error| format!("{name}: {error}"))?;
        println!("{name:<28} {}", told.as_deref().unwrap_or("SURVIVED"));
        println!("{:<28} {}", "", mutation.about);
        if told.is_none() {
            failures.push(name);
        }
    }
    if failures.is_empty() {
        Ok(())
    } else {
        Err(format!("no seed noticed: {}", failures.join(", ")).into())
    }
}

/// Copies what the simulator is built from. Files that are the same stay, so that little is compiled again.
fn copy_workspace(root: &Path, copy: &Path) -> Result {
    let mut git = Command::new("git");
    git.current_dir(root).args([
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        "crates",
        "tests/sim",
        "Cargo.toml",
        "Cargo.lock",
        ".cargo",
        "clippy.toml",
    ]);
    for file in capture(&mut git)?.lines() {
        let Ok(mut bytes) = fs::read(root.join(file)) else {
            // Deleted, and not committed yet.
            continue;
        };
        if file == "Cargo.toml" {
            let text = String::from_utf8(bytes)?;
            let lines = text.lines().map(|line| {
                if line.starts_with("members = ") {
                    r#"members = ["crates/*", "tests/sim"]"#
                } else {
                    line
                }
            });
            bytes = lines.collect::<Vec<_>>().join("\n").into_bytes();
        }
        let to = copy.join(file);
        if fs::read(&to).ok().as_ref() != Some(&bytes) {
            fs::create_dir_all(to.parent().unwrap_or(copy))?;
            fs::write(to, bytes)?;
        }
    }
    Ok(())
}

/// All mutations of a folder, by name.
fn mutations(folder: &Path) -> Result<BTreeMap<String, Mutation>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let mutation = parse(&fs::read_to_string(&path)?).ok_or_else(|| format!("{name}: no mutation"))?;
        found.insert(name, mutation);
    }
    Ok(found)
}

/// A sentence after `#`, then edits: `file PATH`, `<<<<`, the old lines, `====`, the new ones, `>>>>`.
fn parse(text: &str) -> Option<Mutation> {
    let (about, rest) = text.strip_prefix("# ")?.split_once('\n')?;
    let mut edits = Vec::new();
    for part in rest.split("\n>>>>\n") {
        let Some((file, edit)) = part.trim_start_matches('\n').split_once("\n<<<<\n") else {
            continue;
        };
        // Without new lines the old ones are left out.
        let left_out = || Some((edit.strip_suffix("\n====")?, ""));
        let (old, new) = edit.split_once("\n====\n").or_else(left_out)?;
        edits.push(Edit {
            file: file.strip_prefix("file ")?.into(),
            old: old.to_owned(),
            new: new.to_owned(),
        });
    }
    (!edits.is_empty()).then(|| Mutation {
        about: about.to_owned(),
        edits,
    })
}

/// Breaks the copy. Returns the files as they were.
fn apply(copy: &Path, mutation: &Mutation) -> Result<BTreeMap<PathBuf, String>> {
    let mut originals = BTreeMap::new();
    let mut broken = BTreeMap::new();
    for edit in &mutation.edits {
        let path = copy.join(&edit.file);
        let original =
            fs::read_to_string(&path).map_err(|error| format!("{}: {error}", edit.file.display()))?;
        let text: &mut String = broken.entry(path.clone()).or_insert_with(|| original.clone());
        match text.matches(&edit.old).count() {
            1 => *text = text.replacen(&edit.old, &edit.new, 1),
            n => {
                let file = edit.file.display();
                return Err(format!("{file} holds {n} times what is to be broken: {:?}", edit.old).into());
            }
        }
        originals.insert(path, original);
    }
    for (path, text) in broken {
        fs::write(path, text)?;
    }
    Ok(originals)
}

/// Builds and runs the broken copy. Says who noticed; `None`: nobody.
fn judge(copy: &Path) -> Result<Option<String>> {
    let mut build = cargo(copy, &["build"]);
    build.args(&PROGRAM[1..6]);
    build.env_remove("CARGO_TARGET_DIR");
    capture(&mut build)?;
    let program = copy.join("target/sim/sim");
    // A broken program may run away with the machine.
    let limits = format!("ulimit -v {} -t {PROCESSOR}; exec \"$0\" \"$@\"", MEMORY * 1024);
    let output = Command::new("sh")
        .args(["-c", &limits])
        .arg(program)
        .args(["--seeds", SEEDS, "--until-failure", "--no-shrink"])
        .stdin(Stdio::null())
        .output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let first = said.lines().next().unwrap_or_default().to_owned();
    match output.status.code() {
        Some(0) => Ok(None),
        Some(2) => Ok(Some(first)),
        _ => Ok(Some(format!("it ran away: {}", output.status))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutation_is_read() {
        let text = "# What it does.\nfile a/b.rs\n<<<<\nold\n  line\n====\nnew\n>>>>\nfile c.rs\n<<<<\nx\n====\ny\n>>>>\n";
        let mutation = parse(text).unwrap();
        assert_eq!(mutation.about, "What it does.");
        assert_eq!(mutation.edits.len(), 2);
        assert_eq!(
            mutation.edits[0],
            Edit {
                file: "a/b.rs".into(),
                old: "old\n  line".to_owned(),
                new: "new".to_owned(),
            }
        );
        assert_eq!(parse("no mutation"), None);
    }

    /// Who changes the code changes the mutations with it.
    #[test]
    fn every_mutation_fits_the_code() {
        let root = crate::workspace::root();
        let mutations = mutations(&root.join("tests/sim/mutations")).unwrap();
        assert!(mutations.len() >= 14, "{} mutations", mutations.len());
        for (name, mutation) in mutations {
            for edit in &mutation.edits {
                let text = fs::read_to_string(root.join(&edit.file)).unwrap();
                let count = text.matches(&edit.old).count();
                assert_eq!(
                    count,
                    1,
                    "{name}: {} holds what is to be broken",
                    edit.file.display()
                );
            }
        }
    }
}
