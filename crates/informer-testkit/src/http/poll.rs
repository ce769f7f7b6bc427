//! How an exchange tells what there is.

use std::time::Instant;

use bytes::Bytes;
use http::Response;

/// Names an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(pub(super) u64);

/// How an exchange fails without an HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// Nothing listens.
    Refused,
    /// The connection was cut.
    Cut,
}

/// Whether the head of an answer is there.
#[derive(Debug)]
pub enum HeadPoll {
    /// Not yet; ask again when the model's epoch has changed, or at this time.
    Pending(Option<Instant>),
    /// It is. Its body follows.
    Ready(Response<()>),
    /// There will be none.
    Failed(Failure),
}

/// Whether more of a body is there.
#[derive(Debug, PartialEq, Eq)]
pub enum BodyPoll {
    /// Not yet; ask again when the model's epoch has changed, or at this time.
    Pending(Option<Instant>),
    /// A chunk: of a watch, a line, or half of one.
    Chunk(Bytes),
    /// The body is whole.
    End,
    /// The connection was cut.
    Cut,
}

/// The answer to a request.
#[derive(Debug)]
#[non_exhaustive]
pub enum Reply {
    /// All of it.
    Full(Response<Bytes>),
    /// The head of a body that is still to come, with [`FakeApi::poll_body`](crate::FakeApi::poll_body)(crate::FakeApi::poll_body).
    Streaming(Response<()>, ExchangeId),
    /// Nothing yet: ask with [`FakeApi::poll_head`](crate::FakeApi::poll_head)(crate::FakeApi::poll_head).
    Waiting(ExchangeId, Option<Instant>),
    /// None.
    Failed(Failure),
}
