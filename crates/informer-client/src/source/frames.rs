//! The frames of a watch, from a body while it arrives.

use bytes::Bytes;
use http_body::Body;
use informer_transport::{BoxError, WatchDecoder, WatchFrame};

use crate::{Error, body::Chunks};

/// Reads a body frame by frame.
pub(crate) struct Frames<B> {
    chunks: Chunks<B>,
    decoder: WatchDecoder,
    /// The body has ended; the decoder may still hold events.
    pub(super) at_end: bool,
}

impl<B> Frames<B> {
    pub(super) fn new(chunks: Chunks<B>, decoder: WatchDecoder) -> Self {
        Self {
            chunks,
            decoder,
            at_end: false,
        }
    }

    /// The same, which takes tables.
    pub(crate) fn tables(mut self) -> Self {
        self.decoder = self.decoder.tables();
        self
    }

    /// Bytes that were read.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.chunks.bytes_read()
    }
}

impl<B: Body<Data = Bytes, Error: Into<BoxError>>> Frames<B> {
    /// The next frame; `None` at the end. Cancel safe: a chunk that was taken from the body is with the decoder.
    pub(crate) async fn next(&mut self) -> Result<Option<WatchFrame>, Error> {
        loop {
            if let Some(frame) = self.decoder.next_frame()? {
                return Ok(Some(frame));
            }
            if self.at_end {
                return Ok(None);
            }
            match self.chunks.next().await {
                Some(chunk) => self.decoder.push(chunk?),
                None => {
                    self.decoder.finish();
                    self.at_end = true;
                }
            }
        }
    }
}
