//! How a run ended.

use std::fmt;

use crate::invariants::Invariant;

/// An invariant that did not hold, or something that must never happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Which.
    pub name: String,
    /// The sentence of the contract that it is about; empty where the name says all.
    pub sentence: String,
    /// What was seen.
    pub what: String,
}

impl Violation {
    pub(crate) fn new(name: &str, what: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            sentence: String::new(),
            what: what.into(),
        }
    }

    pub(crate) fn of(invariant: &dyn Invariant, what: String) -> Self {
        Self {
            name: invariant.name().to_owned(),
            sentence: invariant.sentence().to_owned(),
            what,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.what)?;
        if self.sentence.is_empty() {
            Ok(())
        } else {
            write!(f, "\n  contract: {}", self.sentence)
        }
    }
}

/// What a run left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Of the trace: equal runs have equal ones.
    pub hash: u64,
    /// Times that all invariants were asked.
    pub n_steps: u64,
    /// Lines of the trace.
    pub n_lines: u64,
    /// What did not hold, where something did not.
    pub violation: Option<Violation>,
    /// The trace as text, where it was asked for.
    pub lines: Vec<String>,
}
