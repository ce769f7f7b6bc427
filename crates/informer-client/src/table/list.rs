//! `TableListFeed`: the rows of a list as they arrive.

use std::{fmt, marker::PhantomData, sync::Arc};

use bytes::Bytes;
use http_body::Body;
use informer_core::{Feed, Listed};
use informer_transport::{BoxError, Codec, ListSplitter};

use super::{TableRow, wire::Memory};
use crate::{Error, body::Chunks};

/// The rows of one page of a list, read from a body while it arrives.
pub struct TableListFeed<B, K, C> {
    chunks: Chunks<B>,
    splitter: ListSplitter,
    codec: Arc<C>,
    memory: Memory,
    ended: bool,
    _object: PhantomData<fn() -> K>,
}

impl<B, K, C> TableListFeed<B, K, C> {
    pub(super) fn new(chunks: Chunks<B>, splitter: ListSplitter, codec: Arc<C>, memory: Memory) -> Self {
        Self {
            chunks,
            splitter,
            codec,
            memory,
            ended: false,
            _object: PhantomData,
        }
    }
}

impl<B, K, C> fmt::Debug for TableListFeed<B, K, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TableListFeed")
            .field("position", &self.splitter.position())
            .field("ended", &self.ended)
            .finish_non_exhaustive()
    }
}

impl<B, K, C> TableListFeed<B, K, C>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send,
    C: Codec<K>,
{
    async fn read(&mut self) -> Result<Listed<TableRow<K>>, Error> {
        loop {
            let item = self.splitter.next_item()?;
            // A server names the columns before the first row.
            if let Some(columns) = self.splitter.take_columns() {
                self.memory.learn(&columns).map_err(|error| {
                    Error::answer(format!(
                        "the columns of a table are not what they should be: {error}"
                    ))
                })?;
            }
            if let Some(item) = item {
                return Ok(Listed::Item(if self.splitter.is_table() {
                    self.memory.row(&*self.codec, &item)
                } else {
                    self.memory.plain(&*self.codec, item)
                }));
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

impl<B, K, C> Feed for TableListFeed<B, K, C>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Send,
    C: Codec<K>,
{
    type Event = Listed<TableRow<K>>;
    type Error = Error;

    async fn next(&mut self) -> Option<Result<Self::Event, Error>> {
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
