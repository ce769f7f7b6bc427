//! What kind of failure an error of kube's watcher is.

use std::error::Error as _;

use informer_core::{Classify as _, FailureClass};
use informer_transport::{ApiError, Asked, Transport as _};
use kube::{core::Status, runtime::watcher};

use crate::KubeTransport;

/// The class of an error of a watcher: what a status or a metric shows, and what an alarm goes by.
#[must_use]
pub fn class_of(error: &watcher::Error) -> FailureClass {
    match error {
        watcher::Error::InitialListFailed(error) => of_client(error, Asked::List),
        watcher::Error::WatchStartFailed(error) | watcher::Error::WatchFailed(error) => {
            of_client(error, Asked::Watch)
        }
        watcher::Error::WatchError(status) => of_status(status, Asked::Watch),
        watcher::Error::NoResourceVersion => FailureClass::Unsupported,
    }
}

fn of_client(error: &kube::Error, asked: Asked) -> FailureClass {
    match error {
        kube::Error::Api(status) => of_status(status, asked),
        error if KubeTransport::is_refused(error) => FailureClass::Refused,
        _ => FailureClass::Transient,
    }
}

/// Both are the same JSON.
fn of_status(status: &Status, asked: Asked) -> FailureClass {
    let converted = serde_json::to_value(status).and_then(serde_json::from_value);
    converted.map_or(FailureClass::Transient, |status| {
        ApiError::from_status(status, asked).class()
    })
}

/// An error with its causes, in one sentence.
pub(super) fn sentence(error: &watcher::Error) -> String {
    let mut sentence = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        // Most of kube's errors print their causes themselves.
        if !sentence.contains(&said) {
            sentence += ": ";
            sentence += &said;
        }
        cause = error.source();
    }
    sentence
}
