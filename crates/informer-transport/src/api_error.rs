//! `ApiError`: an answer that is a failure, and its class.

use std::{borrow::Cow, error::Error, fmt, time::Duration};

use http::{StatusCode, header::RETRY_AFTER, response::Parts};
use informer_core::{Classify, FailureClass};

use crate::Status;

/// What the request asked for: the same answer may mean different things to different questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Asked {
    /// One object, or a write.
    Object,
    /// A list.
    List,
    /// A watch.
    Watch,
    /// A watch that begins with the initial state (`sendInitialEvents`).
    StreamingList,
}

/// The server answered that it could not or would not.
///
/// Prints as the server's own sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    code: u16,
    status: Box<Status>,
    retry_after: Option<Duration>,
    asked: Asked,
}

/// How much of a body that is no `Status` is quoted.
const QUOTE: usize = 200;

impl ApiError {
    /// The failure that a response with a status other than success stands for. The status line counts first; the body is read as a
    /// `Status` if it is one, and quoted in one sentence if it is plain text.
    #[must_use]
    pub fn from_response(parts: &Parts, body: &[u8], asked: Asked) -> Self {
        let code = parts.status.as_u16();
        let status = Status::in_body(body)
            .unwrap_or_else(|| Status::failure(code, reason_of(parts.status), sentence(parts.status, body)));
        let retry_after = parts
            .headers
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok()?.trim().parse().ok())
            .map(Duration::from_secs);
        let mut error = Self::from_status(status, asked);
        error.code = code;
        error.retry_after = retry_after.or(error.retry_after);
        error
    }

    /// The failure that a `Status` stands for, as in an ERROR event of a watch.
    #[must_use]
    pub fn from_status(status: Status, asked: Asked) -> Self {
        let retry_after = status
            .details
            .as_ref()
            .and_then(|details| details.retry_after_seconds)
            .filter(|&seconds| seconds > 0)
            .map(|seconds| Duration::from_secs(seconds.into()));
        Self {
            code: status.code.unwrap_or(0),
            status: Box::new(status),
            retry_after,
            asked,
        }
    }

    /// The HTTP status code; 0 where a watch gave none.
    #[must_use]
    pub fn code(&self) -> u16 {
        self.code
    }

    /// The reason, a word for programs; empty where there is none.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.status.reason.as_deref().unwrap_or_default()
    }

    /// The sentence of the server, or one made of the code.
    #[must_use]
    pub fn message(&self) -> Cow<'_, str> {
        match self
            .status
            .message
            .as_deref()
            .filter(|message| !message.is_empty())
        {
            Some(message) => Cow::Borrowed(message),
            None if self.reason().is_empty() => Cow::Owned(format!("the server answered {}", self.code)),
            None => Cow::Owned(format!("the server answered {} {}", self.code, self.reason())),
        }
    }

    /// Everything that the server said.
    #[must_use]
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// What had been asked.
    #[must_use]
    pub fn asked(&self) -> Asked {
        self.asked
    }

    /// Upstream: client-go `isExpiredError`. Servers up to 1.17 said `Gone`.
    fn is_expired(&self) -> bool {
        self.code == 410 || matches!(self.reason(), "Expired" | "Gone")
    }

    /// Upstream: client-go `isTooLargeResourceVersionError`, with the sentences of servers before 1.18.6.
    fn is_version_too_large(&self) -> bool {
        const LEGACY: &str = "Too large resource version";
        let causes = self.status.causes();
        if causes
            .iter()
            .any(|cause| cause.reason.as_deref() == Some("ResourceVersionTooLarge"))
        {
            return true;
        }
        if self.reason() != "Timeout" && self.code != 504 {
            return false;
        }
        causes
            .iter()
            .any(|cause| cause.message.as_deref() == Some(LEGACY))
            || self
                .status
                .message
                .as_deref()
                .is_some_and(|message| message.contains(LEGACY))
    }
}

impl Classify for ApiError {
    fn class(&self) -> FailureClass {
        if self.is_expired() {
            return FailureClass::Expired;
        }
        if self.is_version_too_large() {
            return FailureClass::VersionTooLarge;
        }
        // An event inside a stream may lack the code; then the reason has to do.
        let code = match (self.code, self.reason()) {
            (0, "TooManyRequests") => 429,
            (0, "Unauthorized") => 401,
            (0, "Forbidden") => 403,
            (0, "NotFound") => 404,
            (0, "InternalError") => 500,
            (code, _) => code,
        };
        match (code, self.asked) {
            (429, _) => FailureClass::Throttled,
            (401, _) => FailureClass::Unauthorized,
            (403, _) => FailureClass::Forbidden,
            (404, _) => FailureClass::NotFound,
            (405 | 406 | 415 | 501, _) => FailureClass::Unsupported,
            // A list is refused so for its selector. A plain watch is not: it follows a list that was served, and a new list may help.
            (400 | 422, Asked::List | Asked::StreamingList) => FailureClass::Unsupported,
            (500, _) => FailureClass::Internal,
            _ => FailureClass::Transient,
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message())
    }
}

impl Error for ApiError {}

/// The reason that the API pairs with a code (apimachinery `NewGenericServerResponse`).
fn reason_of(code: StatusCode) -> &'static str {
    match code.as_u16() {
        400 => "BadRequest",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "NotFound",
        405 => "MethodNotAllowed",
        406 => "NotAcceptable",
        409 => "Conflict",
        410 => "Gone",
        415 => "UnsupportedMediaType",
        422 => "Invalid",
        429 => "TooManyRequests",
        503 => "ServiceUnavailable",
        504 => "Timeout",
        500.. => "InternalError",
        _ => "Unknown",
    }
}

/// One sentence for a body that is no `Status`: the code, and the first line of the text if there is one for people.
fn sentence(code: StatusCode, body: &[u8]) -> String {
    let text = String::from_utf8_lossy(&body[..body.len().min(4 * QUOTE)]);
    let line = text
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default();
    let is_markup = line.starts_with(['<', '{', '[']);
    if line.is_empty() || is_markup {
        return format!("the server answered {code}");
    }
    let quote: String = line
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .take(QUOTE)
        .collect();
    let quote = quote.strip_prefix(code.as_str()).unwrap_or(&quote).trim_start();
    format!("the server answered {code}: {quote}")
}
