//! Classes of failures: what a reflector has to know of an error to do the right thing.

use std::{error::Error, fmt, time::Duration};

/// What kind of failure an error of a source is. The reflector decides by the class alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FailureClass {
    /// 410 `Expired` or `Gone`: the resource version or continue token is too old.
    Expired,
    /// The resource version is newer than what this server has seen (`ResourceVersionTooLarge`).
    VersionTooLarge,
    /// 429: too many requests.
    Throttled,
    /// Connection refused: nothing listens.
    Refused,
    /// 401.
    Unauthorized,
    /// 403.
    Forbidden,
    /// 404: the kind or namespace is not there.
    NotFound,
    /// The server does not serve what was asked: a streaming list, a watch, a selector.
    Unsupported,
    /// 500 `InternalError`.
    Internal,
    /// Anything that may be gone on the next attempt: cut, reset, timed out, 5xx.
    Transient,
    /// It will not get better by trying: a broken configuration or a bug.
    Fatal,
}

impl FailureClass {
    /// A word for logs, metrics and status.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::VersionTooLarge => "version too large",
            Self::Throttled => "throttled",
            Self::Refused => "refused",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not found",
            Self::Unsupported => "unsupported",
            Self::Internal => "internal",
            Self::Transient => "transient",
            Self::Fatal => "fatal",
        }
    }
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Tells the class of an error.
pub trait Classify {
    /// The class.
    fn class(&self) -> FailureClass;

    /// How long the server asked to wait at least (`Retry-After`).
    fn retry_after(&self) -> Option<Duration> {
        None
    }
}

/// An error of any source behind one type: what boxed sources and closures report.
#[derive(Debug)]
pub struct SourceError {
    class: FailureClass,
    retry_after: Option<Duration>,
    cause: Box<dyn Error + Send + Sync>,
}

impl SourceError {
    /// An error of this class with this cause.
    #[must_use]
    pub fn new(class: FailureClass, cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            class,
            retry_after: None,
            cause: cause.into(),
        }
    }

    /// The same, to be retried after `wait` at the earliest.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// Boxes an error that knows its class.
    #[must_use]
    pub fn from_classified(error: impl Error + Classify + Send + Sync + 'static) -> Self {
        Self {
            class: error.class(),
            retry_after: error.retry_after(),
            cause: Box::new(error),
        }
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.cause, f)
    }
}

impl Error for SourceError {
    /// The cause of the boxed error: the boxed error itself is what this one prints as.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.source()
    }
}

impl Classify for SourceError {
    fn class(&self) -> FailureClass {
        self.class
    }

    fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}
