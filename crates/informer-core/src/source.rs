//! Where objects come from: `ListerWatcher`, the feeds it opens, and their boxed forms.

use std::{error::Error, fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use crate::{Cause, Classify, DecodeError, Decoded, ResourceVersion, SourceError};

/// How a server matches the version of a list request (`resourceVersionMatch`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VersionMatch {
    /// At least as new as the version.
    NotOlderThan,
    /// Exactly the version.
    Exact,
}

/// What one page of a list is asked with. Namespace and selectors belong to the source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ListRequest {
    /// `resourceVersion`: `None` asks for the most recent state (quorum read), `0` for any that the server has at hand.
    pub version: Option<ResourceVersion>,
    /// How the version is meant.
    pub version_match: Option<VersionMatch>,
    /// At most this many items; `None` asks for all.
    pub limit: Option<u32>,
    /// Where the previous page ended. With a token the source sends no version: the token holds it.
    pub token: Option<Box<str>>,
}

/// What a watch is asked with. Namespace and selectors belong to the source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WatchRequest {
    /// Changes after this version; `None` begins with the most recent state.
    pub version: Option<ResourceVersion>,
    /// The server ends the watch after this long (`timeoutSeconds`).
    pub timeout: Option<Duration>,
    /// Ask for bookmarks (`allowWatchBookmarks`).
    pub bookmarks: bool,
    /// Ask for the initial state in the stream, ended by a bookmark that says so (`sendInitialEvents`, a streaming list).
    pub initial_events: bool,
}

/// One item of a list body, in the order of the wire.
#[derive(Debug)]
pub enum Listed<K> {
    /// An object, or what is known of one that could not be decoded.
    Item(Result<Decoded<K>, DecodeError>),
    /// The list is whole. A feed that ends without it was cut.
    End {
        /// The version of the list; empty where the server gave none.
        at: ResourceVersion,
        /// Where the next page begins.
        token: Option<Box<str>>,
    },
}

/// One event of a watch stream.
#[derive(Debug)]
pub enum Watched<K> {
    /// ADDED or MODIFIED.
    Upsert(Cause, Result<Decoded<K>, DecodeError>),
    /// DELETED: the last state, whose version is that of the deletion.
    Delete(Result<Decoded<K>, DecodeError>),
    /// BOOKMARK.
    Bookmark {
        /// Nothing is missing up to here.
        at: ResourceVersion,
        /// It marks the end of the initial events.
        end_of_initial: bool,
    },
    /// A line that is no event of this kind: unknown type, another kind, a table. It is reported and skipped.
    Odd(DecodeError),
}

/// Something that yields events until it ends or fails.
///
/// `None` is a clean end. After an error or `None` it is not asked again.
///
/// # Cancel safety
/// Dropping the future of `next` loses no event. Dropping the feed closes what it reads from.
pub trait Feed: Send {
    /// What it yields.
    type Event;
    /// How it fails.
    type Error;

    /// The next event.
    fn next(&mut self) -> impl Future<Output = Option<Result<Self::Event, Self::Error>>> + Send;

    /// Bytes of the body that were read so far, where it counts them: as the transport hands them out, so after decompression.
    fn bytes_read(&self) -> Option<u64> {
        None
    }
}

/// Lists and watches one kind of objects (client-go `ListerWatcher`).
pub trait ListerWatcher: Send + Sync {
    /// The form of object that it yields.
    type Object: Send + Sync + 'static;
    /// How it fails.
    type Error: Error + Classify + Send + Sync + 'static;
    /// A list, read item by item; its version may come last.
    type List: Feed<Event = Listed<Self::Object>, Error = Self::Error>;
    /// A watch.
    type Watch: Feed<Event = Watched<Self::Object>, Error = Self::Error>;

    /// Opens one page of a list.
    fn list(&self, request: ListRequest) -> impl Future<Output = Result<Self::List, Self::Error>> + Send;

    /// Opens a watch.
    fn watch(&self, request: WatchRequest) -> impl Future<Output = Result<Self::Watch, Self::Error>> + Send;
}

