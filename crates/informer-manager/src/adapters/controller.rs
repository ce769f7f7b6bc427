//! Controllers as runnables.

use std::sync::Arc;

use informer_controller::{Controller, Request};
use informer_core::BoxFuture;
use tokio::select;

use crate::{BoxError, Life, Runnable, Stop};

/// Runs on the leader. After a stop what it reconciles may finish within the manager's grace time, or the controller's own if that is less.
impl<R: Request> Runnable for Controller<R> {
    fn name(&self) -> Arc<str> {
        Self::name(self).into()
    }

    fn run(self: Box<Self>, life: Life) -> BoxFuture<'static, Result<(), BoxError>> {
        Box::pin(async move {
            let controller = self.clone();
            life.name_busy(move || {
                let running = controller.status().running;
                if running == 0 {
                    Vec::new()
                } else {
                    vec![format!("{running} reconciles")]
                }
            });
            let mut run = std::pin::pin!(Self::run(&self));
            let ended = select! {
                biased;
                ended = run.as_mut() => ended?,
                how = life.stopping() => {
                    if how == Stop::Cancel {
                        return Ok(());
                    }
                    self.stop();
                    run.await?
                }
            };
            for request in ended.left {
                life.leave_undone(format!("{request:?}"));
            }
            for request in ended.cut {
                life.leave_undone(format!("{request:?} (cut)"));
            }
            Ok(())
        })
    }
}
