//! Facts: what can be seen of the machinery from outside, written down by the wire and by the handlers as it happens.

use std::{
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use informer_core::{Change, ObjectKey, ResourceVersion, Stamp};
use informer_leaderelection::Term;
use informer_testkit::ManualClock;
use informer_workqueue::{Outcome, Shutdown};

use crate::{config::MillConfig, net::Ask, thing::Thing};

/// Names one informer of one life of a client: a restart makes another.
pub(crate) type InformerId = u32;

/// Names one work queue.
pub(crate) type QueueId = u32;

/// Names one handler.
pub(crate) type HandlerId = u32;

/// Something that happened.
#[derive(Debug, Clone)]
pub(crate) enum Fact {
    /// An informer was started.
    Started { informer: InformerId },
    /// It was told to stop, or dropped.
    Stopping { informer: InformerId },
    /// Its run returned, and named handlers that it did not wait for.
    Ended {
        informer: InformerId,
        still_running: usize,
    },
    /// It reported something to its error hook.
    Trouble { informer: InformerId, what: String },
    /// A handler was added.
    Joined {
        informer: InformerId,
        handler: HandlerId,
    },
    /// A handler was removed.
    Left {
        informer: InformerId,
        handler: HandlerId,
    },
    /// A request was begun by the client.
    Asked { informer: InformerId, ask: Ask },
    /// Its head arrived; 0: it failed without one.
    Answered { informer: InformerId, status: u16 },
    /// Nothing of it is open any more.
    Closed { informer: InformerId },
    /// A version that a watch can resume from was handed to the client.
    Handed { informer: InformerId, version: u64 },
    /// The client has read everything that was handed to it before.
    Read { informer: InformerId, version: u64 },
    /// A whole state was handed to the client.
    Whole { informer: InformerId, version: u64 },
    /// A handler is called.
    Told {
        informer: InformerId,
        handler: HandlerId,
        change: Change<ObjectKey, Thing>,
        /// What the store holds at this moment.
        stored: Option<Stamp>,
        applied: ResourceVersion,
    },
    /// The call is over.
    Returned {
        informer: InformerId,
        handler: HandlerId,
        panicked: bool,
    },
    /// A page that is not the last one was handed to the client.
    Paged { informer: InformerId, version: u64 },
    /// An error in a stream was.
    Refused { informer: InformerId },
    /// The server went back to this version.
    Restored { to: u64 },
    /// Somebody who waited for a version goes on.
    Waited {
        informer: InformerId,
        version: u64,
        applied: ResourceVersion,
    },
    /// A controller was told to stop, or dropped.
    ControllerStopping { controller: InformerId },
    /// A reconcile begins; what it reads of its object.
    Began {
        controller: InformerId,
        key: ObjectKey,
        seen: Option<Stamp>,
    },
    /// A reconcile is over.
    Finished {
        controller: InformerId,
        key: ObjectKey,
        succeeded: bool,
    },
    /// A work queue was opened.
    Opened { queue: QueueId, config: MillConfig },
    /// An item was added to it. `None`: when the limiter allows.
    Queued {
        queue: QueueId,
        item: u8,
        after: Option<Duration>,
        priority: i32,
    },
    /// A worker was given an item.
    Taken { queue: QueueId, item: u8 },
    /// It is about to say how the work ended.
    Worked {
        queue: QueueId,
        item: u8,
        outcome: Outcome,
    },
    /// It was shut down, which dropped these.
    ShutDown {
        queue: QueueId,
        how: Shutdown,
        left: Vec<u8>,
    },
    /// It said that it was drained.
    Drained { queue: QueueId },
    /// A candidate of the election says something; the term where it began to lead.
    Election {
        candidate: u32,
        what: String,
        term: Option<Term>,
    },
    /// The server took a candidate's write of the lease, which changed who holds it; nobody is the empty name.
    LeaseWritten {
        candidate: u32,
        before: String,
        after: String,
    },
    /// From now on no request can succeed.
    OutageBegan,
    /// Requests can succeed again.
    OutageEnded,
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started { informer } => write!(f, "i{informer} started"),
            Self::Stopping { informer } => write!(f, "i{informer} stopping"),
            Self::Ended {
                informer,
                still_running,
            } => {
                write!(f, "i{informer} ended, {still_running} still running")
            }
            Self::Trouble { informer, what } => write!(f, "i{informer} trouble: {what}"),
            Self::Joined { informer, handler } => write!(f, "i{informer} h{handler} joined"),
            Self::Left { informer, handler } => write!(f, "i{informer} h{handler} left"),
            Self::Asked { informer, ask } => write!(f, "i{informer} asks {ask}"),
            Self::Answered { informer, status } => write!(f, "i{informer} answered {status}"),
            Self::Closed { informer } => write!(f, "i{informer} closed"),
            Self::Handed { informer, version } => write!(f, "i{informer} handed {version}"),
            Self::Read { informer, version } => write!(f, "i{informer} read {version}"),
            Self::Whole { informer, version } => write!(f, "i{informer} whole at {version}"),
            Self::Told {
                informer,
                handler,
                change,
                applied,
                ..
            } => {
                write!(f, "i{informer} h{handler} told {change:?} applied {applied}")
            }
            Self::Returned {
                informer,
                handler,
                panicked,
            } => {
                let how = if *panicked { "panicked" } else { "returned" };
                write!(f, "i{informer} h{handler} {how}")
            }
            Self::Waited {
                informer, version, ..
            } => write!(f, "i{informer} waited for {version}"),
            Self::ControllerStopping { controller } => write!(f, "c{controller} stopping"),
            Self::Began {
                controller,
                key,
                seen,
            } => {
                let version = seen.as_ref().map_or("none", |stamp| stamp.version.as_str());
                write!(f, "c{controller} reconciles {key} seen {version}")
            }
            Self::Finished {
                controller,
                key,
                succeeded,
            } => {
                write!(
                    f,
                    "c{controller} reconciled {key} {}",
                    if *succeeded { "ok" } else { "badly" }
                )
            }
            Self::Paged { informer, version } => write!(f, "i{informer} page at {version}"),
            Self::Refused { informer } => write!(f, "i{informer} refused"),
            Self::Restored { to } => write!(f, "restored to {to}"),
            Self::Opened { .. }
            | Self::Queued { .. }
            | Self::Taken { .. }
            | Self::Worked { .. }
            | Self::ShutDown { .. }
            | Self::Drained { .. } => self.fmt_queue(f),
            Self::Election {
                candidate,
                what,
                term,
            } => match term {
                Some(term) => write!(f, "e{candidate}: {what}, term {term}"),
                None => write!(f, "e{candidate}: {what}"),
            },
            Self::LeaseWritten {
                candidate,
                before,
                after,
            } => write!(f, "e{candidate} wrote the lease: from {before:?} to {after:?}"),
            Self::OutageBegan => f.write_str("outage began"),
            Self::OutageEnded => f.write_str("outage ended"),
        }
    }
}

