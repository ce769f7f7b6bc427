//! Where ours differs from client-go on purpose.

use std::{collections::BTreeMap, fmt};

/// A difference that `DIFFERENCES.md` explains under its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Difference {
    /// The applied version of a store moves back or is blanked by what is written.
    AppliedVersion,
    /// An index function that fails panics, with the object stored and the index without it.
    IndexFailure,
    /// Another object of the stored version and uid takes its place.
    EqualStamp,
    /// Of two deletes that merge, the last state that only the older one has is lost.
    LostLastState,
    /// A queue is synced before its first list was handed out, if that came while something else was in hand.
    EarlySync,
    /// Another object under the same key is an update.
    UidChange,
    /// What a list finds unchanged is told again.
    RelistAgain,
    /// A delete of an object that nobody was told of is told.
    UnknownDelete,
    /// The delete of another object of the same key is told as the delete of the stored one.
    ForeignDelete,
    /// A handler that panics in an initial add is never synced.
    PanicUnsynced,
    /// Where a transform takes the version off, real updates count as resyncs and reach nobody.
    BlankedVersion,
    /// What the consumer could not process is gone.
    DroppedError,
    /// A requeue counts as the first sign of the source: the queue is synced though no list came.
    RequeueSync,
    /// A filter keeps a removal back when the last state is not one that it wants.
    LostRemoval,
    /// A watch that fails without a word about its version is followed by a list.
    WatchFirst,
    /// A list in pages that follows a watch is asked for at exactly that version.
    ExactPages,
    /// The list that follows a refused one has no pages.
    WholeQuorumList,
    /// Streaming lists are asked for again and again from a server that knows none.
    StreamMemory,
    /// An internal error of a watch is retried without a wait.
    InternalAtOnce,
    /// The back-off starts over every two minutes, also while everything fails.
    BackoffReset,
    /// The REST client asks again by itself where a connection ends or the server names a time, without backing off.
    RetriedBeneath,
    /// One object that cannot be decoded fails the list, and ends the watch.
    Undecodable,
    /// A streaming list that is cut is begun anew without end, and without a wait.
    StreamCuts,
    /// A streaming list without its end marker is waited for without a bound.
    SilentStream,
    /// A list without a version that is refused for its version is repeated at once.
    QuorumTwice,
    /// A continue token that is gone, rather than expired, makes a list without a version.
    GoneToken,
    /// The first list may be as old as the server likes.
    FirstVersion,
    /// An item that waits for its token takes another when it is added again.
    BucketDuplicates,
    /// A queue that is shut down counts failures of what it does not take.
    CountedWhenShut,
    /// Who has acquired a lease renews it in the same moment.
    RenewsAtOnce,
    /// Who sees that another holds the lease leads on until the renew deadline.
    TakenOver,
    /// The note of a combined event is that of the last.
    CombinedNote,
    /// At the end of a series its count is written also where the server has it.
    CountAgain,
    /// Who cannot renew leads for longer than the renew deadline.
    RenewDeadline,
    /// A lease that is gone is free, whoever held it.
    DroppedLease,
    /// What was lost is given back, though what it guards may still be at work.
    ReleasedWhenLost,
    /// Sources whose names join to the same text are one.
    JoinedKeys,
    /// Who is asked to stop gives back what another holds by now.
    ForeignRelease,
}

impl Difference {
    /// All of them.
    pub const ALL: [Self; 38] = [
        Self::AppliedVersion,
        Self::IndexFailure,
        Self::EqualStamp,
        Self::LostLastState,
        Self::EarlySync,
        Self::UidChange,
        Self::RelistAgain,
        Self::UnknownDelete,
        Self::ForeignDelete,
        Self::PanicUnsynced,
        Self::BlankedVersion,
        Self::DroppedError,
        Self::RequeueSync,
        Self::LostRemoval,
        Self::WatchFirst,
        Self::ExactPages,
        Self::WholeQuorumList,
        Self::StreamMemory,
        Self::InternalAtOnce,
        Self::BackoffReset,
        Self::RetriedBeneath,
        Self::Undecodable,
        Self::StreamCuts,
        Self::SilentStream,
        Self::QuorumTwice,
        Self::GoneToken,
        Self::FirstVersion,
        Self::BucketDuplicates,
        Self::CountedWhenShut,
        Self::RenewsAtOnce,
        Self::TakenOver,
        Self::CombinedNote,
        Self::CountAgain,
        Self::RenewDeadline,
        Self::DroppedLease,
        Self::ReleasedWhenLost,
        Self::JoinedKeys,
        Self::ForeignRelease,
    ];