impl<L: ListerWatcher> ListerWatcher for Arc<L> {
    type Object = L::Object;
    type Error = L::Error;
    type List = L::List;
    type Watch = L::Watch;

    fn list(&self, request: ListRequest) -> impl Future<Output = Result<Self::List, Self::Error>> + Send {
        (**self).list(request)
    }

    fn watch(&self, request: WatchRequest) -> impl Future<Output = Result<Self::Watch, Self::Error>> + Send {
        (**self).watch(request)
    }
}

/// A boxed future, as the boxed adaptors return it.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

trait DynFeed<E>: Send {
    fn next(&mut self) -> BoxFuture<'_, Option<Result<E, SourceError>>>;
    fn bytes_read(&self) -> Option<u64>;
}

struct Erased<F>(F);

impl<E, F> DynFeed<E> for Erased<F>
where
    F: Feed<Event = E>,
    F::Error: Error + Classify + Send + Sync + 'static,
{
    fn next(&mut self) -> BoxFuture<'_, Option<Result<E, SourceError>>> {
        Box::pin(async {
            self.0
                .next()
                .await
                .map(|event| event.map_err(SourceError::from_classified))
        })
    }

    fn bytes_read(&self) -> Option<u64> {
        self.0.bytes_read()
    }
}

/// Any feed of `E` behind one type.
pub struct BoxFeed<E>(Box<dyn DynFeed<E>>);

impl<E> BoxFeed<E> {
    /// Boxes a feed.
    pub fn new<F>(feed: F) -> Self
    where
        F: Feed<Event = E> + 'static,
        F::Error: Error + Classify + Send + Sync + 'static,
    {
        Self(Box::new(Erased(feed)))
    }
}

impl<E> fmt::Debug for BoxFeed<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxFeed").finish_non_exhaustive()
    }
}

impl<E> Feed for BoxFeed<E> {
    type Event = E;
    type Error = SourceError;

    async fn next(&mut self) -> Option<Result<E, SourceError>> {
        self.0.next().await
    }

    fn bytes_read(&self) -> Option<u64> {
        self.0.bytes_read()
    }
}

trait DynListerWatcher<K>: Send + Sync {
    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<BoxFeed<Listed<K>>, SourceError>>;
    fn watch(&self, request: WatchRequest) -> BoxFuture<'_, Result<BoxFeed<Watched<K>>, SourceError>>;
}

impl<K, L> DynListerWatcher<K> for Erased<L>
where
    L: ListerWatcher<Object = K>,
    L::List: 'static,
    L::Watch: 'static,
{
    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<BoxFeed<Listed<K>>, SourceError>> {
        Box::pin(async {
            self.0
                .list(request)
                .await
                .map(BoxFeed::new)
                .map_err(SourceError::from_classified)
        })
    }

    fn watch(&self, request: WatchRequest) -> BoxFuture<'_, Result<BoxFeed<Watched<K>>, SourceError>> {
        Box::pin(async {
            self.0
                .watch(request)
                .await
                .map(BoxFeed::new)
                .map_err(SourceError::from_classified)
        })
    }
}

/// Any source of `K` behind one type.
pub struct BoxListerWatcher<K>(Arc<dyn DynListerWatcher<K>>);

impl<K> BoxListerWatcher<K> {
    /// Boxes a source.
    pub fn new<L>(source: L) -> Self
    where
        L: ListerWatcher<Object = K> + 'static,
        L::List: 'static,
        L::Watch: 'static,
    {
        Self(Arc::new(Erased(source)))
    }
}

impl<K> Clone for BoxListerWatcher<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> fmt::Debug for BoxListerWatcher<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BoxListerWatcher").finish_non_exhaustive()
    }
}

impl<K: Send + Sync + 'static> ListerWatcher for BoxListerWatcher<K> {
    type Object = K;
    type Error = SourceError;
    type List = BoxFeed<Listed<K>>;
    type Watch = BoxFeed<Watched<K>>;

    async fn list(&self, request: ListRequest) -> Result<Self::List, SourceError> {
        self.0.list(request).await
    }

    async fn watch(&self, request: WatchRequest) -> Result<Self::Watch, SourceError> {
        self.0.watch(request).await
    }
}
