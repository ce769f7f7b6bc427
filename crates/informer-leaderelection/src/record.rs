//! What candidates read and write: the record of an election, its version, and the term it grants.

use std::{error::Error, fmt, str::FromStr, sync::Arc, time::Duration};

use informer_core::ResourceVersion;

use crate::MicroTime;

/// Who holds the lock, and how (client-go `resourcelock.LeaderElectionRecord`). What a lease does not say is empty, zero or `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Record {
    /// Who holds it; empty for nobody.
    pub holder: Arc<str>,
    /// How long others wait without seeing a change before they take it over, in seconds.
    pub duration_seconds: u32,
    /// Since when it is held, by the holder's clock. Nobody decides by it. `None` in a write: to be [stamped](Self::stamp).
    pub acquired: Option<MicroTime>,
    /// When it was last renewed, by the holder's clock. Others only look whether it changes.
    pub renewed: Option<MicroTime>,
    /// How often it went to another holder.
    pub transitions: u32,
    /// Coordinated election: how the server elects. Kept by writes.
    pub strategy: Option<Arc<str>>,
    /// Coordinated election: who should hold it instead. Kept by writes.
    pub preferred_holder: Option<Arc<str>>,
}

impl Record {
    /// Sets the times of a write, just before it is sent: renewed at `wall`, and acquired then too unless it was before.
    ///
    /// In a record that the machine gives out, `renewed` is what it was before. If `wall` is the same, because the clock stands, it becomes
    /// one microsecond more: a renewal that changes nothing would be seen by nobody.
    pub fn stamp(&mut self, wall: MicroTime) {
        let wall = match self.renewed {
            Some(before) if before == wall => MicroTime::from_micros(wall.as_micros().saturating_add(1)),
            _ => wall,
        };
        self.renewed = Some(wall);
        self.acquired.get_or_insert(wall);
    }

    /// How long others wait.
    #[must_use]
    pub fn duration(&self) -> Duration {
        Duration::from_secs(self.duration_seconds.into())
    }

    /// Nobody holds it.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.holder.is_empty()
    }
}

/// A record as it was read or written, with the version of its object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observed {
    /// The record.
    pub record: Record,
    /// The resource version: what the next write must carry.
    pub version: ResourceVersion,
}

/// One time of leading: the fencing token to put into what is written meanwhile. [`Fence`](crate::Fence) does that.
///
/// Of two terms, the later has the later version: each begins with a write of the lease. Transitions tell where versions have no order. They
/// start over when the lease is deleted while nobody looks, and stay as they are when a holder comes back under its old name; versions do not.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Term {
    /// How often the lease had gone to another holder when this began (`leaseTransitions`).
    pub transitions: u32,
    /// The resource version with which it began.
    pub version: ResourceVersion,
}

impl Term {
    /// Whether this began after `other`: by version, by transitions where versions have no order.
    #[must_use]
    pub fn is_after(&self, other: &Self) -> bool {
        let by_version = self.version.compare(&other.version);
        let order = by_version.unwrap_or_else(|_| self.transitions.cmp(&other.transitions));
        order.is_gt()
    }
}

/// As `3@1207`: transitions and version.
impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.transitions, self.version.as_str())
    }
}

/// As it prints.
impl FromStr for Term {
    type Err = NoTerm;

    fn from_str(text: &str) -> Result<Self, NoTerm> {
        let (transitions, version) = text.split_once('@').ok_or(NoTerm)?;
        if version.is_empty() {
            return Err(NoTerm);
        }
        Ok(Self {
            transitions: transitions.parse().map_err(|_| NoTerm)?,
            version: ResourceVersion::new(version),
        })
    }
}

/// A text that is no [`Term`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoTerm;

impl fmt::Display for NoTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no term: transitions and version were expected, as in 3@1207")
    }
}

impl Error for NoTerm {}
