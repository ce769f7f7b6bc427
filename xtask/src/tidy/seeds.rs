//! The table from the seeds to the code, at the end of `ARCHITECTURE.md`, stays true.
//!
//! Its rows are `| seed name | ours | file | test or issue |`. Paths in backticks in the third column exist. The fourth column names, in
//! backticks, tests as `path::function`, or the issue that the row waits for, as `issue N`.

use std::fs;
use std::path::Path;

use super::tables::{missing_test, quoted, rows, waits_for_issue};
use crate::Result;

const PAGE: &str = "ARCHITECTURE.md";
const HEADER: [&str; 4] = ["seed name", "ours", "file", "test or issue"];

/// Rows that name what does not exist.
pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let Ok(page) = fs::read_to_string(root.join(PAGE)) else {
        return Ok(vec![format!("there is no {PAGE}")]);
    };
    let rows = rows(&page, &HEADER);
    if rows.is_empty() {
        return Ok(vec![format!(
            "{PAGE} has no table `| {} |` with rows",
            HEADER.join(" | ")
        )]);
    }
    Ok(rows
        .iter()
        .flat_map(|(number, cells)| row(root, *number, cells))
        .collect())
}

fn row(root: &Path, number: usize, cells: &[&str]) -> Vec<String> {
    let at = format!("{PAGE}:{number}");
    let [_, _, files, proof] = cells else {
        return vec![format!("{at}: a row has four cells, this one {}", cells.len())];
    };
    let mut findings = Vec::new();
    let files = quoted(files);
    for file in &files {
        if !root.join(file).exists() {
            findings.push(format!("{at}: `{file}` does not exist"));
        }
    }
    let tests = quoted(proof);
    for test in &tests {
        findings.extend(missing_test(root, test).map(|why| format!("{at}: {why}")));
    }
    let waits = waits_for_issue(proof);
    if tests.is_empty() && !waits {
        findings.push(format!("{at}: names neither a test in backticks nor `issue N`"));
    }
    if files.is_empty() && !waits {
        findings.push(format!("{at}: names no file, and waits for no issue"));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(row: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| fs::write(dir.path().join(path), text).unwrap();
        write("a.rs", "");
        write(
            "t.rs",
            "#[test]\nfn holds() {}\n\nfn helper() {}\n#[tokio::test(start_paused = true)]\nasync fn waits() {}\n",
        );
        write(
            PAGE,
            &format!(
                "# A\n\n| x | y |\n|---|---|\n\n| seed name | ours | file | test or issue |\n|---|---|---|---|\n{row}\n"
            ),
        );
        check(dir.path()).unwrap()
    }

    #[test]
    fn rows_that_name_what_exists_are_fine() {
        for row in [
            "| `Store` | `Store` | `a.rs` | `t.rs::holds` |",
            "| `Store` | `Store` | `a.rs`, `t.rs` | `t.rs::holds`, `t.rs::waits` |",
            "| `Election` | later | | issue 12 |",
        ] {
            assert_eq!(findings(row), Vec::<String>::new(), "{row}");
        }
    }

    #[test]
    fn each_way_to_be_wrong_is_found_with_its_line() {
        for (row, says) in [
            (
                "| `X` | `X` | `gone.rs` | `t.rs::holds` |",
                "`gone.rs` does not exist",
            ),
            (
                "| `X` | `X` | `a.rs` | `gone.rs::holds` |",
                "`gone.rs` does not exist",
            ),
            ("| `X` | `X` | `a.rs` | `t.rs::hold` |", "no function `hold`"),
            ("| `X` | `X` | `a.rs` | `t.rs::helper` |", "not marked as a test"),
            ("| `X` | `X` | `a.rs` | `t.rs` |", "not of the form"),
            ("| `X` | `X` | `a.rs` | soon |", "neither a test"),
            ("| `X` | `X` | | `t.rs::holds` |", "names no file"),
            ("| `X` | `X` | `a.rs` |", "four cells"),
        ] {
            let found = findings(row);
            assert_eq!(found.len(), 1, "{row}: {found:?}");
            assert!(
                found[0].starts_with("ARCHITECTURE.md:8: ") && found[0].contains(says),
                "{row}: {found:?}"
            );
        }
    }

    #[test]
    fn a_page_without_the_table_is_found() {
        assert_eq!(findings("").len(), 1);
    }
}
