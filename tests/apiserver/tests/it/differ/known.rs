//! The differences that are known: patterns in `DIFFERENCES.md`, each under the reason for it.

use std::{fs, path::Path};

struct Pattern {
    text: String,
    /// The difference is not always there.
    sometimes: bool,
    used: bool,
}

/// The list.
pub(super) struct Known {
    patterns: Vec<Pattern>,
}

impl Known {
    /// Every list item that begins with code, perhaps after the word `sometimes`, is a pattern: `script: step: field`, where `*` is
    /// anything. All else is for people.
    pub(super) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let patterns = text
            .lines()
            .filter_map(|line| {
                let item = line.strip_prefix("- ")?;
                let pattern = item.strip_prefix("sometimes ").unwrap_or(item);
                Some(Pattern {
                    text: pattern.strip_prefix('`')?.split_once('`')?.0.to_owned(),
                    sometimes: pattern.len() < item.len(),
                    used: false,
                })
            })
            .collect();
        Self { patterns }
    }

    /// Whether a difference is in the list. Every pattern that fits counts as used.
    pub(super) fn covers(&mut self, place: &str) -> bool {
        let mut covered = false;
        for pattern in &mut self.patterns {
            if fits(&pattern.text, place) {
                pattern.used = true;
                covered = true;
            }
        }
        covered
    }

    /// The patterns that no difference fitted, although one should.
    pub(super) fn unused(&self) -> Vec<&str> {
        let unused = self.patterns.iter().filter(|it| !it.used && !it.sometimes);
        unused.map(|pattern| &*pattern.text).collect()
    }
}

/// Whether a text fits a pattern in which `*` is anything.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, tail)) => match text.strip_prefix(head) {
            None => false,
            Some(rest) => rest
                .char_indices()
                .map(|(at, _)| at)
                .chain([rest.len()])
                .any(|at| fits(tail, &rest[at..])),
        },
    }
}

#[test]
fn patterns_fit_from_begin_to_end() {
    assert!(fits("a: *: /b", "a: c: d: /b"));
    assert!(fits("a*", "a"));
    assert!(fits("a: /x/*/y", "a: /x/0/y"));
    assert!(!fits("a: /b", "a: /b/c"));
    assert!(!fits("*b", "a: c"));
}
