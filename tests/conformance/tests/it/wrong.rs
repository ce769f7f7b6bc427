//! What a suite must find of wrong implementations.

use std::collections::BTreeSet;

use informer_testkit::conformance::Report;

/// The check alone was run on a wrong implementation: it found it.
#[track_caller]
pub(crate) fn caught(check: &str, report: &Report) {
    assert_eq!(report.broken(), [check], "{report}");
    let finding = &report.findings()[0];
    assert!(!finding.detail.is_empty() && !finding.rule.is_empty());
}

/// Every check of a suite has a wrong implementation that it caught.
#[track_caller]
pub(crate) fn all_catch(suite: &Report, caught: &[&str]) {
    let checks: BTreeSet<&str> = suite.checks().map(|(name, _)| name).collect();
    let caught: BTreeSet<&str> = caught.iter().copied().collect();
    assert_eq!(checks, caught);
}