impl Fact {
    fn fmt_queue(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opened { queue, .. } => write!(f, "q{queue} opened"),
            Self::Queued {
                queue,
                item,
                after,
                priority,
            } => match after {
                Some(after) => write!(f, "q{queue} add {item} after {after:?} at {priority}"),
                None => write!(f, "q{queue} add {item} rate limited at {priority}"),
            },
            Self::Taken { queue, item } => write!(f, "q{queue} takes {item}"),
            Self::Worked { queue, item, outcome } => write!(f, "q{queue} worked {item}: {outcome:?}"),
            Self::ShutDown { queue, how, left } => write!(f, "q{queue} shut down {how:?}, left {left:?}"),
            Self::Drained { queue } => write!(f, "q{queue} drained"),
            _ => Ok(()),
        }
    }
}

/// A fact and when it was.
#[derive(Debug, Clone)]
pub(crate) struct Noted {
    pub(crate) at: Duration,
    pub(crate) fact: Fact,
}

/// Where facts are written down. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Probe {
    clock: ManualClock,
    facts: Arc<Mutex<Vec<Noted>>>,
}

impl Probe {
    pub(crate) fn new(clock: ManualClock) -> Self {
        Self {
            clock,
            facts: Arc::default(),
        }
    }

    pub(crate) fn note(&self, fact: Fact) {
        let at = self.clock.elapsed();
        self.lock().push(Noted { at, fact });
    }

    /// Facts that were taken and are to be taken once more.
    pub(crate) fn put_back(&self, facts: Vec<Noted>) {
        self.lock().splice(0..0, facts);
    }

    pub(crate) fn take(&self) -> Vec<Noted> {
        mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Noted>> {
        self.facts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
