//! What goes into the machine and what comes out.

use std::{sync::Arc, time::Duration};

use informer_core::{FailureClass, ListRequest, ResourceVersion, WatchRequest};

use crate::Problem;

/// What happened at the source, or was asked for from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// The list or watch that was asked for is open.
    Opened,
    /// A list brought an item, readable or not.
    Item,
    /// A page of a list is whole.
    ListEnd {
        /// Its version.
        at: ResourceVersion,
        /// Where the next page begins.
        token: Option<Box<str>>,
    },
    /// A watch brought an object, readable or not.
    Event {
        /// What happened to the object.
        what: What,
        /// The object's version; empty where it could not be read.
        version: ResourceVersion,
    },
    /// A watch brought a bookmark.
    Bookmark {
        /// Its version.
        at: ResourceVersion,
        /// It marks the end of the initial events.
        end_of_initial: bool,
    },
    /// A watch brought a line that is no event of this kind.
    Odd,
    /// What was open ended, without an error.
    Ended,
    /// What was asked for could not be opened, or ended with an error.
    Failed(Failed),
    /// The resync that was asked for is done, or was not due. The time to the next counts from here.
    Resynced,
    /// The resync that was asked for failed. The class says nothing.
    ResyncFailed(Failed),
    /// Whoever reads the state does not trust what it has and wants the whole of it anew.
    Relist,
}

/// What a watch says of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum What {
    /// ADDED.
    Added,
    /// MODIFIED.
    Modified,
    /// DELETED.
    Deleted,
}

/// A failed request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failed {
    /// Its class, by which alone is decided.
    pub class: FailureClass,
    /// How long the server asked to wait at least.
    pub retry_after: Option<Duration>,
    /// For people.
    pub message: Arc<str>,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Ask for a page of a list.
    OpenList(ListRequest),
    /// Ask for a watch.
    OpenWatch(WatchRequest),
    /// Drop what is open, or being opened.
    Close,
    /// Keep the object of the input just handled with those of the whole state that is being taken.
    Keep,
    /// Forget what was kept.
    Forget,
    /// Hand what was kept to the sink as the whole state.
    Publish {
        /// Its version.
        at: ResourceVersion,
        /// It may be older than what the sink has.
        may_rewind: bool,
    },
    /// Hand the object of the input just handled to the sink.
    Deliver,
    /// Hand a bookmark to the sink.
    Bookmark(ResourceVersion),
    /// Resync the sink, and answer with [`Input::Resynced`] or [`Input::ResyncFailed`].
    Resync,
    /// Tell the error hooks.
    Report {
        /// What failed.
        problem: Problem,
        /// For people.
        message: Arc<str>,
        /// The wait that follows; zero: none.
        retry_in: Duration,
    },
    /// Something worth a line in the log.
    Note(Note),
}

/// What is worth a line in the log and is no error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// The whole state is about to be taken, and then watched.
    Attempt,
    /// A whole state came.
    Populated {
        /// Objects in it.
        objects: usize,
        /// Its version.
        at: ResourceVersion,
        /// It is the first.
        first: bool,
    },
    /// The watch's version has expired; the state is listed again.
    WatchExpired,
    /// The state is listed again because somebody asked for it.
    RelistWanted,
    /// A list was refused for its version, and is repeated without one.
    VersionRefused {
        /// Expired or too large.
        class: FailureClass,
    },
    /// A continue token has expired; the list is repeated in one page.
    TokenExpired,
    /// A streaming list did not work; LIST is used.
    StreamingFellBack {
        /// Why.
        why: Arc<str>,
        /// It is not tried again with this source.
        for_good: bool,
    },
    /// A streaming list was cut; it is begun anew.
    StreamingCut,
    /// A streaming list has brought nothing for a while, not even its end.
    StreamingSilent {
        /// For how long.
        silent_for: Duration,
    },
}
