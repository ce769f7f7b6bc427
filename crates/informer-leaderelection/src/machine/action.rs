//! What goes into the machine and what comes out.

use std::{fmt, sync::Arc};

use informer_core::ResourceVersion;

use crate::{Observed, Record, Term};

/// What happened. That time passed is [`Machine::handle_timeout`](super::Machine::handle_timeout); a request that hangs is found there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// The lock was read; `None`: there is none.
    Read(Option<Observed>),
    /// A create, update or release went through, and left this.
    Written(Observed),
    /// The open request failed.
    Failed(Failure),
    /// Stop, politely.
    Stop,
    /// The work that the lease guards has ended, or there is none: from now on the lease may be given back. To be told after
    /// [`Action::EndWork`]; before that it says that nothing has to be waited for later.
    WorkEnded,
}

/// How a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// Somebody else wrote first: a 409 to a write, be it because of the resource version or because the lock exists already.
    Conflict,
    /// Anything else. The server may have done what was asked.
    Other,
}

/// What to do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Read the lock. This and the next three replace the request that is open, if one is.
    Read,
    /// Create the lock with this record, [stamped](Record::stamp) first.
    Create(Record),
    /// Replace the record, [stamped](Record::stamp) first, if the lock is still at this version.
    Update {
        /// The new record.
        record: Record,
        /// The version that it replaces.
        at: ResourceVersion,
    },
    /// The same, to give the lock back.
    Release {
        /// The new record, without holder.
        record: Record,
        /// The version that it replaces.
        at: ResourceVersion,
    },
    /// Drop the open request. What it answers does not count any more.
    Abandon,
    /// The observed holder is another than before; empty for nobody.
    NewLeader(Arc<str>),
    /// A renewal goes the slow path.
    SlowPath,
    /// This candidate leads from now on.
    StartedLeading(Term),
    /// Stopping is wanted: the guarded work should end. The lease is still renewed, for one lease duration at most.
    EndWork,
    /// This candidate leads no more. Never without [`StartedLeading`](Self::StartedLeading) before, and once for it.
    StoppedLeading(Why),
    /// Nothing follows any more. What is still open has been abandoned.
    Ended(End),
}

/// Why a candidate leads no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// It was asked to, and the guarded work has ended.
    Stopped,
    /// It lost the lease: guarded work that still runs must not go on.
    Lost(Loss),
}

/// How a lease was lost.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Loss {
    /// No renewal went through within the renew deadline.
    RenewDeadline,
    /// The lease names another holder, or nobody, though it was not given back.
    TakenOver {
        /// Whom it names.
        holder: Arc<str>,
    },
    /// Coordinated election: the server prefers another holder.
    EndOfTerm,
    /// Stopping was wanted, and one lease duration later the guarded work had not ended.
    WorkDidNotEnd,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RenewDeadline => f.write_str("no renewal went through within the renew deadline"),
            Self::TakenOver { holder } if holder.is_empty() => f.write_str("the lease was taken away"),
            Self::TakenOver { holder } => write!(f, "the lease is held by {holder:?}"),
            Self::EndOfTerm => f.write_str("another holder is preferred"),
            Self::WorkDidNotEnd => f.write_str("the guarded work did not end in time"),
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It was asked to stop.
    Stopped {
        /// The lease was given back.
        released: bool,
    },
    /// It had the lease and lost it.
    Lost(Loss),
}
