//! What a manager that ended leaves behind.

use std::{error::Error, fmt, sync::Arc};

use crate::{BoxError, Group};

/// How the stop went.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Report {
    /// What did not end in time and was dropped, in the order in which it was added.
    pub cut: Vec<Unfinished>,
    /// What waited and was not done.
    pub undone: Vec<Undone>,
    /// Errors that came when the manager had begun to stop.
    pub late_errors: Vec<LateError>,
}

impl Report {
    /// Whether everything ended in time and without an error. What waited and was not done is no fault.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.cut.is_empty() && self.late_errors.is_empty()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_clean() && self.undone.is_empty() {
            return f.write_str("everything ended in time");
        }
        let cut = self.cut.iter().map(ToString::to_string);
        let undone = self.undone.iter().map(ToString::to_string);
        let late = self.late_errors.iter().map(ToString::to_string);
        let all: Vec<_> = cut.chain(undone).chain(late).collect();
        f.write_str(&all.join("; "))
    }
}

/// A runnable that did not end in time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unfinished {
    /// Its name.
    pub name: Arc<str>,
    /// Its group.
    pub group: Group,
    /// It had been asked to stop. The turn of others had not come when the time was over.
    pub asked: bool,
    /// It did not end when it was dropped either: it blocks its thread, and runs on.
    pub stuck: bool,
    /// What of it ran.
    pub busy: Vec<String>,
}

impl fmt::Display for Unfinished {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.stuck { "does not end" } else { "was cut" };
        write!(f, "{} {how}", self.name)?;
        if !self.busy.is_empty() {
            write!(f, " at {}", self.busy.join(", "))?;
        }
        Ok(())
    }
}

/// What a runnable did not do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Undone {
    /// Its name.
    pub name: Arc<str>,
    /// What it names.
    pub what: Vec<String>,
}

impl fmt::Display for Undone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} left {}", self.name, self.what.join(", "))
    }
}

/// An error that came too late to be the reason of the stop.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LateError {
    /// Whose.
    pub name: Arc<str>,
    /// What it says, with its causes.
    pub error: String,
}

impl fmt::Display for LateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.error)
    }
}

/// An error with its causes, in one line.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

pub(crate) fn chain_of(error: &BoxError) -> String {
    chain(&**error)
}
