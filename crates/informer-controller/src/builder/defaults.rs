//! What holds for all controllers of a program.

use std::{collections::BTreeMap, fmt, sync::Arc};

use informer_core::Resource;

use super::settings::{Settings, choices};
use crate::{ReconcileMetricsProvider, late::OnSourceError};

/// What holds for every controller that is built with it ([`Builder::defaults`](crate::Builder::defaults)) and does not say otherwise
/// itself (controller-runtime `config.Controller`, the manager's `Options.Controller`).
///
/// What a controller says goes before [`concurrency_of`](Self::concurrency_of) its kind, and that before the rest.
///
/// ```
/// use std::time::Duration;
/// use informer_controller::{Defaults, Late};
///
/// let defaults = Defaults::new()
///     .concurrency(2)
///     .concurrency_of("Deployment.apps", 8)
///     .sync_timeout(Duration::from_secs(300))
///     .late(Late::Fail);
/// ```
#[derive(Clone, Default)]
pub struct Defaults {
    pub(super) settings: Settings,
    by_kind: BTreeMap<Box<str>, usize>,
    pub(super) metrics: Option<Arc<dyn ReconcileMetricsProvider>>,
    pub(super) on_source_error: Option<OnSourceError>,
}

impl Defaults {
    /// Nothing chosen.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    choices!();

    /// How many requests a controller that is for this kind reconciles at the same time (`GroupKindConcurrency`). The kind is written with
    /// its group, if it has one: `Pod`, `Deployment.apps`.
    #[must_use]
    pub fn concurrency_of(mut self, kind: impl Into<Box<str>>, n: usize) -> Self {
        self.by_kind.insert(kind.into(), n);
        self
    }

    /// Whether several may be measured under one name (`SkipNameValidation`).
    #[must_use]
    pub fn skip_name_validation(mut self, skip: bool) -> Self {
        self.settings.skip_name_validation = Some(skip);
        self
    }

    /// Who counts what they do.
    #[must_use]
    pub fn metrics_from(mut self, provider: impl ReconcileMetricsProvider + 'static) -> Self {
        self.metrics = Some(Arc::new(provider));
        self
    }

    /// What holds for a controller that is for this kind.
    pub(super) fn settings_of(&self, kind: Option<&Resource>) -> Settings {
        let named = kind.map(|kind| match &*kind.group {
            "" => kind.kind.to_string(),
            group => format!("{}.{group}", kind.kind),
        });
        let of_kind = named.and_then(|name| self.by_kind.get(&*name).copied());
        Settings {
            concurrency: of_kind,
            ..Settings::default()
        }
        .or(&self.settings)
    }
}

impl fmt::Debug for Defaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Defaults")
            .field("settings", &self.settings)
            .field("by_kind", &self.by_kind)
            .finish_non_exhaustive()
    }
}