    /// Whether random sequences meet it. The others have traces of their own.
    #[must_use]
    pub fn is_by_chance(self) -> bool {
        !matches!(
            self,
            Self::IndexFailure
                | Self::EqualStamp
                | Self::EarlySync
                | Self::PanicUnsynced
                | Self::BlankedVersion
                | Self::DroppedError
                | Self::RequeueSync
                | Self::LostRemoval
                | Self::BackoffReset
                | Self::RetriedBeneath
                | Self::Undecodable
                | Self::StreamCuts
                | Self::SilentStream
                | Self::QuorumTwice
                | Self::GoneToken
                | Self::FirstVersion
                | Self::BucketDuplicates
                | Self::CountedWhenShut
                | Self::RenewDeadline
                | Self::DroppedLease
                | Self::ReleasedWhenLost
                | Self::JoinedKeys
                | Self::ForeignRelease
        )
    }

    /// Its name in `DIFFERENCES.md` and the name of its traces.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AppliedVersion => "applied-version",
            Self::IndexFailure => "index-failure",
            Self::EqualStamp => "equal-stamp",
            Self::LostLastState => "lost-last-state",
            Self::EarlySync => "early-sync",
            Self::UidChange => "uid-change",
            Self::RelistAgain => "relist-again",
            Self::UnknownDelete => "unknown-delete",
            Self::ForeignDelete => "foreign-delete",
            Self::PanicUnsynced => "panic-unsynced",
            Self::BlankedVersion => "blanked-version",
            Self::DroppedError => "dropped-error",
            Self::RequeueSync => "requeue-sync",
            Self::LostRemoval => "lost-removal",
            Self::WatchFirst => "watch-first",
            Self::ExactPages => "exact-pages",
            Self::WholeQuorumList => "whole-quorum-list",
            Self::StreamMemory => "stream-memory",
            Self::InternalAtOnce => "internal-at-once",
            Self::BackoffReset => "backoff-reset",
            Self::RetriedBeneath => "retried-beneath",
            Self::Undecodable => "undecodable",
            Self::StreamCuts => "stream-cuts",
            Self::SilentStream => "silent-stream",
            Self::QuorumTwice => "quorum-twice",
            Self::GoneToken => "gone-token",
            Self::FirstVersion => "first-version",
            Self::BucketDuplicates => "bucket-duplicates",
            Self::CountedWhenShut => "counted-when-shut",
            Self::RenewsAtOnce => "renews-at-once",
            Self::TakenOver => "taken-over",
            Self::CombinedNote => "combined-note",
            Self::CountAgain => "count-again",
            Self::RenewDeadline => "renew-deadline",
            Self::DroppedLease => "dropped-lease",
            Self::ReleasedWhenLost => "released-when-lost",
            Self::JoinedKeys => "joined-keys",
            Self::ForeignRelease => "foreign-release",
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// How often each difference was met.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Differences(BTreeMap<Difference, u64>);

impl Differences {
    /// It was met.
    pub fn met(&mut self, difference: Difference) {
        *self.0.entry(difference).or_default() += 1;
    }

    /// Adds what another run met.
    pub fn add(&mut self, other: &Self) {
        for (difference, n) in &other.0 {
            *self.0.entry(*difference).or_default() += n;
        }
    }

    /// Those that were met, and how often.
    pub fn iter(&self) -> impl Iterator<Item = (Difference, u64)> {
        self.0.iter().map(|(difference, n)| (*difference, *n))
    }

    /// Whether this one was met.
    #[must_use]
    pub fn has(&self, difference: Difference) -> bool {
        self.0.contains_key(&difference)
    }
}
