//! Rules on single files.

use std::path::Path;

use super::lexer::code_only;

/// At this many lines a file holds more than one concern.
const MAX_LINES: usize = 600;

/// Macros that say "not finished", and what else must not stay.
const UNFINISHED: [&str; 3] = ["todo!", "unimplemented!", "dbg!"];

/// Folders of one person's machine, in pieces because this file is checked as well.
const MACHINE_PATHS: [&str; 3] = [
    concat!("/wo", "rk/"),
    concat!("/tmp/", "brief"),
    concat!("/ro", "ot/"),
];

/// Violations in one file; `path` is relative to the root.
pub(super) fn check(path: &Path, text: &str) -> Vec<String> {
    let shown = path.display();
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if let Some(machine) = MACHINE_PATHS.iter().find(|machine| starts_path(line, machine)) {
            findings.push(format!(
                "{shown}:{number}: `{machine}` is a path of somebody's machine"
            ));
        }
    }
    if path.extension().is_none_or(|extension| extension != "rs") {
        return findings;
    }
    if !text.starts_with("//!") {
        findings.push(format!(
            "{shown}:1: a module starts with a `//!` line that says what it is"
        ));
    }
    let n_lines = text.lines().count();
    if n_lines > MAX_LINES && !is_test(path) {
        findings.push(format!(
            "{shown}: {n_lines} lines, more than {MAX_LINES}: split it by concern"
        ));
    }
    for (number, line) in (1..).zip(code_only(text).lines()) {
        if let Some(word) = UNFINISHED.iter().find(|word| starts_word(line, word)) {
            findings.push(format!("{shown}:{number}: `{word}` does not stay"));
        }
        let squeezed: String = line.chars().filter(|char| !char.is_whitespace()).collect();
        if squeezed.contains("#[ignore") || squeezed.contains(",ignore)]") {
            findings.push(format!(
                "{shown}:{number}: an ignored test tests nothing: assert what holds today, or remove it"
            ));
        }
    }
    // A doc example that does not run is prose: say so by `text`, or make it compile.
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start();
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let info = doc.and_then(|doc| doc.trim_start().strip_prefix("```"));
        if info.is_some_and(|info| info.split(',').any(|word| word.trim() == "ignore")) {
            findings.push(format!(
                "{shown}:{number}: an ignored example: use `no_run`, `text`, or make it run"
            ));
        }
    }
    findings
}

/// Whether `path` holds tests, by where it lies or how it is named.
fn is_test(path: &Path) -> bool {
    let folders = ["tests", "benches", "examples", "fuzz"];
    path.components()
        .any(|part| folders.iter().any(|folder| part.as_os_str() == *folder))
        || path.file_stem().is_some_and(|stem| stem == "tests")
}

/// `word` in `line`, not as the tail of a longer word.
fn starts_word(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|char| !char.is_alphanumeric() && char != '_')
    })
}

/// `path` in `line` as the beginning of an absolute path, not as a part of another one.
fn starts_path(line: &str, path: &str) -> bool {
    line.match_indices(path).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(|char| !char.is_alphanumeric() && !"._-/}*~".contains(char))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        check(Path::new(path), text)
    }

    #[test]
    fn a_clean_file_has_no_findings() {
        let text =
            "//! What it is.\n\n// todo!() in a comment.\nconst S: &str = \"dbg!(x)\";\nfn my_dbg() {}\n";
        assert_eq!(findings("crates/a/src/lib.rs", text), Vec::<String>::new());
    }

    #[test]
    fn a_module_without_its_line_is_found() {
        assert_eq!(findings("a/src/x.rs", "use std::fmt;\n").len(), 1);
        assert_eq!(findings("a/README.md", "use std::fmt;\n").len(), 0);
    }

    #[test]
    fn what_must_not_stay_is_found_by_line() {
        for text in [
            "    todo!()",
            "dbg!(1);",
            "x => unimplemented!(\"y\")",
            "#[ignore]",
            "#[ignore = \"slow\"]",
        ] {
            let found = findings("a/src/x.rs", &format!("//! X.\n{text}\n"));
            assert_eq!(found.len(), 1, "{text}");
            assert!(found[0].starts_with("a/src/x.rs:2:"), "{found:?}");
        }
        assert_eq!(
            findings("a/src/x.rs", "//! X.\n#[cfg_attr(miri, ignore)]\n").len(),
            1
        );
    }

    #[test]
    fn an_ignored_example_is_found() {
        for fence in ["```ignore", "```rust,ignore"] {
            assert_eq!(
                findings("a/src/x.rs", &format!("//! X.\n//! {fence}\n//! ```\n")).len(),
                1,
                "{fence}"
            );
        }
        assert_eq!(
            findings("a/src/x.rs", "//! X.\n//! ```no_run\n//! ```\n").len(),
            0
        );
    }

    #[test]
    fn a_long_file_is_found_unless_it_holds_tests() {
        let text = "//! X.\n".repeat(MAX_LINES + 1);
        assert_eq!(findings("a/src/x.rs", &text).len(), 1);
        assert_eq!(findings("a/src/x/tests.rs", &text).len(), 0);
        assert_eq!(findings("a/tests/it/main.rs", &text).len(), 0);
    }

    #[test]
    fn a_path_of_a_machine_is_found_in_any_text() {
        let path = MACHINE_PATHS[0];
        assert_eq!(findings("a/README.md", &format!("see {path}x")).len(), 1);
        assert_eq!(
            findings("a/README.md", &format!("see https://example.com{path}x")).len(),
            0
        );
    }
}
