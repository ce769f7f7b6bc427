//! `tidy`: house rules that no compiler checks, each with a sentence that says what to do.

mod lexer;
mod manifests;
mod seeds;
mod sources;
mod tables;
mod upstream;

use std::fs;
use std::path::Path;

use crate::workspace::{self, Workspace};
use crate::{Result, report};

pub(crate) fn run(root: &Path) -> Result {
    report("tidy", &check(root)?)
}

/// All violations below `root`.
fn check(root: &Path) -> Result<Vec<String>> {
    let mut findings = Vec::new();
    for file in workspace::files(root)? {
        // A file that is not text has no lines to judge.
        if let Ok(text) = fs::read_to_string(root.join(&file)) {
            findings.extend(sources::check(&file, &text));
        }
    }
    findings.extend(manifests::check(&Workspace::load(root)?)?);
    findings.extend(seeds::check(root)?);
    findings.extend(upstream::check(root)?);
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checkout_is_tidy() {
        assert_eq!(check(&workspace::root()).unwrap(), Vec::<String>::new());
    }
}
