//! Why a configuration cannot be used.

use std::{fmt, path::Path, sync::Arc};

use informer_transport::BoxError;

/// A configuration that was found, or asked for, and cannot be used. Prints the file, the entry and the field; the cause is its source.
#[derive(Debug, Clone)]
pub struct Error {
    message: Arc<str>,
    cause: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    pub(crate) fn new(message: impl Into<Arc<str>>) -> Self {
        Self {
            message: message.into(),
            cause: None,
        }
    }

    pub(crate) fn in_file(path: &Path, problem: impl fmt::Display) -> Self {
        Self::new(format!("{}: {problem}", path.display()))
    }

    pub(crate) fn caused_by(mut self, cause: impl Into<BoxError>) -> Self {
        self.cause = Some(cause.into().into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_ref().map(|cause| &**cause as _)
    }
}
