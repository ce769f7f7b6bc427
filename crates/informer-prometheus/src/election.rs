//! Elections as `leader_election_*`.

use informer_leaderelection::Metrics;

use crate::Registry;

/// A registry counts for all elections of the program, by the name of the lease. A program takes part in a few elections, which it names in
/// its code, and for as long as it runs: their series stay.
impl Metrics for Registry {
    fn leading(&self, name: &str, leading: bool) {
        let families = &self.0.election;
        families
            .leading
            .with_label_values(&[name])
            .set(i64::from(leading));
        // There from the start, as dashboards like it.
        families.slow_path.with_label_values(&[name]);
    }

    fn slow_path(&self, name: &str) {
        self.0.election.slow_path.with_label_values(&[name]).inc();
    }
}
