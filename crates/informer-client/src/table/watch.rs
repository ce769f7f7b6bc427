//! `TableWatchFeed`: the rows of a watch as they change.

use std::{collections::VecDeque, fmt, marker::PhantomData, sync::Arc};

use bytes::Bytes;
use http_body::Body;
use informer_core::{Cause, Feed, Watched};
use informer_transport::{BoxError, Codec, WatchFrame};

use super::{
    TableRow,
    wire::{Memory, Read},
};
use crate::{Error, source::Frames};

/// The events of a watch, each for one row, read from a body while it arrives. Dropping it ends the watch.
///
/// The object of an event is a table. It mostly has one row; each of several is an event of its own.
pub struct TableWatchFeed<B, K, C> {
    frames: Frames<B>,
    codec: Arc<C>,
    memory: Memory,
    /// Further rows of the same event.
    waiting: VecDeque<Watched<TableRow<K>>>,
    failed: bool,
    _object: PhantomData<fn() -> K>,
}

impl<B, K, C> TableWatchFeed<B, K, C> {
    pub(super) fn new(frames: Frames<B>, codec: Arc<C>, memory: Memory) -> Self {
        Self {
            frames,
            codec,
            memory,
            waiting: VecDeque::new(),
            failed: false,
            _object: PhantomData,
        }
    }
}

impl<B, K, C> fmt::Debug for TableWatchFeed<B, K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableWatchFeed")
            .field("waiting", &self.waiting.len())
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

impl<B, K, C> TableWatchFeed<B, K, C>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send,
    C: Codec<K>,
{
    async fn read(&mut self) -> Result<Option<Watched<TableRow<K>>>, Error> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Ok(Some(event));
            }
            let Some(frame) = self.frames.next().await? else {
                return Ok(None);
            };
            match frame {
                WatchFrame::Added(object) => {
                    self.take(&object, |row| Watched::Upsert(Cause::Added, row));
                }
                WatchFrame::Modified(object) => {
                    self.take(&object, |row| Watched::Upsert(Cause::Modified, row));
                }
                WatchFrame::Deleted(object) => self.take(&object, Watched::Delete),
                WatchFrame::Bookmark { at, end_of_initial } => {
                    return Ok(Some(Watched::Bookmark { at, end_of_initial }));
                }
                WatchFrame::Odd(error) => return Ok(Some(Watched::Odd(error))),
                WatchFrame::Error(error) => return Err(error.into()),
            }
        }
    }

    fn take(&mut self, object: &Bytes, event: fn(Read<K>) -> Watched<TableRow<K>>) {
        let rows = self.memory.rows_of_object(&*self.codec, object);
        self.waiting.extend(rows.into_iter().map(event));
    }
}

impl<B, K, C> Feed for TableWatchFeed<B, K, C>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send,
    C: Codec<K>,
    K: Send,
{
    type Event = Watched<TableRow<K>>;
    type Error = Error;

    async fn next(&mut self) -> Option<Result<Self::Event, Error>> {
        if self.failed {
            return None;
        }
        let read = self.read().await;
        self.failed |= read.is_err();
        read.transpose()
    }

    fn bytes_read(&self) -> Option<u64> {
        Some(self.frames.bytes_read())
    }
}
