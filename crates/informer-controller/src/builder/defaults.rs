//! What holds for all controllers of a program.

use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use informer_core::Resource;

use super::settings::Settings;
use crate::{Late, ReconcileMetricsProvider, SourceError, late::OnSourceError};

/// What holds for every controller that is built with it ([`Builder::defaults`](crate::Builder::defaults)) and does not say otherwise
/// itself (controller-runtime `config.Controller`, the manager's `Options.Controller`). Each option is described at the builder's own.
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

    /// How many requests a controller reconciles at the same time (`MaxConcurrentReconciles`).
    #[must_use]
    pub fn concurrency(mut self, n: usize) -> Self {
        self.settings.concurrency = Some(n);
        self
    }

    /// How many requests a controller that is for this kind reconciles at the same time (`GroupKindConcurrency`). The kind is written with
    /// its group, if it has one: `Pod`, `Deployment.apps`.
    #[must_use]
    pub fn concurrency_of(mut self, kind: impl Into<Box<str>>, n: usize) -> Self {
        self.by_kind.insert(kind.into(), n);
        self
    }

    /// How long sources may take until they are in sync (`CacheSyncTimeout`).
    #[must_use]
    pub fn sync_timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.settings.sync_timeout = Some(timeout.into());
        self
    }

    /// What happens when they take longer.
    #[must_use]
    pub fn late(mut self, late: Late) -> Self {
        self.settings.late = Some(late);
        self
    }

    /// How long a reconcile may take (`ReconciliationTimeout`).
    #[must_use]
    pub fn timeout(mut self, timeout: impl Into<Option<Duration>>) -> Self {
        self.settings.timeout = Some(timeout.into());
        self
    }

    /// How long reconciles may go on after a stop.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.settings.grace = Some(grace);
        self
    }

    /// Whether a panic of a reconciler is a failure of its request (`RecoverPanic`).
    #[must_use]
    pub fn recover_panics(mut self, recover: bool) -> Self {
        self.settings.recover_panics = Some(recover);
        self
    }

    /// Whether controllers reconcile on the leader only (`NeedLeaderElection`).
    #[must_use]
    pub fn needs_leader_election(mut self, needs: bool) -> Self {
        self.settings.needs_leader_election = Some(needs);
        self
    }

    /// Whether their sources start before they lead (`EnableWarmup`).
    #[must_use]
    pub fn warm_up(mut self, warm_up: bool) -> Self {
        self.settings.warm_up = Some(warm_up);
        self
    }

    /// Whether their queues know priorities (`UsePriorityQueue`).
    #[must_use]
    pub fn priorities(mut self, priorities: bool) -> Self {
        self.settings.priorities = Some(priorities);
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

    /// Who is told when something is wrong with a source.
    #[must_use]
    pub fn on_source_error(mut self, hook: impl Fn(&SourceError) + Send + Sync + 'static) -> Self {
        self.on_source_error = Some(Arc::new(hook));
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
