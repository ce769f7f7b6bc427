//! `Leadership`: what a program asks about the election it takes part in.

use std::{
    error::Error,
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use informer_core::{BoxClock, Clock, ResourceVersion};
use tokio::sync::watch;

use crate::Term;

/// What the elector last said.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    pub(crate) reign: Option<Reign>,
    pub(crate) has_led: bool,
    pub(crate) ending: bool,
    pub(crate) ended: bool,
    pub(crate) leader: Option<Arc<str>>,
    pub(crate) version: Option<ResourceVersion>,
}

#[derive(Debug, Clone)]
pub(crate) struct Reign {
    pub(crate) term: Term,
    pub(crate) until: Instant,
}

/// Reads how the election goes. Clones read the same; it outlives the elector.
///
/// Whether this process leads is judged by the clock at the time of the question, not by what the elector's task had time to notice: a process
/// that was paused for longer than its lease gets `false` from its first question on. Between the question and what is done upon it, time passes
/// all the same: what must not be done by two leaders carries its [`term`](Self::term).
#[derive(Clone)]
pub struct Leadership {
    view: watch::Receiver<View>,
    clock: BoxClock,
    identity: Arc<str>,
    name: Arc<str>,
    /// From the end of the reign without a further renewal to the end of the lease.
    margin: Duration,
}

impl fmt::Debug for Leadership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Leadership")
            .field("identity", &self.identity)
            .field("view", &*self.view.borrow())
            .finish_non_exhaustive()
    }
}

impl Leadership {
    pub(crate) fn new(
        view: watch::Receiver<View>,
        clock: BoxClock,
        identity: Arc<str>,
        name: Arc<str>,
        margin: Duration,
    ) -> Self {
        Self {
            view,
            clock,
            identity,
            name,
            margin,
        }
    }

    /// Who this candidate is.
    #[must_use]
    pub fn identity(&self) -> &str {
        &self.identity
    }

    /// This process leads now, and its lease lasts.
    #[must_use]
    pub fn is_leader(&self) -> bool {
        self.term().is_some()
    }

    /// The fencing token, while this process leads.
    #[must_use]
    pub fn term(&self) -> Option<Term> {
        let view = self.view.borrow();
        let reign = view.reign.as_ref()?;
        (self.clock.now() < reign.until).then(|| reign.term.clone())
    }

    /// Whom the lease names, as far as was seen. For people and logs (client-go `GetLeader`).
    #[must_use]
    pub fn leader(&self) -> Option<Arc<str>> {
        self.view.borrow().leader.clone()
    }

    /// The version of the lease as it was last seen.
    #[must_use]
    pub fn resource_version(&self) -> Option<ResourceVersion> {
        self.view.borrow().version.clone()
    }

    /// Waits until this process leads, and returns the term. `None` when the election ends first.
    ///
    /// # Cancel safety
    /// Dropping it ends the wait.
    pub async fn elected(&self) -> Option<Term> {
        let mut view = self.view.clone();
        let found = view
            .wait_for(|view| view.reign.is_some() || view.ended)
            .await
            .ok()?;
        found.reign.as_ref().map(|reign| reign.term.clone())
    }

    /// Waits until leading should end: because stopping is wanted, or because it is over. What the lease guards ends now.
    ///
    /// # Cancel safety
    /// Dropping it ends the wait.
    pub async fn ending(&self) {
        self.over(|view| view.ending).await;
    }

    /// Waits until this process, having led, leads no more; or until the election ends without it having led. By the clock at the latest:
    /// it needs nothing of the elector's task.
    ///
    /// # Cancel safety
    /// Dropping it ends the wait.
    pub async fn lost(&self) {
        self.over(|_| false).await;
    }

    async fn over(&self, also: impl Fn(&View) -> bool) {
        let mut view = self.view.clone();
        loop {
            let until = {
                let view = view.borrow_and_update();
                if also(&view) || view.ended || (view.has_led && view.reign.is_none()) {
                    return;
                }
                view.reign.as_ref().map(|reign| reign.until)
            };
            let lapses = async {
                match until {
                    Some(until) => self.clock.sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                changed = view.changed() => if changed.is_err() { return },
                () = lapses => {
                    let renewed = view.borrow().reign.as_ref().is_some_and(|reign| Some(reign.until) != until);
                    if !renewed {
                        return;
                    }
                }
            }
        }
    }

    /// Fails when this process holds itself for the leader though its lease has been over for more than `tolerance`: its elector is stuck
    /// (client-go `LeaderElector.Check`). A candidate that does not lead is healthy.
    ///
    /// # Errors
    /// In that case.
    pub fn check(&self, tolerance: Duration) -> Result<(), NotRenewed> {
        let view = self.view.borrow();
        match &view.reign {
            Some(reign) if self.clock.now() > reign.until + self.margin + tolerance => {
                Err(NotRenewed(self.name.clone()))
            }
            _ => Ok(()),
        }
    }
}

/// A leader that should have renewed its lease or given up long ago did neither.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotRenewed(Arc<str>);

impl fmt::Display for NotRenewed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed election to renew leadership on lease {}", self.0)
    }
}

impl Error for NotRenewed {}
