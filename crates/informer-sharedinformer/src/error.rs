//! What can go wrong when an informer is built, run or waited for.

use std::{error::Error, fmt, sync::Arc, time::Duration};

use informer_core::FailureClass;

/// The informer has stopped; it never starts again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    pub(crate) name: Arc<str>,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "informer {:?} has stopped", self.name)
    }
}

impl Error for Stopped {}

/// A registration is of a handler that another informer has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignRegistration {
    pub(crate) informer: Arc<str>,
    pub(crate) handler: Arc<str>,
}

impl fmt::Display for ForeignRegistration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "informer {:?} has no handler {:?}: the registration is another informer's",
            self.informer, self.handler
        )
    }
}

impl Error for ForeignRegistration {}

/// An informer cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunError {
    pub(crate) name: Arc<str>,
    pub(crate) kind: RunErrorKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunErrorKind {
    Running,
    Stopped,
}

impl RunError {
    /// It runs already, or ran before.
    #[must_use]
    pub fn is_second_run(&self) -> bool {
        self.kind == RunErrorKind::Running
    }

    /// It was stopped before it ran.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.kind == RunErrorKind::Stopped
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.kind {
            RunErrorKind::Running => "was run already: an informer runs once",
            RunErrorKind::Stopped => "was stopped before it ran",
        };
        write!(f, "informer {:?} {why}", self.name)
    }
}

impl Error for RunError {}

/// An informer cannot be built: the sentence says which part does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildError {
    message: Box<str>,
}

impl BuildError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into().into_boxed_str(),
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for BuildError {}

/// An informer or a handler was not in sync in time, and why as far as the source tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotSynced {
    pub(crate) name: Arc<str>,
    /// `None`: it stopped instead.
    pub(crate) waited: Option<Duration>,
    pub(crate) cause: Box<str>,
    pub(crate) class: Option<FailureClass>,
}

impl NotSynced {
    /// The name of the informer.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The class of the last failure of its source, where there was one.
    #[must_use]
    pub fn class(&self) -> Option<FailureClass> {
        self.class
    }
}

impl fmt::Display for NotSynced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "informer {:?} ", self.name)?;
        match self.waited {
            Some(waited) => write!(f, "is not in sync after {waited:?}: {}", self.cause),
            None => write!(f, "stopped before it was in sync: {}", self.cause),
        }
    }
}

impl Error for NotSynced {}

/// Something that went wrong while an informer runs and that it survives: what the error hook is told.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Trouble {
    /// Deltas could not be applied to the store; they are tried again.
    Commit {
        /// How many.
        failed: usize,
        /// Which and why.
        error: Arc<str>,
    },
    /// Objects stay refused by the store, so the source was asked for the whole state anew.
    Relist {
        /// How many.
        refused: usize,
    },
    /// A handler panicked. It goes on with the next change.
    HandlerPanicked {
        /// Its name.
        handler: Arc<str>,
        /// The key of the change.
        key: Box<str>,
        /// What it said.
        message: Box<str>,
    },
    /// The source of deltas reported a failure.
    Source {
        /// The class, where it is known.
        class: Option<FailureClass>,
        /// The error.
        error: Arc<str>,
    },
    /// The source ended by itself: the store stays as it is.
    SourceEnded,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Commit { error, .. } | Self::Source { error, .. } => f.write_str(error),
            Self::HandlerPanicked {
                handler,
                key,
                message,
            } => write!(f, "handler {handler:?} panicked at {key}: {message}"),
            Self::Relist { refused } => {
                write!(
                    f,
                    "{refused} objects stay refused by the store: the source lists again"
                )
            }
            Self::SourceEnded => f.write_str("the source ended"),
        }
    }
}
