//! What a candidate tells of itself.

use std::{fmt, sync::Arc};

use crate::{Term, Why};

/// Something worth telling: to a log, or as an event on the lease. Prints as the message of client-go's events, whose reason is
/// [`REASON`](Self::REASON) and whose type is `Normal`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// This candidate leads.
    BecameLeader {
        /// Who it is.
        identity: Arc<str>,
        /// Its term.
        term: Term,
    },
    /// This candidate leads no more.
    StoppedLeading {
        /// Who it is.
        identity: Arc<str>,
        /// Why.
        why: Why,
    },
    /// The lease names another holder than before; empty for nobody. Told to leaders and candidates alike, about themselves too.
    NewLeader {
        /// Whom it names.
        identity: Arc<str>,
    },
}

impl Event {
    /// The reason of the events that client-go records.
    pub const REASON: &'static str = "LeaderElection";
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BecameLeader { identity, .. } => write!(f, "{identity} became leader"),
            Self::StoppedLeading { identity, .. } => write!(f, "{identity} stopped leading"),
            Self::NewLeader { identity } if identity.is_empty() => f.write_str("there is no leader"),
            Self::NewLeader { identity } => write!(f, "{identity} is the leader"),
        }
    }
}
