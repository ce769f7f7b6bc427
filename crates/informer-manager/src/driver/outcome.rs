//! What the driver keeps for the end.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use crate::{
    BoxError, Group, LateError, Report, RunError, Undone, Unfinished,
    error::RunErrorKind,
    machine::{Grace, Id, Reason},
    report::chain_of,
    shared::Shared,
};

#[derive(Default)]
pub(super) struct Outcome {
    failure: Option<(Arc<str>, BoxError)>,
    pub(super) election: Option<BoxError>,
    /// The last that was not ready in time.
    pub(super) tardy: Option<Arc<str>>,
    pub(super) cut: BTreeMap<Id, CutOff>,
    undone: Vec<Undone>,
    late: Vec<LateError>,
}

/// What is known of a runnable as it is cut.
pub(super) struct CutOff {
    pub(super) name: Arc<str>,
    pub(super) group: Group,
    pub(super) busy: Vec<String>,
}

impl Outcome {
    /// A runnable ended. `first`: its error is the reason why the manager stops.
    pub(super) fn record(
        &mut self,
        name: Arc<str>,
        undone: Vec<String>,
        result: Result<(), BoxError>,
        first: bool,
    ) {
        if !undone.is_empty() {
            tracing::info!(name = &*name, ?undone, "Left undone");
            self.undone.push(Undone {
                name: name.clone(),
                what: undone,
            });
        }
        let Err(error) = result else {
            return;
        };
        tracing::error!(name = &*name, error = chain_of(&error), "Failed");
        if first {
            self.failure = Some((name, error));
        } else {
            let error = chain_of(&error);
            self.late.push(LateError { name, error });
        }
    }

    /// What the manager's run answers.
    pub(super) fn end(mut self, shared: &Shared) -> Result<Report, RunError> {
        let cut = shared.with(|machine| machine.cut().to_vec());
        let mut report = Report::default();
        for cut in cut {
            let Some(off) = self.cut.remove(&cut.id) else {
                continue;
            };
            let unfinished = Unfinished {
                name: off.name,
                group: off.group,
                asked: cut.asked,
                stuck: cut.stuck,
                busy: off.busy,
            };
            tracing::warn!(%unfinished, "Did not end in time");
            report.cut.push(unfinished);
        }
        report.undone = std::mem::take(&mut self.undone);
        report.late_errors = std::mem::take(&mut self.late);
        match self.kind(shared, &report) {
            None => Ok(report),
            Some(kind) => Err(RunError { kind, report }),
        }
    }

    fn kind(self, shared: &Shared, report: &Report) -> Option<RunErrorKind> {
        let (reason, forced, grace) =
            shared.with(|machine| (machine.reason(), machine.is_forced(), machine.grace()));
        let lease = || {
            shared
                .election
                .clone()
                .unwrap_or_else(|| "leader election".into())
        };
        match reason {
            Some(Reason::Failed(_)) => self
                .failure
                .map(|(name, error)| RunErrorKind::Failed(name, error)),
            Some(Reason::NotReady(_)) => self.tardy.map(RunErrorKind::NotReady),
            Some(Reason::Lost) => Some(RunErrorKind::Lost(lease())),
            Some(Reason::Election) => Some(RunErrorKind::Election(lease(), self.election)),
            Some(Reason::Told) | None if forced => Some(RunErrorKind::Forced),
            Some(Reason::Told) | None => {
                let waited = grace != Grace::For(Duration::ZERO);
                (waited && !report.cut.is_empty()).then_some(RunErrorKind::Overdue)
            }
        }
    }
}
