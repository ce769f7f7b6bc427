//! What answers requests.

use std::borrow::Cow;

/// A request, as far as an endpoint sees it. Only GET and HEAD reach endpoints.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The whole path.
    pub path: &'a str,
    /// What the path has beyond the endpoint's own: nothing, or something that begins with `/`.
    pub rest: &'a str,
    /// The query, without its question mark.
    pub query: &'a str,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The media type.
    pub content_type: Cow<'static, str>,
    /// The body.
    pub body: Vec<u8>,
}

impl Reply {
    /// Plain text.
    #[must_use]
    pub fn text(status: u16, body: impl Into<String>) -> Self {
        Self::new(status, "text/plain; charset=utf-8", body.into())
    }

    /// A JSON document.
    #[must_use]
    pub fn json(status: u16, body: &serde_json::Value) -> Self {
        Self::new(status, "application/json", format!("{body:#}\n"))
    }

    /// A body of a media type.
    #[must_use]
    pub fn new(status: u16, content_type: impl Into<Cow<'static, str>>, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            content_type: content_type.into(),
            body: body.into(),
        }
    }

    pub(crate) fn not_found() -> Self {
        Self::text(404, "404 page not found\n")
    }
}

/// Answers requests for a path. For every closure `Fn(&Request) -> Reply`. It should be quick: nothing else of the connection goes on.
pub trait Endpoint: Send + Sync {
    /// The answer.
    fn answer(&self, request: &Request<'_>) -> Reply;
}

impl<F: Fn(&Request<'_>) -> Reply + Send + Sync> Endpoint for F {
    fn answer(&self, request: &Request<'_>) -> Reply {
        self(request)
    }
}

/// Renders metrics as text. For every closure `Fn() -> String`.
pub trait Render: Send + Sync {
    /// The text.
    fn render(&self) -> String;

    /// Its media type; that of Prometheus' text format by default.
    fn content_type(&self) -> &'static str {
        "text/plain; version=0.0.4; charset=utf-8"
    }
}

impl<F: Fn() -> String + Send + Sync> Render for F {
    fn render(&self) -> String {
        self()
    }
}

/// Metrics as an endpoint.
pub(crate) struct Metrics(pub(crate) std::sync::Arc<dyn Render>);

impl Endpoint for Metrics {
    fn answer(&self, _: &Request<'_>) -> Reply {
        Reply::new(200, self.0.content_type(), self.0.render())
    }
}
