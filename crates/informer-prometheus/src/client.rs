//! Reads that wait for own writes as `controller_runtime_client_*`.

use std::time::Duration;

use informer_cache::{ReadOperation, WaitMetrics, WaitResult};

use crate::Registry;

/// Counts for all clients that read their own writes: for `ReadYourWrites::metrics`.
impl WaitMetrics for Registry {
    fn waited(&self, operation: ReadOperation, result: WaitResult, took: Duration) {
        let labels = [operation.label(), result.label()];
        self.0
            .client
            .wait
            .with_label_values(&labels)
            .observe(took.as_secs_f64());
    }
}
