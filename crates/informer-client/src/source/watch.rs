//! `WatchFeed`: the events of a watch as they arrive.

use std::{fmt, marker::PhantomData, sync::Arc};

use bytes::Bytes;
use http_body::Body;
use informer_core::{Cause, Feed, Watched};
use informer_transport::{BoxError, Codec, WatchFrame};

use super::Frames;
use crate::Error;

/// The events of a watch, read from a body while it arrives. Dropping it ends the watch.
pub struct WatchFeed<B, K, C> {
    frames: Frames<B>,
    codec: Arc<C>,
    failed: bool,
    _object: PhantomData<fn() -> K>,
}

impl<B, K, C> WatchFeed<B, K, C> {
    pub(super) fn new(frames: Frames<B>, codec: Arc<C>) -> Self {
        Self {
            frames,
            codec,
            failed: false,
            _object: PhantomData,
        }
    }
}

impl<B, K, C> fmt::Debug for WatchFeed<B, K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchFeed")
            .field("at_end", &self.frames.at_end)
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

impl<B, K, C> WatchFeed<B, K, C>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send,
    C: Codec<K>,
{
    async fn read(&mut self) -> Result<Option<Watched<K>>, Error> {
        let frame = self.frames.next().await?;
        frame.map(|frame| self.event(frame)).transpose()
    }

    fn event(&self, frame: WatchFrame) -> Result<Watched<K>, Error> {
        Ok(match frame {
            WatchFrame::Added(object) => Watched::Upsert(Cause::Added, self.codec.decode(object)),
            WatchFrame::Modified(object) => Watched::Upsert(Cause::Modified, self.codec.decode(object)),
            WatchFrame::Deleted(object) => Watched::Delete(self.codec.decode(object)),
            WatchFrame::Bookmark { at, end_of_initial } => Watched::Bookmark { at, end_of_initial },
            WatchFrame::Odd(error) => Watched::Odd(error),
            WatchFrame::Error(error) => return Err(error.into()),
        })
    }
}

impl<B, K, C> Feed for WatchFeed<B, K, C>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send,
    C: Codec<K>,
{
    type Event = Watched<K>;
    type Error = Error;

    async fn next(&mut self) -> Option<Result<Watched<K>, Error>> {
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
