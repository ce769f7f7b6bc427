//! What happens when something takes longer than it may, and what a controller says of sources that are in trouble.

use std::{error::Error, fmt, sync::Arc, time::Duration};

/// What happens when something is not ready in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Late {
    /// It is named and waited for, and the others go on: what is broken stops nobody else.
    #[default]
    GoOn,
    /// It is an error, which ends whoever waits: as in controller-runtime.
    Fail,
}

/// Something is wrong with what a controller watches, and the controller did not end: told to
/// [`Builder::on_source_error`](crate::Builder::on_source_error).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceError {
    /// The controller's name.
    pub controller: Arc<str>,
    /// The source's.
    pub source: Arc<str>,
    /// What is wrong.
    pub fault: Fault,
    /// Why, where that is known.
    pub why: Option<Arc<str>>,
}

/// What is wrong with a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It is not in sync after so long. Told again after the same time.
    Late(Duration),
    /// It will never be in sync. A controller that waits for it to start waits until it is
    /// [dropped](crate::Controller::unwatch).
    Failed,
    /// What it runs panicked, and is run again after this time. `None`: it cannot be.
    Panicked(Option<Duration>),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "controller {:?}: {} ", self.controller, self.source)?;
        match self.fault {
            Fault::Late(after) => write!(f, "is not in sync after {after:?}")?,
            Fault::Failed => f.write_str("failed")?,
            Fault::Panicked(None) => f.write_str("panicked, and is over")?,
            Fault::Panicked(Some(wait)) => write!(f, "panicked, and is run again in {wait:?}")?,
        }
        match &self.why {
            Some(why) => write!(f, ": {why}"),
            None => Ok(()),
        }
    }
}

impl Error for SourceError {}

/// Who is told.
pub(crate) type OnSourceError = Arc<dyn Fn(&SourceError) + Send + Sync>;
