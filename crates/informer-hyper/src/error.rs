//! Why there is no response, or why a body ended early.

use std::{fmt, sync::Arc};

use informer_transport::BoxError;

/// Why there is no response, or why a body ended early. Prints one sentence that names the server; the cause is its source.
#[derive(Debug, Clone)]
pub struct Error(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kind: Kind,
    message: String,
    n_attempts: u32,
    cause: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Configuration,
    Credentials,
    Connect,
    Tls,
    Timeout,
    Request,
    Body,
}

impl Error {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            kind,
            message: message.into(),
            n_attempts: 1,
            cause: None,
        }))
    }

    pub(crate) fn configuration(message: impl Into<String>) -> Self {
        Self::new(Kind::Configuration, message)
    }

    pub(crate) fn caused_by(self, cause: impl Into<BoxError>) -> Self {
        Self(Arc::new(Inner {
            kind: self.0.kind,
            message: self.0.message.clone(),
            n_attempts: self.0.n_attempts,
            cause: Some(cause.into().into()),
        }))
    }

    /// The same, of the last of so many attempts.
    pub(crate) fn after(self, n_attempts: u32) -> Self {
        Self(Arc::new(Inner {
            kind: self.0.kind,
            message: self.0.message.clone(),
            n_attempts,
            cause: self.0.cause.clone(),
        }))
    }

    /// How often the request was sent, or was tried to be.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.0.n_attempts
    }

    /// No connection came about: refused, unreachable, an unknown name, no agreement on TLS or HTTP, too late.
    #[must_use]
    pub fn is_connect(&self) -> bool {
        matches!(self.0.kind, Kind::Connect | Kind::Tls)
    }

    /// The server's certificate or ours was not accepted, or TLS failed otherwise.
    #[must_use]
    pub fn is_tls(&self) -> bool {
        self.0.kind == Kind::Tls
    }

    /// No response head came in time. The request may have been seen.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.0.kind == Kind::Timeout
    }

    /// Credentials could not be had, or must not be sent to this server.
    #[must_use]
    pub fn is_credentials(&self) -> bool {
        self.0.kind == Kind::Credentials
    }

    /// A setting is of no use.
    #[must_use]
    pub fn is_configuration(&self) -> bool {
        self.0.kind == Kind::Configuration
    }

    /// The response began and its body broke off, or could not be decoded.
    #[must_use]
    pub fn is_body(&self) -> bool {
        self.0.kind == Kind::Body
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        match self.0.n_attempts {
            0 | 1 => Ok(()),
            n => write!(f, ", in {n} attempts"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.cause.as_ref().map(|cause| &**cause as _)
    }
}
