//! Feeds for sources that are not made of HTTP: of lists in memory, of iterators, of poll functions.

use std::{
    fmt,
    future::poll_fn,
    task::{Context, Poll},
};

use informer_core::{Decoded, Feed, Listed, ResourceVersion, SourceError};

/// A feed over an iterator: its events at once, then a clean end.
pub fn from_iter<E, I>(events: I) -> IterFeed<I::IntoIter>
where
    I: IntoIterator<Item = E>,
    I::IntoIter: Send,
    E: Send,
{
    IterFeed(events.into_iter())
}

/// A feed that is one whole list at the version `at`, without further pages.
pub fn list<K, I>(items: I, at: impl Into<ResourceVersion>) -> IterFeed<std::vec::IntoIter<Listed<K>>>
where
    I: IntoIterator<Item = Decoded<K>>,
    K: Send,
{
    let end = Listed::End {
        at: at.into(),
        token: None,
    };
    let events: Vec<Listed<K>> = items
        .into_iter()
        .map(|item| Listed::Item(Ok(item)))
        .chain([end])
        .collect();
    from_iter(events)
}

/// A feed that asks `poll` for each event, for instance of a channel. It must keep the waker while it is pending, and not be asked again
/// after `None` or an error.
pub fn from_poll_fn<E, X, P>(poll: P) -> PollFeed<P>
where
    P: FnMut(&mut Context<'_>) -> Poll<Option<Result<E, X>>> + Send,
{
    PollFeed(poll)
}

/// See [`from_iter`].
#[derive(Debug, Clone)]
pub struct IterFeed<I>(I);

impl<I> Feed for IterFeed<I>
where
    I: Iterator + Send,
    I::Item: Send,
{
    type Event = I::Item;
    type Error = SourceError;

    async fn next(&mut self) -> Option<Result<I::Item, SourceError>> {
        self.0.next().map(Ok)
    }
}

/// See [`from_poll_fn`].
pub struct PollFeed<P>(P);

impl<P> fmt::Debug for PollFeed<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PollFeed").finish_non_exhaustive()
    }
}

impl<E, X, P> Feed for PollFeed<P>
where
    P: FnMut(&mut Context<'_>) -> Poll<Option<Result<E, X>>> + Send,
{
    type Event = E;
    type Error = X;

    async fn next(&mut self) -> Option<Result<E, X>> {
        poll_fn(&mut self.0).await
    }
}
