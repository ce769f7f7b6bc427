//! What can go wrong with a read from the cache.

use std::{error::Error as StdError, fmt, time::Duration};

use informer_client::{Error, UnknownKind};
use informer_core::{Classify, FailureClass, Resource};

/// A read from the cache, or a change of it, that failed.
#[derive(Debug)]
pub struct CacheError(Box<Reason>);

/// Why.
#[derive(Debug)]
#[non_exhaustive]
pub(crate) enum Reason {
    NotStarted(Resource),
    NotCached {
        wanted: Resource,
        cached: Vec<Resource>,
    },
    NotSynced {
        message: String,
        class: Option<FailureClass>,
    },
    OtherForm {
        resource: Resource,
        held: &'static str,
        wanted: &'static str,
        why: &'static str,
    },
    NotCovered {
        resource: Resource,
        namespace: String,
        covered: Vec<String>,
    },
    Selector(String),
    Overdue {
        resource: Resource,
        waited: Duration,
        write: String,
        at: String,
    },
    Incomparable {
        resource: Resource,
        write: String,
    },
    Removed(Resource),
    Build(String),
    Client(Error),
}

/// What kind of failure it is, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CacheErrorKind {
    /// The cache was not started.
    NotStarted,
    /// The kind is not cached, and the cache starts none by itself.
    NotCached,
    /// The first list is not there yet, in the time that there was.
    NotSynced,
    /// The kind is held in another form, from which this one cannot be made.
    OtherForm,
    /// The namespace is not among those that are cached.
    NotCovered,
    /// A selector, an index or a token is wrong.
    Selector,
    /// An own write did not arrive in time.
    Overdue,
    /// The version of an own write cannot be compared with that of the store.
    Incomparable,
    /// The kind was removed from the cache.
    Removed,
    /// The object is there, and its last state, or any, could not be read.
    Unreadable,
    /// The options do not fit.
    Options,
    /// A request failed, or there is no such object.
    Client,
}

impl CacheError {
    pub(crate) fn new(reason: Reason) -> Self {
        Self(Box::new(reason))
    }

    pub(crate) fn build(message: impl fmt::Display) -> Self {
        Self::new(Reason::Build(message.to_string()))
    }

    pub(crate) fn selector(message: impl fmt::Display) -> Self {
        Self::new(Reason::Selector(message.to_string()))
    }

    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> CacheErrorKind {
        match &*self.0 {
            Reason::NotStarted(_) => CacheErrorKind::NotStarted,
            Reason::NotCached { .. } => CacheErrorKind::NotCached,
            Reason::NotSynced { .. } => CacheErrorKind::NotSynced,
            Reason::OtherForm { .. } => CacheErrorKind::OtherForm,
            Reason::NotCovered { .. } => CacheErrorKind::NotCovered,
            Reason::Selector(_) => CacheErrorKind::Selector,
            Reason::Overdue { .. } => CacheErrorKind::Overdue,
            Reason::Incomparable { .. } => CacheErrorKind::Incomparable,
            Reason::Removed(_) => CacheErrorKind::Removed,
            Reason::Build(_) => CacheErrorKind::Options,
            Reason::Client(error) if error.is_unreadable() => CacheErrorKind::Unreadable,
            Reason::Client(_) => CacheErrorKind::Client,
        }
    }

    /// The error of the client, if it was one.
    #[must_use]
    pub fn client(&self) -> Option<&Error> {
        match &*self.0 {
            Reason::Client(error) => Some(error),
            _ => None,
        }
    }

    /// The object is there, and its last state, or any, could not be read: it is neither absent nor known.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        self.kind() == CacheErrorKind::Unreadable
    }

    /// There is no such object. That a kind or a namespace is not cached is not that.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.client().is_some_and(Error::is_not_found)
    }
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Reason::NotStarted(resource) => {
                write!(f, "{resource} cannot be read: the cache was not started")
            }
            Reason::NotCached { wanted, cached } => {
                let names: Vec<_> = cached.iter().map(ToString::to_string).collect();
                write!(f, "{wanted} are not cached")?;
                if names.is_empty() {
                    f.write_str(", and neither is any other kind")
                } else {
                    write!(f, ", but {}", names.join(", "))
                }
            }
            Reason::NotSynced { message, .. } | Reason::Selector(message) | Reason::Build(message) => {
                f.write_str(message)
            }
            Reason::OtherForm {
                resource,
                held,
                wanted,
                why,
            } => write!(
                f,
                "{resource} are cached as {held}, which cannot be read as {wanted}: {why}"
            ),
            Reason::NotCovered {
                resource,
                namespace,
                covered,
            } => write!(
                f,
                "{resource} of namespace {namespace:?} are not cached, but those of {}",
                covered.join(", ")
            ),
            Reason::Overdue {
                resource,
                waited,
                write,
                at,
            } => write!(
                f,
                "cached {resource} did not show {write} within {waited:?}: {at}"
            ),
            Reason::Incomparable { resource, write } => write!(
                f,
                "whether cached {resource} show {write} cannot be said: the versions have no order"
            ),
            Reason::Removed(resource) => write!(f, "{resource} were removed from the cache"),
            Reason::Client(error) => error.fmt(f),
        }
    }
}

impl StdError for CacheError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.client().and_then(StdError::source)
    }
}

impl Classify for CacheError {
    fn class(&self) -> FailureClass {
        match &*self.0 {
            Reason::Client(error) => error.class(),
            Reason::NotSynced { class, .. } => class.unwrap_or(FailureClass::Transient),
            Reason::Overdue { .. } | Reason::NotStarted(_) | Reason::Removed(_) => FailureClass::Transient,
            Reason::NotCached { .. }
            | Reason::OtherForm { .. }
            | Reason::NotCovered { .. }
            | Reason::Selector(_)
            | Reason::Incomparable { .. }
            | Reason::Build(_) => FailureClass::Fatal,
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        self.client().and_then(Classify::retry_after)
    }
}

impl From<Error> for CacheError {
    fn from(error: Error) -> Self {
        Self::new(Reason::Client(error))
    }
}

impl From<UnknownKind> for CacheError {
    fn from(error: UnknownKind) -> Self {
        Error::from(error).into()
    }
}
