//! Controllers as runnables.

use std::{sync::Arc, time::Duration};

use informer_controller::{Controller, Request};
use informer_core::BoxFuture;
use tokio::select;

use crate::{BoxError, Controllers, Group, Life, Runnable, Stop};

/// Runs on the leader, unless it was told to need no election; one that warms up starts its sources before. After a stop what it
/// reconciles may finish within the manager's grace time, which stands in for the controller's own.
///
/// A kind that it waits for and that is broken or absent stops nobody else: it is named and waited for, unless the controller's builder
/// says [`Late::Fail`](informer_controller::Late::Fail).
impl<R: Request> Runnable for Controller<R> {
    fn name(&self) -> Arc<str> {
        Self::name(self).into()
    }

    fn group(&self) -> Group {
        if !self.needs_leader_election() {
            Group::Others
        } else if self.warms_up() {
            Group::WarmUp
        } else {
            Group::LeaderElection
        }
    }

    fn controllers(&self) -> Option<Arc<dyn Controllers>> {
        Some(Arc::new(self.clone()))
    }

    fn run(self: Box<Self>, life: Life) -> BoxFuture<'static, Result<(), BoxError>> {
        Box::pin(async move {
            let controller = self.clone();
            life.name_busy(move || controller.reconciling().iter().map(named).collect());
            let mut run = std::pin::pin!(self.run_among(life.leading()));
            let ended = select! {
                biased;
                ended = run.as_mut() => ended?,
                how = life.stopping() => {
                    if how == Stop::Cancel {
                        return Ok(());
                    }
                    self.stop_within(Duration::MAX);
                    run.await?
                }
            };
            for request in &ended.left {
                life.leave_undone(named(request));
            }
            Ok(())
        })
    }
}

fn named<R: Request>(request: &R) -> String {
    format!("{request:?}")
}
