//! What a suite found.

use std::fmt;

/// A sentence of a contract that an implementation does not keep.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The check that found it.
    pub check: &'static str,
    /// The sentence, as it stands in the documentation of the trait.
    pub rule: &'static str,
    /// What was seen instead.
    pub detail: String,
    /// The seed, where the check is random: `Suite::seeds(seed..seed + 1)` runs that one again.
    pub seed: Option<u64>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.check)?;
        if let Some(seed) = self.seed {
            write!(f, " (seed {seed})")?;
        }
        write!(f, ": {}\n    the contract: {}", self.detail, self.rule)
    }
}

/// What a suite checked, and what it found. Made by the `run` of each suite.
#[derive(Debug, Clone)]
#[must_use = "a report that nobody looks at checks nothing"]
pub struct Report {
    subject: Box<str>,
    contract: &'static str,
    checks: Vec<(&'static str, &'static str)>,
    findings: Vec<Finding>,
}

impl Report {
    pub(super) fn new(subject: &str, contract: &'static str) -> Self {
        Self {
            subject: subject.into(),
            contract,
            checks: Vec::new(),
            findings: Vec::new(),
        }
    }

    pub(super) fn checked(&mut self, name: &'static str, rule: &'static str) {
        self.checks.push((name, rule));
    }

    pub(super) fn found(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    /// What is wrong. One finding at most for each check.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The checks that found something, by name.
    #[must_use]
    pub fn broken(&self) -> Vec<&'static str> {
        self.findings.iter().map(|finding| finding.check).collect()
    }

    /// All checks that ran, each with the sentence it checks.
    pub fn checks(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.checks.iter().copied()
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn conforms(&self) -> bool {
        self.findings.is_empty()
    }

    /// For a test: passes if nothing is wrong.
    ///
    /// # Panics
    /// When something is: with the implementation, and each finding with its check and the sentence it breaks.
    #[track_caller]
    pub fn assert_conforms(&self) {
        assert!(self.conforms(), "{self}");
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (n_broken, n_checks) = (self.findings.len(), self.checks.len());
        write!(f, "{} as {}: ", self.subject, self.contract)?;
        if n_broken == 0 {
            return write!(f, "{n_checks} checks, all kept");
        }
        write!(f, "{n_broken} of {n_checks} checks found something")?;
        for finding in &self.findings {
            write!(f, "\n  {finding}")?;
        }
        Ok(())
    }
}
