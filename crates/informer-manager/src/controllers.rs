//! What a manager knows of the controllers that it runs: readiness by controller, and what the debug endpoint shows.

use std::{
    fmt::Write as _,
    sync::{Arc, Weak},
};

use informer_controller::{Controller, Phase, Request, SourceStatus, Status};
use serde_json::{Value, json};

use crate::{BoxError, health::Verdict, shared::Shared};

/// Controllers whose status can be read: a controller; for every closure `Fn() -> Vec<Status>`. See
/// [`Runnable::controllers`](crate::Runnable::controllers).
pub trait Controllers: Send + Sync {
    /// How each is now.
    fn statuses(&self) -> Vec<Status>;
}

impl<F: Fn() -> Vec<Status> + Send + Sync> Controllers for F {
    fn statuses(&self) -> Vec<Status> {
        self()
    }
}

impl<R: Request> Controllers for Controller<R> {
    fn statuses(&self) -> Vec<Status> {
        vec![self.status()]
    }
}

/// A check for each controller that is with the manager: it does what it is for, or why not.
pub(crate) fn verdicts(shared: &Weak<Shared>) -> Vec<Verdict> {
    let Some(shared) = shared.upgrade() else {
        return Vec::new();
    };
    let leading = *shared.leading.borrow();
    let all = all(&shared).into_iter();
    all.map(|status| (format!("controller/{}", status.name), verdict(&status, leading)))
        .collect()
}

/// What the debug endpoint shows.
pub(crate) fn json(shared: &Weak<Shared>) -> Value {
    let all = shared.upgrade().map(|shared| all(&shared)).unwrap_or_default();
    json!({ "controllers": all.iter().map(shown).collect::<Vec<_>>() })
}

fn all(shared: &Shared) -> Vec<Status> {
    let controllers = shared.controllers();
    controllers.iter().flat_map(|it| it.statuses()).collect()
}

/// One that was in sync stays ready while a kind of its is away, as informers do; the debug endpoint names it. One that waits for leadership
/// is ready.
fn verdict(status: &Status, leading: bool) -> Result<(), BoxError> {
    let lacks = |what: &str, lacking: &mut dyn Iterator<Item = &SourceStatus>| {
        let mut text = format!("{what}: ");
        for (n, source) in lacking.enumerate() {
            let comma = if n == 0 { "" } else { ", " };
            // Writing to a string does not fail.
            let _ = match &source.trouble {
                Some(why) => write!(text, "{comma}{} ({why})", source.name),
                None => write!(text, "{comma}{}", source.name),
            };
        }
        Err(text.into())
    };
    let mut missing = status
        .sources
        .iter()
        .filter(|source| !source.synced && !source.optional)
        .peekable();
    match status.phase {
        // Its turn has not come: of the manager, and of who leads, others tell.
        Phase::Idle if !leading => Ok(()),
        Phase::Idle => Err("it was not run".into()),
        Phase::Syncing => lacks("not in sync", &mut missing),
        Phase::Standby | Phase::Running => {
            // What was added while it runs has its time, as long as it knows of no trouble.
            let mut failing = missing.filter(|source| source.trouble.is_some()).peekable();
            match failing.peek() {
                Some(_) => lacks("it goes on without", &mut failing),
                None => Ok(()),
            }
        }
        phase => Err(phase.to_string().into()),
    }
}

fn shown(status: &Status) -> Value {
    let counts = status.counts;
    let sources: Vec<_> = status
        .sources
        .iter()
        .map(|source| {
            json!({
                "name": *source.name,
                "synced": source.synced,
                "optional": source.optional,
                "trouble": source.trouble.as_deref(),
            })
        })
        .collect();
    json!({
        "name": *status.name,
        "phase": status.phase.to_string(),
        "ready": status.is_ready(),
        "overdue": status.overdue,
        "sources": sources,
        "queued": status.queued,
        "running": status.running,
        "reconciles": {
            "succeeded": counts.succeeded,
            "requeued": counts.requeued,
            "failed": counts.failed,
            "terminal": counts.terminal,
            "panicked": counts.panicked,
            "timedOut": counts.timed_out,
        },
    })
}

impl Shared {
    /// Those of the runnables that have not ended.
    fn controllers(&self) -> Vec<Arc<dyn Controllers>> {
        self.slots(|slot| slot.controllers.clone())
    }
}
