//! Informers as runnables.

use std::sync::Arc;

use informer_core::{BoxClock, BoxFuture, Key, TokioClock};
use informer_sharedinformer::SharedInformer;
use tokio::select;

use crate::{BoxError, Group, Life, Runnable, kinds};

/// Runs in the group of caches. It is ready when it is in sync, or known to fail: see the readiness of the manager.
impl<Q: Key, K: Send + Sync + 'static> Runnable for SharedInformer<Q, K> {
    fn name(&self) -> Arc<str> {
        format!("informer/{}", Self::name(self)).into()
    }

    fn group(&self) -> Group {
        Group::Caches
    }

    fn ready(&self) -> BoxFuture<'static, ()> {
        let informer = self.clone();
        let synced = async move {
            // One that has stopped is waited for by nobody.
            let _ = Self::synced(&informer).await;
        };
        let all = Arc::new(self.clone());
        Box::pin(kinds::settled(all, BoxClock::new(TokioClock), synced))
    }

    fn run(self: Box<Self>, life: Life) -> BoxFuture<'static, Result<(), BoxError>> {
        Box::pin(async move {
            let mut run = std::pin::pin!(Self::run(&self));
            let ended = select! {
                biased;
                ended = run.as_mut() => ended?,
                _ = life.stopping() => {
                    self.stop();
                    run.await?
                }
            };
            for handler in ended.still_running {
                life.leave_undone(format!("handler {handler} still runs"));
            }
            Ok(())
        })
    }
}
