//! What a suite found.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

use crate::contain::message;

/// A sentence of a contract that an implementation does not keep.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The check that found it.
    pub check: &'static str,
    /// The sentence.
    pub rule: &'static str,
    /// What was seen instead.
    pub detail: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}\n    the contract: {}",
            self.check, self.detail, self.rule
        )
    }
}

/// What a suite checked, and what it found.
#[derive(Debug, Clone)]
#[must_use = "a report that nobody looks at checks nothing"]
pub struct Report {
    subject: Box<str>,
    checks: Vec<&'static str>,
    findings: Vec<Finding>,
}

impl Report {
    pub(super) fn new(subject: &str) -> Self {
        Self {
            subject: subject.into(),
            checks: Vec::new(),
            findings: Vec::new(),
        }
    }

    pub(super) fn note(&mut self, check: &'static str, rule: &'static str, result: Result<(), String>) {
        self.checks.push(check);
        if let Err(detail) = result {
            self.findings.push(Finding { check, rule, detail });
        }
    }

    /// A panic of the implementation is a finding.
    pub(super) fn check(
        &mut self,
        check: &'static str,
        rule: &'static str,
        run: impl FnOnce() -> Result<(), String>,
    ) {
        let result = catch_unwind(AssertUnwindSafe(run))
            .unwrap_or_else(|panic| Err(format!("it panicked: {}", message(&*panic))));
        self.note(check, rule, result);
    }

    /// What is wrong. One finding at most for each check.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The checks that found something.
    #[must_use]
    pub fn broken(&self) -> Vec<&'static str> {
        self.findings.iter().map(|finding| finding.check).collect()
    }

    /// The checks that were run.
    #[must_use]
    pub fn checks(&self) -> &[&'static str] {
        &self.checks
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn conforms(&self) -> bool {
        self.findings.is_empty()
    }

    /// For a test.
    ///
    /// # Panics
    /// With all findings, when something is wrong.
    pub fn assert_conforms(&self) {
        assert!(self.conforms(), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} of {} checks found something",
            self.subject,
            self.findings.len(),
            self.checks.len()
        )?;
        for finding in &self.findings {
            write!(f, "\n{finding}")?;
        }
        Ok(())
    }
}
