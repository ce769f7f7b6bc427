//! `PluginMetrics`: what plug-ins do, told to whoever counts.

use std::time::{Duration, SystemTime};

/// How a run of a plug-in ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PluginCall {
    /// It ended well, whatever it printed.
    Good,
    /// It ended with this exit code; `None` when a signal, or the time limit, ended it.
    Failed {
        /// The exit code.
        code: Option<i32>,
    },
    /// There is no such program, or it may not be run.
    NotFound,
    /// It could not be started.
    NotStarted,
}

/// Told of the runs of exec plug-ins and of the client certificates that they give (client-go `tools/metrics`: `ExecPluginCalls`,
/// `ClientCertExpiry`, `ClientCertRotationAge`). Each method does nothing unless it is written, and none may block.
pub trait PluginMetrics: Send + Sync {
    /// A run ended.
    fn called(&self, call: PluginCall) {
        let _ = call;
    }

    /// The plug-in of this entry (file, user and field) gave other credentials than before. `expires` is when their certificate does, if
    /// they have one; `lived` the age of the certificate that they replace, if there was one.
    fn renewed(&self, entry: &str, expires: Option<SystemTime>, lived: Option<Duration>) {
        let _ = (entry, expires, lived);
    }

    /// The configuration with this entry is no longer used.
    fn gone(&self, entry: &str) {
        let _ = entry;
    }
}
