//! What a reflector reports.

use std::{error::Error, fmt, sync::Arc, time::Duration};

use informer_core::FailureClass;

/// What went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Problem {
    /// A LIST failed. It is repeated.
    List(FailureClass),
    /// A streaming list failed in a way that is no reason to use LIST instead. It is repeated.
    StreamingList(FailureClass),
    /// A watch could not be opened, or ended with an error. It is opened again, or the state is listed again.
    Watch(FailureClass),
    /// The sink could not be resynced. The state is listed again.
    Resync,
    /// An object could not be decoded. It is skipped, and its stored copy turns stale where the object is known by name.
    Undecodable,
    /// A line of the watch was no event of this kind. It is skipped.
    Odd,
    /// The key function gave no key. The object is skipped.
    Key,
    /// The transform refused the object, or changed its key. It is skipped, and its stored copy turns stale.
    Transform,
    /// The key function or the transform panicked. The object is treated as if it had failed.
    Panic,
}

impl Problem {
    /// The class of a failed request; `None` for a resync and for what concerns one object.
    #[must_use]
    pub fn class(self) -> Option<FailureClass> {
        match self {
            Self::List(class) | Self::StreamingList(class) | Self::Watch(class) => Some(class),
            Self::Resync | Self::Undecodable | Self::Odd | Self::Key | Self::Transform | Self::Panic => None,
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::List(_) => "list failed",
            Self::StreamingList(_) => "streaming list failed",
            Self::Watch(_) => "watch failed",
            Self::Resync => "resync failed",
            Self::Undecodable | Self::Key | Self::Transform => "object skipped",
            Self::Odd => "watch event skipped",
            Self::Panic => "object skipped after a panic",
        }
    }
}

/// What a reflector tells its [`on_error`](crate::Reflector::on_error) hooks. It goes on by itself in every case.
#[derive(Debug, Clone)]
pub struct ReflectorError {
    pub(crate) reflector: Arc<str>,
    pub(crate) problem: Problem,
    pub(crate) message: Arc<str>,
    pub(crate) retry_in: Option<Duration>,
    pub(crate) cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl ReflectorError {
    /// The name of the reflector.
    #[must_use]
    pub fn reflector(&self) -> &str {
        &self.reflector
    }

    /// What went wrong.
    #[must_use]
    pub fn problem(&self) -> Problem {
        self.problem
    }

    /// The class of a failed request; `None` for what concerns one object.
    #[must_use]
    pub fn class(&self) -> Option<FailureClass> {
        self.problem.class()
    }

    /// How long it waits before it tries again; `None` for what concerns one object.
    #[must_use]
    pub fn retry_in(&self) -> Option<Duration> {
        self.retry_in
    }

    /// What was said of it, by the source or by the reflector itself.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The error of the source, as it was given.
    #[must_use]
    pub fn cause(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.cause.as_deref()
    }
}

impl fmt::Display for ReflectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {}: {}",
            self.reflector,
            self.problem.describe(),
            self.message
        )
    }
}

impl Error for ReflectorError {
    /// What is behind the error of the source: that one itself is printed as part of this one.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_ref().and_then(|cause| cause.source())
    }
}
