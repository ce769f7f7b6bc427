//! What can be wrong with kinds.

use std::{error::Error, fmt};

use informer_core::{Classify, FailureClass, Resource};

/// So many kinds are named.
const MOST_NAMED: usize = 12;

/// A type or kind that was not added to the registry. Names what was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownKind {
    wanted: Box<str>,
    known: Vec<Resource>,
}

impl UnknownKind {
    pub(super) fn new(wanted: String, known: Vec<Resource>) -> Self {
        Self {
            wanted: wanted.into(),
            known,
        }
    }

    /// What was asked for.
    pub(crate) fn wanted(&self) -> &str {
        &self.wanted
    }

    /// The kinds that were added.
    #[must_use]
    pub fn known(&self) -> &[Resource] {
        &self.known
    }
}

impl fmt::Display for UnknownKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is not registered: ", self.wanted)?;
        if self.known.is_empty() {
            return f.write_str("there are no kinds");
        }
        f.write_str("there are ")?;
        for (at, known) in self.known.iter().take(MOST_NAMED).enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{} {}", known.api_version(), known.kind)?;
        }
        match self.known.len().saturating_sub(MOST_NAMED) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

impl Error for UnknownKind {}

impl Classify for UnknownKind {
    fn class(&self) -> FailureClass {
        FailureClass::Fatal
    }
}

/// What was added does not fit what was added before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindConflict(Box<str>);

impl KindConflict {
    pub(super) fn of_type(name: &str, before: &Resource, now: &Resource) -> Self {
        Self(format!("{name} is {}, so it cannot be {}", say(before), say(now)).into())
    }

    pub(super) fn of_kind(before: &Resource, now: &Resource) -> Self {
        Self(format!("there is {}, which does not fit {}", say(before), say(now)).into())
    }
}

fn say(it: &Resource) -> String {
    format!("{} {} ({}, {:?})", it.api_version(), it.kind, it.plural, it.scope)
}

impl fmt::Display for KindConflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for KindConflict {}
