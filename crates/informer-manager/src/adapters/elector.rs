//! Electors as candidates.

use std::{sync::Arc, time::Duration};

use informer_core::BoxFuture;
use informer_leaderelection::{Elector, End, HealthAdaptor, Lock};
use tokio::select;

use crate::{BoxError, Candidate, Check, Seat};

/// How long a leader may hold itself for one after its lease is over, until it is unhealthy (kube-controller-manager's).
const TOLERANCE: Duration = Duration::from_secs(20);

/// Gives the lease back when the manager's leader runnables have ended, if its options say so.
impl<L: Lock + 'static> Candidate for Elector<L> {
    /// Fails when the elector of a leader is stuck.
    fn check(&self) -> Option<(Arc<str>, Arc<dyn Check>)> {
        let adaptor = HealthAdaptor::new(TOLERANCE);
        adaptor.set(self.leadership());
        let check = move || adaptor.check().map_err(BoxError::from);
        Some((HealthAdaptor::NAME.into(), Arc::new(check)))
    }

    fn campaign(self: Box<Self>, seat: Seat) -> BoxFuture<'static, Result<(), BoxError>> {
        Box::pin(async move {
            let leadership = self.leadership();
            let resigned = seat.clone();
            let run = Self::run(*self, async move { resigned.resigned().await });
            let tell = async {
                if leadership.elected().await.is_some() {
                    seat.elected();
                    leadership.lost().await;
                    seat.lost();
                }
                std::future::pending::<()>().await;
            };
            select! {
                biased;
                end = run => match end {
                    End::Stopped { .. } => Ok(()),
                    End::Lost(loss) => Err(loss.to_string().into()),
                },
                () = tell => Ok(()),
            }
        })
    }
}
