//! Waiting until a reflector is in sync, and why it is not.

use std::{error::Error, fmt, task::Poll, time::Duration};

use informer_core::{Clock, FailureClass};

use crate::{
    LastError, Phase, Status, StatusReader,
    race::{Alarm, First, race},
};

impl StatusReader {
    /// Waits until a whole state was handed to the sink, for so long at most. The reflector goes on in any case.
    ///
    /// # Errors
    /// When it took longer, or the reflector stopped before. The error tells what it is doing and what failed last: a forbidden or missing
    /// kind can be told from one that only takes its time by [`NotSynced::class`].
    ///
    /// # Cancel safety
    /// Dropping the future ends the wait.
    pub async fn wait_synced(&mut self, within: Duration) -> Result<Status, NotSynced> {
        let mut alarm = Alarm::new(self.clock.clone());
        alarm.set(self.clock.now() + within);
        let over = |status: &Status| status.synced || status.phase == Phase::Stopped;
        let (status, waited) = match race(self.wait_until(over), &mut alarm, |_| Poll::Pending).await {
            First::Done(status) => (status, None),
            _ => (self.get(), Some(within)),
        };
        if status.synced {
            Ok(status)
        } else {
            Err(NotSynced {
                waited,
                status: Box::new(status),
            })
        }
    }
}

/// A reflector was not in sync in time, and why.
#[derive(Debug, Clone)]
pub struct NotSynced {
    /// `None`: it stopped instead.
    waited: Option<Duration>,
    status: Box<Status>,
}

impl NotSynced {
    /// How the reflector was then.
    #[must_use]
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// What failed last, if that was not made good.
    #[must_use]
    pub fn trouble(&self) -> Option<&LastError> {
        self.status.trouble()
    }

    /// The class of what failed last. `None`: nothing failed, it only takes its time.
    #[must_use]
    pub fn class(&self) -> Option<FailureClass> {
        self.trouble()?.problem.class()
    }

    /// Whether it stopped, so that waiting longer would not have helped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.waited.is_none()
    }
}

impl fmt::Display for NotSynced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Status {
            name, kind, phase, ..
        } = &*self.status;
        write!(f, "{name} ({kind}) ")?;
        match self.waited {
            Some(waited) => write!(f, "is not in sync after {waited:?}: {phase}")?,
            None => f.write_str("stopped before it was in sync")?,
        }
        match self.trouble() {
            Some(trouble) => write!(f, ", after {trouble}"),
            None => Ok(()),
        }
    }
}

impl Error for NotSynced {}
