//! Broadcasters of events as runnables.

use std::sync::Arc;

use informer_core::BoxFuture;
use informer_events::{Broadcaster, EventSink};

use crate::{BoxError, Group, Life, Runnable};

/// Starts before everything else and stops after it, so that the last words of what stops are written.
impl<S: EventSink + 'static> Runnable for Broadcaster<S> {
    fn name(&self) -> Arc<str> {
        "events".into()
    }

    fn group(&self) -> Group {
        Group::Recorders
    }

    fn run(self: Box<Self>, life: Life) -> BoxFuture<'static, Result<(), BoxError>> {
        Box::pin(async move {
            let stop = life.clone();
            let stop = async move {
                stop.stopping().await;
            };
            let report = Self::run(*self, stop).await;
            if report.abandoned > 0 {
                life.leave_undone(format!("{} events", report.abandoned));
            }
            Ok(())
        })
    }
}
