//! The tables from upstream's tests to ours, in each `UPSTREAM.md`, stay true.
//!
//! Their rows are `| client-go | what it pins | ours |`, or begin with `controller-runtime`. The first cell names one test of it, which no other row of the page names.
//! The third names, in backticks, tests as `path::function` or traces by their path, or begins with `not here:` and says why, or names the
//! issue that it waits for.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::tables::{missing_test, quoted, rows, waits_for_issue};
use crate::Result;

/// Each page, and whose tests it is about.
const PAGES: [(&str, &str); 3] = [
    ("tests/parity/UPSTREAM.md", "client-go"),
    ("crates/informer-reflector/tests/UPSTREAM.md", "client-go"),
    ("crates/informer-manager/tests/UPSTREAM.md", "controller-runtime"),
];

/// Rows that name what does not exist.
pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    Ok(PAGES
        .iter()
        .flat_map(|(page, of)| check_page(root, page, of))
        .collect())
}

fn check_page(root: &Path, name: &str, of: &str) -> Vec<String> {
    let header = [of, "what it pins", "ours"];
    let Ok(page) = fs::read_to_string(root.join(name)) else {
        return vec![format!("there is no {name}")];
    };
    let rows = rows(&page, &header);
    if rows.is_empty() {
        let header = header.join(" | ");
        return vec![format!("{name} has no table `| {header} |` with rows")];
    }
    let mut seen = BTreeSet::new();
    rows.iter()
        .flat_map(|(number, cells)| row(root, &format!("{name}:{number}"), cells, &mut seen))
        .collect()
}

fn row<'a>(root: &Path, at: &str, cells: &[&'a str], seen: &mut BTreeSet<&'a str>) -> Vec<String> {
    let [theirs, _, ours] = cells else {
        return vec![format!("{at}: a row has three cells, this one {}", cells.len())];
    };
    let mut findings = Vec::new();
    match quoted(theirs)[..] {
        [test] if !seen.insert(test) => findings.push(format!("{at}: `{test}` has a row already")),
        [_] => {}
        _ => findings.push(format!(
            "{at}: the first cell names one test of upstream's, in backticks"
        )),
    }
    // What stands in backticks beside a reason may be a name that is no test.
    let reason = ours.strip_prefix("not here:").map(str::trim);
    let tests = quoted(ours).into_iter().filter(|name| {
        reason.is_none() || (name.contains("::") || name.ends_with(".txt")) && name.contains('/')
    });
    let mut n_tests = 0;
    for test in tests {
        n_tests += 1;
        findings.extend(missing_test(root, test).map(|why| format!("{at}: {why}")));
    }
    if n_tests == 0 && reason.is_none_or(str::is_empty) && !waits_for_issue(ours) {
        findings.push(format!(
            "{at}: names no test in backticks, no reason behind `not here:`, and no `issue N`"
        ));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(rows: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("tests/parity")).unwrap();
        fs::write(
            dir.path().join("tests/t.rs"),
            "#[test]\nfn holds() {}\nfn helper() {}\n",
        )
        .unwrap();
        let page = format!(
            "# A\n\n## one\n\n| client-go | what it pins | ours |\n|---|---|---|\n{rows}\n\n## two\n\n\
             | client-go | what it pins | ours |\n|---|---|---|\n| `TestLast` | x | `tests/t.rs::holds` |\n"
        );
        fs::create_dir_all(dir.path().join("tests/traces")).unwrap();
        fs::write(dir.path().join("tests/traces/list.txt"), "start\n").unwrap();
        let (name, of) = PAGES[0];
        fs::write(dir.path().join(name), page).unwrap();
        check_page(dir.path(), name, of)
    }

    #[test]
    fn rows_that_hold_are_fine() {
        for row in [
            "| `TestA` | x | `tests/t.rs::holds` |",
            "| `TestA` | x | `tests/t.rs::holds`, `tests/t.rs::holds` |",
            "| `TestA` | x | not here: nobody needs a `Foo::bar` |",
            "| `TestA` | x | not here: ours does something else (`tests/t.rs::holds`) |",
            "| `TestA` | x | issue 7 |",
            "| `TestA` | x | `tests/traces/list.txt` |",
        ] {
            assert_eq!(findings(row), Vec::<String>::new(), "{row}");
        }
    }

    #[test]
    fn each_way_to_be_wrong_is_found_with_its_line() {
        for (row, says) in [
            ("| `TestA` | x | `tests/t.rs::hold` |", "no function `hold`"),
            ("| `TestA` | x | `tests/t.rs::helper` |", "not marked as a test"),
            (
                "| `TestA` | x | not here: see `tests/u.rs::holds` |",
                "does not exist",
            ),
            ("| `TestA` | x | `tests/traces/gone.txt` |", "does not exist"),
            ("| `TestA` | x | not here: |", "no reason"),
            ("| `TestA` | x | soon |", "names no test"),
            ("| TestA | x | issue 7 |", "names one test"),
            ("| `TestA` | issue 7 |", "three cells"),
            ("| `TestLast` | x | issue 7 |", "has a row already"),
        ] {
            let found = findings(row);
            assert_eq!(found.len(), 1, "{row}: {found:?}");
            assert!(
                found[0].starts_with("tests/parity/UPSTREAM.md:") && found[0].contains(says),
                "{row}: {found:?}"
            );
        }
    }

    #[test]
    fn a_page_that_is_not_there_is_found() {
        let findings = check(tempfile::tempdir().unwrap().path()).unwrap();
        assert_eq!(findings.len(), PAGES.len());
    }
}
