//! `ListFeed`: the items of a list as they arrive.

use std::{fmt, marker::PhantomData, sync::Arc};

use bytes::Bytes;
use http_body::Body;
use informer_core::{Feed, Listed};
use informer_transport::{BoxError, Codec, ListSplitter};

use crate::{Error, body::Chunks};

/// The items of one page of a list, read from a body while it arrives.
pub struct ListFeed<B, K, C> {
    chunks: Chunks<B>,
    splitter: ListSplitter,
    codec: Arc<C>,
    ended: bool,
    _object: PhantomData<fn() -> K>,
}

impl<B, K, C> ListFeed<B, K, C> {
    pub(super) fn new(chunks: Chunks<B>, splitter: ListSplitter, codec: Arc<C>) -> Self {
        Self {
            chunks,
            splitter,
            codec,
            ended: false,
            _object: PhantomData,
        }
    }
}

impl<B, K, C> fmt::Debug for ListFeed<B, K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListFeed")
            .field("position", &self.splitter.position())
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

impl<B, K, C> ListFeed<B, K, C>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send,
    C: Codec<K>,
{
    async fn read(&mut self) -> Result<Listed<K>, Error> {
        loop {
            if let Some(item) = self.splitter.next_item()? {
                return Ok(Listed::Item(self.codec.decode(item)));
            }
            let Some(chunk) = self.chunks.next().await else {
                let end = self.splitter.finish()?;
                self.ended = true;
                return Ok(Listed::End {
                    at: end.version,
                    token: end.token,
                });
            };
            self.splitter.push(chunk?);
        }
    }
}

impl<B, K, C> Feed for ListFeed<B, K, C>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send,
    C: Codec<K>,
{
    type Event = Listed<K>;
    type Error = Error;

    async fn next(&mut self) -> Option<Result<Listed<K>, Error>> {
        if self.ended {
            return None;
        }
        let read = self.read().await;
        self.ended |= read.is_err();
        Some(read)
    }

    fn bytes_read(&self) -> Option<u64> {
        Some(self.chunks.bytes_read())
    }
}
