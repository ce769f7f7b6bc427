//! `ControllerMetrics`: a controller as `controller_runtime_*`.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use informer_controller::{ReconcileMetrics, ReconcileMetricsProvider, ReconcileResult};
use prometheus::{Histogram, IntCounter, IntGauge};

use crate::{Registry, families::ReconcileFamilies, scopes::Lease};

/// Counts for one controller. Its series are there from the start, at zero, and go when the controller is gone.
pub struct ControllerMetrics(Option<Inner>);

struct Inner {
    total: [(ReconcileResult, IntCounter); ReconcileResult::ALL.len()],
    errors: IntCounter,
    terminal_errors: IntCounter,
    panics: IntCounter,
    timeouts: IntCounter,
    time: Histogram,
    max_concurrent: IntGauge,
    active: IntGauge,
    lease: Mutex<Option<Lease>>,
}

impl Registry {
    /// Metrics for the reconciles of the controller of this name.
    #[must_use]
    pub fn controller(&self, name: &str) -> ControllerMetrics {
        let families = self.0.reconcile.clone();
        let removing = families.clone();
        let make = |labels: &[&str]| {
            let total = |result: ReconcileResult| {
                let labels = [labels[0], result.label()];
                (result, families.total.with_label_values(&labels))
            };
            Inner {
                total: ReconcileResult::ALL.map(total),
                errors: families.errors.with_label_values(labels),
                terminal_errors: families.terminal_errors.with_label_values(labels),
                panics: families.panics.with_label_values(labels),
                timeouts: families.timeouts.with_label_values(labels),
                time: families.time.with_label_values(labels),
                max_concurrent: families.max_concurrent.with_label_values(labels),
                active: families.active.with_label_values(labels),
                lease: Mutex::new(None),
            }
        };
        let entered = self
            .0
            .scopes
            .enter("controller", vec![name.to_owned()], make, move |labels| {
                remove(&removing, labels);
            });
        ControllerMetrics(entered.map(|(mut inner, lease)| {
            inner.lease = Mutex::new(Some(lease));
            inner
        }))
    }
}

fn remove(families: &ReconcileFamilies, labels: &[&str]) {
    for result in ReconcileResult::ALL {
        let _missing = families.total.remove_label_values(&[labels[0], result.label()]);
    }
    let _missing = families.errors.remove_label_values(labels);
    let _missing = families.terminal_errors.remove_label_values(labels);
    let _missing = families.panics.remove_label_values(labels);
    let _missing = families.timeouts.remove_label_values(labels);
    let _missing = families.time.remove_label_values(labels);
    let _missing = families.max_concurrent.remove_label_values(labels);
    let _missing = families.active.remove_label_values(labels);
}

impl ReconcileMetrics for ControllerMetrics {
    fn max_concurrent(&self, workers: usize) {
        if let Some(inner) = &self.0 {
            inner
                .max_concurrent
                .set(i64::try_from(workers).unwrap_or(i64::MAX));
        }
    }

    fn began(&self) {
        if let Some(inner) = &self.0 {
            inner.active.inc();
        }
    }

    fn ended(&self) {
        if let Some(inner) = &self.0 {
            inner.active.dec();
        }
    }

    fn reconciled(&self, result: ReconcileResult, took: Duration) {
        let Some(inner) = &self.0 else { return };
        if let Some((_, total)) = inner.total.iter().find(|(of, _)| *of == result) {
            total.inc();
        }
        if result == ReconcileResult::Error {
            inner.errors.inc();
        }
        inner.time.observe(took.as_secs_f64());
    }

    fn terminal_error(&self) {
        if let Some(inner) = &self.0 {
            inner.terminal_errors.inc();
        }
    }

    fn panicked(&self) {
        if let Some(inner) = &self.0 {
            inner.panics.inc();
        }
    }

    fn timed_out(&self) {
        if let Some(inner) = &self.0 {
            inner.timeouts.inc();
        }
    }

    fn gone(&self) {
        if let Some(inner) = &self.0 {
            let lease = inner.lease.lock().unwrap_or_else(PoisonError::into_inner).take();
            drop(lease);
        }
    }
}

impl ReconcileMetricsProvider for Registry {
    fn reconciles(&self, controller: &str) -> Arc<dyn ReconcileMetrics> {
        Arc::new(self.controller(controller))
    }

    fn queue(&self, controller: &str) -> Arc<dyn informer_workqueue::Metrics> {
        Arc::new(Self::queue(self, controller))
    }
}

impl fmt::Debug for ControllerMetrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControllerMetrics").finish_non_exhaustive()
    }
}
