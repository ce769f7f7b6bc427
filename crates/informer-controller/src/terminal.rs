//! Errors that trying again does not help.

use std::{error::Error, fmt};

use crate::{BoxError, ReconcileError};

/// An error that trying again does not help: the request waits for the next change (controller-runtime `TerminalError`). Made by
/// [`terminal`]; a reconciler may return it itself or inside of an error of its own, as its [source](Error::source).
#[derive(Debug)]
pub struct Terminal(Cause);

/// The error that was called terminal. It stands for itself in the chain of causes, since boxes of other crates show what an error's
/// source is, and not always the error itself.
#[derive(Debug)]
struct Cause(BoxError);

/// Says of an error that trying again does not help.
///
/// ```
/// # use informer_controller::{Action, BoxError, terminal};
/// fn replicas(text: &str) -> Result<u32, BoxError> {
///     // It will not get better until somebody edits the object.
///     Ok(text.parse().map_err(terminal)?)
/// }
/// assert_eq!(replicas("many").unwrap_err().to_string(), "terminal error");
/// ```
pub fn terminal(error: impl Into<BoxError>) -> Terminal {
    Terminal(Cause(error.into()))
}

impl Terminal {
    /// The error itself.
    #[must_use]
    pub fn get_ref(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0.0
    }

    /// The error itself.
    #[must_use]
    pub fn into_inner(self) -> BoxError {
        self.0.0
    }

    /// Whether this error, or one of its causes, says that trying again does not help.
    #[must_use]
    pub fn is_in(error: &(dyn Error + 'static)) -> bool {
        let mut next = Some(error);
        while let Some(error) = next {
            let of_ours = error.downcast_ref::<ReconcileError>();
            if error.is::<Self>() || error.is::<Cause>() || of_ours.is_some_and(ReconcileError::is_terminal) {
                return true;
            }
            next = error.source();
        }
        false
    }
}

impl fmt::Display for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("terminal error")
    }
}

impl Error for Terminal {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for Cause {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}
