//! Why a mutation cache could not answer by an index.

use std::{error::Error, fmt, sync::Arc};

use informer_core::{Incomparable, IndexError, UnknownIndex};

/// An index of a [`MutationCache`](super::MutationCache) could not be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MutationError(Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Unknown(UnknownIndex),
    Versions(Incomparable),
    Index(Arc<str>, IndexError),
}

impl MutationError {
    pub(super) fn of_index(name: Arc<str>, cause: IndexError) -> Self {
        Self(Kind::Index(name, cause))
    }
}

impl From<UnknownIndex> for MutationError {
    fn from(error: UnknownIndex) -> Self {
        Self(Kind::Unknown(error))
    }
}

impl From<Incomparable> for MutationError {
    fn from(error: Incomparable) -> Self {
        Self(Kind::Versions(error))
    }
}

impl fmt::Display for MutationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Unknown(_) => f.write_str("cannot ask the index"),
            Kind::Versions(_) => f.write_str("cannot tell which state is newer"),
            Kind::Index(name, _) => write!(f, "index {name:?} fails for an own write"),
        }
    }
}

impl Error for MutationError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Kind::Unknown(error) => Some(error),
            Kind::Versions(error) => Some(error),
            Kind::Index(_, error) => Some(error),
        }
    }
}
