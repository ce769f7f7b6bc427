//! Which lines go into the log, and how loud.

use informer_core::FailureClass;

use crate::{ReflectorError, Status, machine::Note};

/// Failures in a row from which on a person should look.
const REPEATED: u32 = 3;

pub(crate) fn note(note: &Note) {
    match note {
        Note::Synced { objects, at } => tracing::info!(objects, version = %at, "Synced"),
        Note::RelistWanted => tracing::info!("Relist wanted, watch given up"),
        Note::WatchExpired => tracing::debug!("Watch expired, listing again"),
        Note::VersionRefused { class } => {
            tracing::debug!(%class, "Version refused, asking for the most recent state");
        }
        Note::TokenExpired => tracing::debug!("Continue token expired, listing in one page"),
        Note::StreamingFellBack { why, for_good } => {
            tracing::debug!(why = &**why, for_good, "Streaming list does not work, listing");
        }
        Note::StreamingCut => tracing::debug!("Streaming list was cut, beginning anew"),
        Note::StreamingSilent { silent_for } => {
            tracing::warn!(?silent_for, "Streaming list brings nothing, not even its end");
        }
    }
}

pub(crate) fn error(error: &ReflectorError, status: &Status) {
    let loud = match error.class() {
        Some(
            FailureClass::Unauthorized
            | FailureClass::Forbidden
            | FailureClass::NotFound
            | FailureClass::Fatal,
        ) => true,
        Some(_) => status.failures >= REPEATED,
        // The first, the second, the fourth, …: one object that nobody can read must not fill the disk.
        None => status.skipped.is_power_of_two(),
    };
    if loud {
        tracing::warn!(%error, failures = status.failures, retry_in = ?error.retry_in(), "Reflector failed");
    } else {
        tracing::debug!(%error, failures = status.failures, retry_in = ?error.retry_in(), "Reflector failed");
    }
}
