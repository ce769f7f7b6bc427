//! Tables in documents, and the tests that they name.

use std::fs;
use std::path::Path;

/// The rows of all tables with this header, with their line numbers.
pub(super) fn rows<'a>(page: &'a str, header: &[&str]) -> Vec<(usize, Vec<&'a str>)> {
    let mut rows = Vec::new();
    let mut lines = (1..).zip(page.lines()).peekable();
    while let Some((_, line)) = lines.next() {
        if !is_header(line, header) {
            continue;
        }
        // The line of dashes.
        lines.next();
        while let Some((number, line)) = lines.next_if(|(_, line)| line.trim_start().starts_with('|')) {
            rows.push((number, cells(line)));
        }
    }
    rows
}

fn is_header(line: &str, header: &[&str]) -> bool {
    let cells = cells(line);
    cells.len() == header.len()
        && cells
            .iter()
            .zip(header)
            .all(|(cell, name)| cell.eq_ignore_ascii_case(name))
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

/// Why `path::function` is no test, if it is none. A trace, which the crate's tests run each, is one by its path alone.
pub(super) fn missing_test(root: &Path, test: &str) -> Option<String> {
    if test.contains("/traces/") && test.ends_with(".txt") {
        return (!root.join(test).is_file()).then(|| format!("`{test}` does not exist"));
    }
    let Some((path, function)) = test.split_once("::") else {
        return Some(format!("`{test}` is not of the form `path::function`"));
    };
    // Modules in between are for the reader; the function is the last part.
    let function = function.rsplit("::").next().unwrap_or(function);
    let Ok(text) = fs::read_to_string(root.join(path)) else {
        return Some(format!("`{path}` does not exist"));
    };
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_it = |line: &str| {
        let name = line.split_once("fn ").map(|(_, rest)| rest);
        name.and_then(|rest| rest.strip_prefix(function))
            .is_some_and(|rest| rest.starts_with(['(', '<']))
    };
    let Some(found) = lines.iter().position(|line| is_it(line)) else {
        return Some(format!("`{path}` has no function `{function}`"));
    };
    let attributes = lines[..found]
        .iter()
        .rev()
        .take_while(|line| line.starts_with("#[") || line.starts_with("//"));
    let marked = attributes
        .clone()
        .any(|line| line.starts_with("#[") && line.contains("test"));
    (!marked).then(|| format!("`{function}` in `{path}` is not marked as a test"))
}

/// What stands in backticks.
pub(super) fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// Whether a cell says `issue N`.
pub(super) fn waits_for_issue(cell: &str) -> bool {
    let after = cell.to_ascii_lowercase();
    after.split("issue ").skip(1).any(|rest| {
        rest.trim_start_matches('#')
            .starts_with(|c: char| c.is_ascii_digit())
    })
}
