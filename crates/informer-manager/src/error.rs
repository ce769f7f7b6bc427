//! What can go wrong with a manager.

use std::{error::Error, fmt, sync::Arc};

use crate::{BoxError, Report};

/// A manager cannot be built.
#[derive(Debug)]
pub struct BuildError {
    message: Box<str>,
    source: Option<BoxError>,
}

impl BuildError {
    pub(crate) fn new(message: impl Into<Box<str>>) -> Self {
        Self {
            message: message.into(),
            source: None,
        }
    }

    pub(crate) fn because(message: impl Into<Box<str>>, source: impl Into<BoxError>) -> Self {
        Self {
            message: message.into(),
            source: Some(source.into()),
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for BuildError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|error| error as _)
    }
}

/// A runnable was not added or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AddError {
    /// The manager stops, or has stopped.
    Stopping(Arc<str>),
    /// Something of this name runs already.
    Duplicate(Arc<str>),
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopping(name) => write!(f, "{name:?} was not added: the manager stops"),
            Self::Duplicate(name) => write!(f, "{name:?} was not added: there is one of this name"),
        }
    }
}

impl Error for AddError {}

/// Why a manager ended otherwise than it was told to.
#[derive(Debug)]
pub struct RunError {
    pub(crate) kind: RunErrorKind,
    pub(crate) report: Report,
}

#[derive(Debug)]
pub(crate) enum RunErrorKind {
    Failed(Arc<str>, BoxError),
    NotReady(Arc<str>),
    Lost(Arc<str>),
    Election(Arc<str>, Option<BoxError>),
    Overdue,
    Forced,
}

impl RunError {
    /// The runnable that failed or was not ready in time.
    #[must_use]
    pub fn runnable(&self) -> Option<&str> {
        match &self.kind {
            RunErrorKind::Failed(name, _) | RunErrorKind::NotReady(name) => Some(name),
            _ => None,
        }
    }

    /// A runnable failed.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(self.kind, RunErrorKind::Failed(..))
    }

    /// A runnable was not ready in time.
    #[must_use]
    pub fn is_not_ready(&self) -> bool {
        matches!(self.kind, RunErrorKind::NotReady(_))
    }

    /// This replica led, and lost that.
    #[must_use]
    pub fn is_leadership_lost(&self) -> bool {
        matches!(self.kind, RunErrorKind::Lost(_))
    }

    /// It was told to stop, and something did not end within the grace time.
    #[must_use]
    pub fn is_overdue(&self) -> bool {
        matches!(self.kind, RunErrorKind::Overdue)
    }

    /// It was told twice to stop, and waited for nothing.
    #[must_use]
    pub fn is_forced(&self) -> bool {
        matches!(self.kind, RunErrorKind::Forced)
    }

    /// How the stop went.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            RunErrorKind::Failed(name, _) => write!(f, "{name} failed"),
            RunErrorKind::NotReady(name) => write!(f, "{name} was not ready in time"),
            RunErrorKind::Lost(name) => write!(f, "{name} lost"),
            RunErrorKind::Election(name, None) => write!(f, "{name}: the candidate ended"),
            RunErrorKind::Election(name, Some(_)) => write!(f, "{name}: the candidate failed"),
            RunErrorKind::Overdue => write!(f, "not everything ended within the grace time: {}", self.report),
            RunErrorKind::Forced => f.write_str("told twice to stop"),
        }
    }
}

impl Error for RunError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            RunErrorKind::Failed(_, error) | RunErrorKind::Election(_, Some(error)) => Some(&**error),
            _ => None,
        }
    }
}
