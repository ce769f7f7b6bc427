//! What a step of a script answers.

use std::{fmt, io};

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

#[derive(Debug, Clone)]
pub(super) enum End {
    Close,
    Hang,
    Fail(io::ErrorKind),
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    Head {
        status: StatusCode,
        headers: HeaderMap,
        chunks: Vec<Bytes>,
        end: End,
    },
    /// The request fails before a head arrives.
    Fail(io::ErrorKind),
    /// No head ever arrives.
    Hang,
}

/// One answer of a script.
#[derive(Debug, Clone)]
pub struct Answer {
    pub(super) kind: Kind,
}

impl Answer {
    /// A head of this status and no body yet. The body ends cleanly after the chunks unless told otherwise.
    ///
    /// # Panics
    /// When the status is no HTTP status.
    #[must_use]
    pub fn status(status: u16) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(
            http::header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        Self {
            kind: Kind::Head {
                status: StatusCode::from_u16(status).expect("a script names a valid status"),
                headers,
                chunks: Vec::new(),
                end: End::Close,
            },
        }
    }

    /// 200 with this JSON.
    #[must_use]
    pub fn json(body: &serde_json::Value) -> Self {
        Self::status(200).chunk(body.to_string())
    }

    /// 200 with these lines, each a chunk of its own, and a clean end.
    #[must_use]
    pub fn lines<I: IntoIterator<Item = S>, S: fmt::Display>(lines: I) -> Self {
        lines.into_iter().fold(Self::status(200), |answer, line| {
            answer.chunk(format!("{line}\n"))
        })
    }

    /// The connection is refused.
    #[must_use]
    pub fn refused() -> Self {
        Self::failed(io::ErrorKind::ConnectionRefused)
    }

    /// The request fails like this before a head arrives.
    #[must_use]
    pub fn failed(kind: io::ErrorKind) -> Self {
        Self {
            kind: Kind::Fail(kind),
        }
    }

    /// No head ever arrives.
    #[must_use]
    pub fn silence() -> Self {
        Self { kind: Kind::Hang }
    }

    /// And this header.
    ///
    /// # Panics
    /// When name or value is no valid header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Kind::Head { headers, .. } = &mut self.kind {
            headers.insert(
                HeaderName::try_from(name).expect("a script names a valid header"),
                HeaderValue::try_from(value).expect("a script names a valid header value"),
            );
        }
        self
    }

    /// And this chunk of body.
    #[must_use]
    pub fn chunk(mut self, chunk: impl Into<Bytes>) -> Self {
        if let Kind::Head { chunks, .. } = &mut self.kind {
            chunks.push(chunk.into());
        }
        self
    }

    /// After the chunks nothing happens: neither more data nor an end, until the [`BodyHandle`](super::BodyHandle) says so.
    #[must_use]
    pub fn then_hang(self) -> Self {
        self.ending(End::Hang)
    }

    /// After the chunks the connection fails.
    #[must_use]
    pub fn then_fail(self, kind: io::ErrorKind) -> Self {
        self.ending(End::Fail(kind))
    }

    fn ending(mut self, ending: End) -> Self {
        if let Kind::Head { end, .. } = &mut self.kind {
            *end = ending;
        }
        self
    }
}
