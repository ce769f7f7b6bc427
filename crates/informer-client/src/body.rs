//! Reads a body chunk by chunk.

use std::{future::poll_fn, pin::Pin, task::Poll};

use bytes::{Bytes, BytesMut};
use http_body::Body;
use informer_transport::BoxError;

use crate::Error;

pub(crate) struct Chunks<B> {
    body: Pin<Box<B>>,
    bytes_read: u64,
}

impl<B> Chunks<B> {
    /// Bytes that were handed out.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }
}

impl<B: Body<Data = Bytes, Error: Into<BoxError>>> Chunks<B> {
    pub(crate) fn new(body: B) -> Self {
        Self {
            body: Box::pin(body),
            bytes_read: 0,
        }
    }

    /// The next chunk. Cancel safe: a chunk is taken from the body only when it is returned.
    pub(crate) async fn next(&mut self) -> Option<Result<Bytes, Error>> {
        poll_fn(|cx| {
            loop {
                match std::task::ready!(self.body.as_mut().poll_frame(cx)) {
                    None => return Poll::Ready(None),
                    Some(Err(error)) => return Poll::Ready(Some(Err(Error::body(error)))),
                    Some(Ok(frame)) => {
                        if let Ok(chunk) = frame.into_data() {
                            self.bytes_read += chunk.len() as u64;
                            return Poll::Ready(Some(Ok(chunk)));
                        }
                    }
                }
            }
        })
        .await
    }

    /// The whole body, or its beginning: no more is read once there are `limit` bytes.
    pub(crate) async fn collect(mut self, limit: usize) -> Result<Bytes, Error> {
        let mut whole = BytesMut::new();
        while let Some(chunk) = self.next().await {
            let chunk = chunk?;
            if whole.is_empty() && self.body.is_end_stream() {
                return Ok(chunk);
            }
            whole.extend_from_slice(&chunk);
            if whole.len() >= limit {
                break;
            }
        }
        Ok(whole.freeze())
    }
}
