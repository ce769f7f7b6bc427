//! Exec plug-ins as `rest_client_exec_plugin_*`.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use informer_kubeconfig::{PluginCall, PluginMetrics};

use crate::{Registry, families::PluginFamilies};

/// When the certificates of plug-ins expire, by entry.
#[derive(Default)]
pub(crate) struct Expiries(Mutex<BTreeMap<String, SystemTime>>);

impl Expiries {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, SystemTime>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Upstream: component-base `execPluginCertTTL`.
    pub(crate) fn refresh(&self, families: &PluginFamilies) {
        let ttl = match self.lock().values().min() {
            None => f64::INFINITY,
            Some(first) => seconds_until(*first),
        };
        families.ttl.set(ttl);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "certificates expire by the clock on the wall"
)]
fn seconds_until(time: SystemTime) -> f64 {
    match time.duration_since(SystemTime::now()) {
        Ok(left) => left.as_secs_f64(),
        Err(over) => -over.duration().as_secs_f64(),
    }
}

/// Handed to a configuration as `Overrides::exec_metrics`.
impl PluginMetrics for Registry {
    fn called(&self, call: PluginCall) {
        let (code, status) = match call {
            PluginCall::Good => (0, "no_error"),
            // A signal has no code; Go says -1.
            PluginCall::Failed { code } => (code.unwrap_or(-1), "plugin_execution_error"),
            PluginCall::NotFound => (1, "plugin_not_found_error"),
            _ => (1, "client_internal_error"),
        };
        let calls = &self.0.plugins.calls;
        calls
            .with_label_values(&[code.to_string().as_str(), status])
            .inc();
    }

    fn renewed(&self, entry: &str, expires: Option<SystemTime>, lived: Option<Duration>) {
        match expires {
            Some(expires) => self.0.expiries.lock().insert(entry.to_owned(), expires),
            None => self.0.expiries.lock().remove(entry),
        };
        if let Some(lived) = lived {
            self.0.plugins.rotation_age.observe(lived.as_secs_f64());
        }
    }

    fn gone(&self, entry: &str) {
        self.0.expiries.lock().remove(entry);
    }
}
