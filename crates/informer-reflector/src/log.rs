//! Which lines go into the log, and how loud.

use std::{sync::Arc, time::Duration};

use informer_core::{FailureClass, ListRequest, WatchRequest};

use crate::{Options, ReflectorError, Status, machine::Note};

/// Failures in a row from which on a person should look.
const REPEATED: u32 = 3;

/// What each line says of the reflector.
#[derive(Debug, Clone)]
pub(crate) struct Labels {
    pub(crate) name: Arc<str>,
    pub(crate) kind: Arc<str>,
    /// Of the resync; zero means never.
    period: Duration,
}

impl Labels {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            name: options.name.clone(),
            kind: options.type_description.clone(),
            period: options.resync_period.unwrap_or_default(),
        }
    }
}

/// A line with the labels of a reflector.
macro_rules! line {
    ($level:ident, $labels:expr, $($rest:tt)+) => {
        tracing::$level!(name = %$labels.name, kind = %$labels.kind, period = ?$labels.period, $($rest)+)
    };
}

pub(crate) fn starting(labels: &Labels) {
    line!(debug, labels, "Starting reflector");
}

pub(crate) fn stopping(labels: &Labels) {
    line!(debug, labels, "Stopping reflector");
}

pub(crate) fn list(labels: &Labels, request: &ListRequest) {
    let continued = request.token.is_some();
    line!(debug, labels, version = ?request.version, limit = request.limit, continued, "Listing");
}

pub(crate) fn watch(labels: &Labels, request: &WatchRequest) {
    let initial_events = request.initial_events;
    line!(debug, labels, version = ?request.version, initial_events, "Watching");
}

pub(crate) fn resync(labels: &Labels) {
    line!(debug, labels, "Forcing resync");
}

pub(crate) fn hook_panicked(labels: &Labels, panic: &dyn std::error::Error) {
    line!(error, labels, %panic, "Error hook panicked");
}

pub(crate) fn note(labels: &Labels, note: &Note) {
    match note {
        Note::Attempt => line!(debug, labels, "Listing and watching"),
        Note::Populated {
            objects,
            at,
            first: true,
        } => {
            line!(info, labels, objects, version = %at, "Caches populated");
        }
        Note::Populated { objects, at, .. } => {
            line!(debug, labels, objects, version = %at, "Caches populated anew");
        }
        Note::WatchExpired => line!(debug, labels, "Watch expired, listing again"),
        Note::RelistWanted => line!(info, labels, "Relist wanted, watch given up"),
        Note::VersionRefused { class } => {
            line!(debug, labels, %class, "Version refused, asking for the most recent state");
        }
        Note::TokenExpired => line!(debug, labels, "Continue token expired, listing in one page"),
        Note::StreamingFellBack { why, for_good: true } => {
            line!(
                info,
                labels,
                why = &**why,
                "Streaming list not served, falling back to LIST"
            );
        }
        Note::StreamingFellBack { why, .. } => {
            line!(
                debug,
                labels,
                why = &**why,
                "Streaming list failed, falling back to LIST"
            );
        }
        Note::StreamingCut => line!(debug, labels, "Streaming list was cut, beginning anew"),
        Note::StreamingSilent { silent_for } => {
            line!(
                warn,
                labels,
                ?silent_for,
                "Streaming list brings nothing, not even its end"
            );
        }
    }
}

pub(crate) fn error(labels: &Labels, error: &ReflectorError, status: &Status) {
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
    let (failures, retry_in) = (status.failures, error.retry_in());
    if loud {
        line!(warn, labels, %error, failures, ?retry_in, "Reflector failed");
    } else {
        line!(debug, labels, %error, failures, ?retry_in, "Reflector failed");
    }
}

/// How far a whole state came, and when, counted from its beginning.
#[derive(Debug, Default)]
pub(crate) struct Times {
    pub(crate) listed: Option<Duration>,
    pub(crate) version_read: Option<Duration>,
    pub(crate) objects_read: Option<Duration>,
    pub(crate) synced: Option<Duration>,
    pub(crate) version_set: Option<Duration>,
}

pub(crate) fn slow_list(labels: &Labels, how: &str, pages: u32, times: &Times, took: Duration) {
    line!(
        info,
        labels,
        how,
        pages,
        listed = times.listed.map(tracing::field::debug),
        version_read = times.version_read.map(tracing::field::debug),
        objects_read = times.objects_read.map(tracing::field::debug),
        synced = times.synced.map(tracing::field::debug),
        version_set = times.version_set.map(tracing::field::debug),
        ?took,
        "Slow list"
    );
}
