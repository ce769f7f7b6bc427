//! What can go wrong when a controller is built, run, or reconciles.

use std::{error::Error, fmt, sync::Arc, time::Duration};

use crate::{BoxError, Terminal};

/// How an attempt at a request failed. The reconciler's own error is the [`source`](Error::source).
#[derive(Debug, Clone)]
pub struct ReconcileError {
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Failed {
        error: Arc<dyn Error + Send + Sync>,
        terminal: bool,
    },
    Panicked(Arc<str>),
    TimedOut(Duration),
}

impl ReconcileError {
    /// The error of a reconciler, which is terminal if it or one of its causes [says so](crate::terminal). One that is of this type already
    /// stays as it is.
    #[must_use]
    pub fn new(error: impl Into<BoxError>) -> Self {
        let error = match error.into().downcast::<Self>() {
            Ok(own) => return *own,
            Err(error) => error,
        };
        match error.downcast::<Terminal>() {
            Ok(terminal) => Self::terminal(terminal.into_inner()),
            Err(error) => Self::failed(Terminal::is_in(&*error), error),
        }
    }

    /// The error of a reconciler that trying again does not help.
    #[must_use]
    pub fn terminal(error: impl Into<BoxError>) -> Self {
        match error.into().downcast::<Self>() {
            Ok(own) => match own.kind {
                Kind::Failed { error, .. } => Self {
                    kind: Kind::Failed {
                        error,
                        terminal: true,
                    },
                },
                Kind::Panicked(_) | Kind::TimedOut(_) => *own,
            },
            Err(error) => Self::failed(true, error),
        }
    }

    fn failed(terminal: bool, error: BoxError) -> Self {
        let error = Arc::from(error);
        Self {
            kind: Kind::Failed { error, terminal },
        }
    }

    pub(crate) fn panicked(message: &str) -> Self {
        Self {
            kind: Kind::Panicked(message.into()),
        }
    }

    pub(crate) fn timed_out(after: Duration) -> Self {
        Self {
            kind: Kind::TimedOut(after),
        }
    }

    /// The reconciler's error said that trying again is of no use.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(self.kind, Kind::Failed { terminal: true, .. })
    }

    /// The reconciler panicked.
    #[must_use]
    pub fn is_panic(&self) -> bool {
        matches!(self.kind, Kind::Panicked(_))
    }

    /// The controller's timeout was over.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self.kind, Kind::TimedOut(_))
    }

    /// The error and its causes in one line, for a log.
    pub(crate) fn chain(&self) -> String {
        let Kind::Failed { error, .. } = &self.kind else {
            return self.to_string();
        };
        let mut line = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            line.push_str(": ");
            line.push_str(&error.to_string());
            cause = error.source();
        }
        line
    }
}

impl fmt::Display for ReconcileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Failed { terminal: false, .. } => f.write_str("reconcile failed"),
            Kind::Failed { terminal: true, .. } => f.write_str("reconcile failed for good"),
            Kind::Panicked(message) => write!(f, "reconcile panicked: {message}"),
            Kind::TimedOut(after) => write!(f, "reconcile took longer than {after:?}"),
        }
    }
}

impl Error for ReconcileError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            Kind::Failed { error, .. } => Some(&**error),
            Kind::Panicked(_) | Kind::TimedOut(_) => None,
        }
    }
}

/// A controller cannot be built: the sentence says what is missing or does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildError {
    message: Box<str>,
}

impl BuildError {
    pub(crate) fn new(name: &str, why: &str) -> Self {
        Self {
            message: format!("controller {name:?} {why}").into(),
        }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for BuildError {}

/// A form of object does not hold the part of the metadata that a predicate or mapping needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingMeta {
    pub(crate) who: &'static str,
    pub(crate) what: &'static str,
}

impl fmt::Display for MissingMeta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} needs the {} of the object, which this form of object does not hold",
            self.who, self.what
        )
    }
}

impl Error for MissingMeta {}

/// A controller did not run, or ended before its sources were in sync.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunError {
    pub(crate) name: Arc<str>,
    pub(crate) kind: RunErrorKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RunErrorKind {
    SecondRun,
    /// Source, and why.
    Source(Arc<str>, Box<str>),
    /// Sources, why each is not, and after how long.
    NotSynced(Vec<Arc<str>>, Vec<Option<String>>, Duration),
    Ended,
}

impl RunError {
    /// It was run before: a controller runs once.
    #[must_use]
    pub fn is_second_run(&self) -> bool {
        self.kind == RunErrorKind::SecondRun
    }

    /// The controller, or the source that was asked about, has ended.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.kind == RunErrorKind::Ended
    }

    /// The sources that were not in sync in time, or the one that failed.
    #[must_use]
    pub fn sources(&self) -> &[Arc<str>] {
        match &self.kind {
            RunErrorKind::SecondRun | RunErrorKind::Ended => &[],
            RunErrorKind::Source(name, _) => std::slice::from_ref(name),
            RunErrorKind::NotSynced(names, ..) => names,
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "controller {:?} ", self.name)?;
        match &self.kind {
            RunErrorKind::SecondRun => f.write_str("was run already: a controller runs once"),
            RunErrorKind::Source(source, why) => write!(f, "cannot follow {source}: {why}"),
            RunErrorKind::Ended => f.write_str("has ended, or the source has"),
            RunErrorKind::NotSynced(sources, why, after) => {
                write!(f, "gave up after {after:?}: not in sync: ")?;
                for (n, (source, why)) in sources.iter().zip(why).enumerate() {
                    let comma = if n == 0 { "" } else { ", " };
                    write!(f, "{comma}{source}")?;
                    if let Some(why) = why {
                        write!(f, " ({why})")?;
                    }
                }
                Ok(())
            }
        }
    }
}

impl Error for RunError {}
