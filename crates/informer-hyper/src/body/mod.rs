//! `ResponseBody`: what streams in, decoded, and what its end means for the connection.

mod gunzip;

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use informer_transport::BoxError;

use self::gunzip::Gunzip;
use crate::{Error, connection::Lease, error::Kind};

/// The body of a response, as it comes. Read to its end it leaves the connection for the next request; dropped before, it ends the
/// exchange: an HTTP/1.1 connection is closed, an HTTP/2 stream is reset.
///
/// A body that breaks off is an error, never a clean end.
pub struct ResponseBody {
    incoming: Incoming,
    gunzip: Option<Box<Gunzip>>,
    lease: Option<Lease>,
    url: Arc<str>,
    stage: Stage,
    limit: Option<Limit>,
}

/// How much of a body may come.
#[derive(Debug, Clone, Copy)]
struct Limit {
    most: u64,
    left: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// More may come.
    Streaming,
    /// All has come; the decoder may hold more.
    Arrived,
    /// Nothing more is to be had.
    Over,
}

impl ResponseBody {
    /// `limit` is of the decoded bytes.
    pub(crate) fn new(
        incoming: Incoming,
        is_gzip: bool,
        lease: Lease,
        url: Arc<str>,
        limit: Option<u64>,
    ) -> Self {
        let mut body = Self {
            incoming,
            gunzip: is_gzip.then(|| Box::new(Gunzip::new())),
            lease: Some(lease),
            url,
            stage: Stage::Streaming,
            limit: limit.map(|most| Limit { most, left: most }),
        };
        // A response without a body is never polled by many readers.
        if body.incoming.is_end_stream() {
            body.arrived();
        }
        body
    }

    fn arrived(&mut self) {
        self.stage = Stage::Arrived;
        if let Some(lease) = self.lease.take() {
            lease.finish();
        }
    }

    /// Ends with an error, and the exchange with it.
    fn broken(&mut self, cause: impl Into<BoxError>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        self.stage = Stage::Over;
        self.lease = None;
        let error =
            Error::new(Kind::Body, format!("the response of {} broke off", self.url)).caused_by(cause);
        Poll::Ready(Some(Err(error)))
    }

    /// Decoded bytes, unless they are too many.
    fn data(&mut self, data: Bytes) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if let Some(limit) = &mut self.limit {
            let Some(left) = limit.left.checked_sub(data.len() as u64) else {
                let message = format!("the response of {} has more than {} bytes", self.url, limit.most);
                self.stage = Stage::Over;
                self.lease = None;
                return Poll::Ready(Some(Err(Error::new(Kind::Body, message))));
            };
            limit.left = left;
        }
        Poll::Ready(Some(Ok(Frame::data(data))))
    }

    fn corrupt(&mut self, problem: &str) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        self.stage = Stage::Over;
        self.lease = None;
        let message = format!(
            "the compressed response of {} cannot be decoded: {problem}",
            self.url
        );
        Poll::Ready(Some(Err(Error::new(Kind::Body, message))))
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let this = &mut *self;
        while this.stage != Stage::Over {
            match this.gunzip.as_mut().map(|gunzip| gunzip.next()) {
                Some(Ok(Some(decoded))) => return this.data(decoded),
                Some(Err(problem)) => return this.corrupt(problem),
                Some(Ok(None)) | None => {}
            }
            if this.stage == Stage::Arrived {
                if this.gunzip.as_ref().is_some_and(|gunzip| !gunzip.is_complete()) {
                    return this.broken("its compressed data ends in the middle");
                }
                this.stage = Stage::Over;
                break;
            }
            let Some(frame) = ready!(Pin::new(&mut this.incoming).poll_frame(cx)) else {
                if this.lease.as_ref().is_some_and(Lease::was_cut) {
                    return this.broken("the connection was closed on this side");
                }
                this.arrived();
                continue;
            };
            let frame = match frame {
                Ok(frame) => frame,
                Err(cause) => return this.broken(cause),
            };
            if this.incoming.is_end_stream() {
                this.arrived();
            }
            match (frame.into_data(), &mut this.gunzip) {
                // HTTP/2 ends a stream with one of these.
                (Ok(data), _) if data.is_empty() => {}
                (Ok(data), Some(gunzip)) => gunzip.feed(data),
                (Ok(data), None) => return this.data(data),
                (Err(trailers), _) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        match self.stage {
            Stage::Streaming => false,
            Stage::Arrived => self.gunzip.is_none(),
            Stage::Over => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        if self.gunzip.is_some() {
            return SizeHint::default();
        }
        self.incoming.size_hint()
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody")
            .field("url", &self.url)
            .field("stage", &self.stage)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
