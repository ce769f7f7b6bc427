//! `Error`: how a request failed.

use std::{error::Error as StdError, fmt, time::Duration};

use informer_core::{Classify, DecodeError, FailureClass, Resource};
use informer_transport::{
    ApiError, Asked, BoxError, FrameTooLarge, ListError, RequestError, Status, Transport,
};

use crate::{ResolveError, UnknownKind, UnknownResource};

/// A request failed. Its class says what to do, its text what happened.
///
/// Prints as what went wrong at this level; [`source`](StdError::source) tells the rest.
#[derive(Debug)]
pub struct Error(Box<Kind>);

#[derive(Debug)]
enum Kind {
    Request(RequestError),
    Transport { refused: bool, cause: BoxError },
    Body(BoxError),
    Api(ApiError),
    List(ListError),
    Frame(FrameTooLarge),
    Decode(DecodeError),
    Answer(Box<str>),
    Unknown(UnknownKind),
    Undiscovered(UnknownResource),
    Discovery { wanted: Box<str>, cause: Error },
}

impl Error {
    pub(crate) fn transport<T: Transport>(error: T::Error) -> Self
    where
        T::Error: 'static,
    {
        Self(Box::new(Kind::Transport {
            refused: T::is_refused(&error),
            cause: Box::new(error),
        }))
    }

    pub(crate) fn body(cause: impl Into<BoxError>) -> Self {
        Self(Box::new(Kind::Body(cause.into())))
    }

    pub(crate) fn answer(message: impl Into<Box<str>>) -> Self {
        Self(Box::new(Kind::Answer(message.into())))
    }

    /// A kind that is in no registry could not be discovered.
    pub(crate) fn undiscovered(wanted: &UnknownKind, error: ResolveError) -> Self {
        Self(Box::new(match error {
            ResolveError::Unknown(unknown) => Kind::Undiscovered(unknown),
            ResolveError::Failed(cause) => Kind::Discovery {
                wanted: wanted.wanted().into(),
                cause,
            },
        }))
    }

    /// The error of a server that has no such object, for those who know without asking it.
    #[must_use]
    pub fn not_found(resource: &Resource, name: &str) -> Self {
        let message = format!("{resource} {name:?} not found");
        ApiError::from_status(Status::failure(404, "NotFound", message), Asked::Object).into()
    }

    /// An error of this sentence, for a request that is refused before it is sent.
    #[must_use]
    pub fn refused(message: impl Into<Box<str>>) -> Self {
        RequestError::new(message).into()
    }

    /// What the server said, if it was the server that failed the request.
    #[must_use]
    pub fn api(&self) -> Option<&ApiError> {
        match &*self.0 {
            Kind::Api(error) => Some(error),
            _ => None,
        }
    }

    /// The HTTP status code of a failure that the server reported.
    #[must_use]
    pub fn code(&self) -> Option<u16> {
        self.api().map(ApiError::code).filter(|&code| code > 0)
    }

    /// There is no such object or kind.
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.code() == Some(404)
    }

    /// The object is there, and its last state, or any, cannot be decoded: it is neither absent nor known.
    #[must_use]
    pub fn is_unreadable(&self) -> bool {
        matches!(&*self.0, Kind::Decode(_))
    }

    /// Somebody else wrote the object since it was read.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.code() == Some(409) && !self.is_already_exists()
    }

    /// There is an object of that name already.
    #[must_use]
    pub fn is_already_exists(&self) -> bool {
        self.api().is_some_and(|error| error.reason() == "AlreadyExists")
    }
}

impl Classify for Error {
    fn class(&self) -> FailureClass {
        match &*self.0 {
            Kind::Request(error) => error.class(),
            Kind::Transport { refused: true, .. } => FailureClass::Refused,
            Kind::Transport { .. } | Kind::Body(_) => FailureClass::Transient,
            Kind::Api(error) => error.class(),
            Kind::List(error) => error.class(),
            Kind::Frame(error) => error.class(),
            Kind::Decode(_) => FailureClass::Fatal,
            Kind::Answer(_) => FailureClass::Transient,
            Kind::Unknown(error) => error.class(),
            Kind::Undiscovered(_) => FailureClass::NotFound,
            Kind::Discovery { cause, .. } => match cause.class() {
                // Of discovery itself, which says nothing of the kind.
                FailureClass::NotFound => FailureClass::Unsupported,
                class => class,
            },
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match &*self.0 {
            Kind::Discovery { cause, .. } => cause.retry_after(),
            _ => self.api().and_then(Classify::retry_after),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Request(error) => error.fmt(f),
            Kind::Transport { cause, .. } => cause.fmt(f),
            Kind::Body(_) => f.write_str("the answer was cut"),
            Kind::Api(error) => error.fmt(f),
            Kind::List(error) => error.fmt(f),
            Kind::Frame(error) => error.fmt(f),
            Kind::Decode(error) => error.fmt(f),
            Kind::Answer(message) => f.write_str(message),
            Kind::Unknown(error) => error.fmt(f),
            Kind::Undiscovered(error) => error.fmt(f),
            Kind::Discovery { wanted, .. } => {
                write!(
                    f,
                    "{wanted} is not registered, and the server could not be asked for it"
                )
            }
        }
    }
}

impl StdError for Error {
    /// The cause of what this error prints as.
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &*self.0 {
            Kind::Transport { cause, .. } => cause.source(),
            Kind::Body(cause) => Some(&**cause),
            Kind::Decode(error) => error.source(),
            Kind::Discovery { cause, .. } => Some(cause),
            Kind::Request(_)
            | Kind::Api(_)
            | Kind::List(_)
            | Kind::Frame(_)
            | Kind::Answer(_)
            | Kind::Unknown(_)
            | Kind::Undiscovered(_) => None,
        }
    }
}

impl From<RequestError> for Error {
    fn from(error: RequestError) -> Self {
        Self(Box::new(Kind::Request(error)))
    }
}

impl From<ApiError> for Error {
    fn from(error: ApiError) -> Self {
        Self(Box::new(Kind::Api(error)))
    }
}

impl From<ListError> for Error {
    fn from(error: ListError) -> Self {
        Self(Box::new(Kind::List(error)))
    }
}

impl From<FrameTooLarge> for Error {
    fn from(error: FrameTooLarge) -> Self {
        Self(Box::new(Kind::Frame(error)))
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        Self(Box::new(Kind::Decode(error)))
    }
}

impl From<UnknownKind> for Error {
    fn from(error: UnknownKind) -> Self {
        Self(Box::new(Kind::Unknown(error)))
    }
}
