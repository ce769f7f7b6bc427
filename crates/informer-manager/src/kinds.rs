//! What a manager knows of informers: readiness by kind, and what the debug endpoint shows.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, Instant},
};

use informer_core::{BoxClock, Clock, Key};
use informer_sharedinformer::{Factory, Phase, SharedInformer, Status};
use serde_json::{Value, json};
use tokio::select;

use crate::{BoxError, health::Verdict};

/// Informers whose status can be read: an informer, a factory, a cache; for every closure `Fn() -> Vec<Status>`.
pub trait Informers: Send + Sync {
    /// How each is now.
    fn statuses(&self) -> Vec<Status>;
}

impl<F: Fn() -> Vec<Status> + Send + Sync> Informers for F {
    fn statuses(&self) -> Vec<Status> {
        self()
    }
}

impl<Q: Key, K: Send + Sync + 'static> Informers for SharedInformer<Q, K> {
    fn statuses(&self) -> Vec<Status> {
        vec![self.status()]
    }
}

impl<S: Send + Sync> Informers for Factory<S> {
    fn statuses(&self) -> Vec<Status> {
        self.status()
    }
}

/// Informers by the name of their cluster. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct Kinds(Arc<RwLock<Clusters>>);

type Clusters = BTreeMap<Arc<str>, Vec<Arc<dyn Informers>>>;

impl Kinds {
    /// Adds informers of a cluster; the name of the only one may be empty.
    pub(crate) fn add(&self, cluster: Arc<str>, informers: Arc<dyn Informers>) {
        let mut clusters = self.0.write().unwrap_or_else(PoisonError::into_inner);
        clusters.entry(cluster).or_default().push(informers);
    }

    /// Forgets those of a cluster.
    pub(crate) fn remove(&self, cluster: &str) {
        let mut clusters = self.0.write().unwrap_or_else(PoisonError::into_inner);
        clusters.remove(cluster);
    }

    fn all(&self) -> Vec<(Arc<str>, Status)> {
        let clusters = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        let mut all = Vec::new();
        for (cluster, informers) in clusters {
            for informers in informers {
                let statuses = informers.statuses().into_iter();
                all.extend(statuses.map(|status| (cluster.clone(), status)));
            }
        }
        all
    }

    /// A check for each kind: in sync, or why not.
    pub(crate) fn verdicts(&self) -> Vec<Verdict> {
        let all = self.all().into_iter();
        all.map(|(cluster, status)| {
            let name = if cluster.is_empty() {
                format!("informer/{}", status.name)
            } else {
                format!("informer/{cluster}/{}", status.name)
            };
            (name, verdict(&status))
        })
        .collect()
    }

    /// What the debug endpoint shows.
    pub(crate) fn json(&self, now: Instant) -> Value {
        let all = self.all().into_iter();
        let informers: Vec<_> = all
            .map(|(cluster, status)| shown(&cluster, &status, now))
            .collect();
        json!({ "informers": informers })
    }
}

impl fmt::Debug for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clusters = self.0.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_set().entries(clusters.keys()).finish()
    }
}

/// A kind that was in sync stays ready while its server is away: its cache is old, not wrong, and a restart of the server would take every
/// replica out of service otherwise.
fn verdict(status: &Status) -> Result<(), BoxError> {
    match status.phase {
        Phase::Stopped => Err("it was stopped".into()),
        _ if status.synced => Ok(()),
        Phase::Idle => Err("not in sync: it was not run".into()),
        _ => Err(format!("not in sync: {}", status.source).into()),
    }
}

fn shown(cluster: &str, status: &Status, now: Instant) -> Value {
    let millis = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let reflector = status.source.reflector.as_ref();
    let handlers: Vec<_> = status
        .handlers
        .iter()
        .map(|handler| {
            json!({
                "name": *handler.name,
                "synced": handler.synced,
                "backlog": handler.backlog,
                "delivered": handler.delivered,
                "merged": handler.merged,
                "panics": handler.panics,
            })
        })
        .collect();
    let refusals: Vec<_> = status
        .refusals
        .iter()
        .map(|refusal| json!({ "key": *refusal.key, "why": *refusal.why }))
        .collect();
    json!({
        "cluster": cluster,
        "name": *status.name,
        "phase": status.phase.to_string(),
        "synced": status.synced,
        "healthy": status.healthy,
        "objects": status.objects,
        "queued": status.queued,
        "applied": status.applied.to_string(),
        "refused": status.refused,
        "refusals": refusals,
        "handlers": handlers,
        "source": {
            "phase": status.source.phase.as_deref(),
            "error": status.source.error.as_deref(),
            "class": status.source.class.map(|class| class.as_str()),
            "failures": reflector.map(|it| it.failures),
            "lists": reflector.map(|it| it.lists),
            "watches": reflector.map(|it| it.watches),
            "relists": reflector.map(|it| it.relists),
            "events": reflector.map(|it| it.events),
            "bytes": reflector.map(|it| it.bytes),
            "version": reflector.map(|it| it.version.to_string()),
            "lagMillis": reflector.and_then(|it| it.lag(now)).map(millis),
            "lastErrorMillisAgo": reflector
                .and_then(|it| it.last_error.as_ref())
                .map(|error| millis(now.saturating_duration_since(error.at))),
        },
    })
}

/// When informers are looked at that are not in sync and have not failed; twice as long each time.
const LOOK: Duration = Duration::from_millis(50);

/// The longest that they are not looked at.
const SELDOM: Duration = Duration::from_secs(10);

/// Waits until each is in sync, or known to fail: a kind that is broken holds up nobody who does not need it. That they are in sync is told
/// by `synced`; failures nobody tells, so they are looked for, more and more seldom: a start that is stuck costs nothing.
pub(crate) async fn settled(
    informers: Arc<dyn Informers>,
    clock: BoxClock,
    synced: impl Future<Output = ()> + Send,
) {
    let is_settled =
        |status: &Status| status.synced || status.phase == Phase::Stopped || status.source.error.is_some();
    let looked = async {
        let mut wait = LOOK;
        while !informers.statuses().iter().all(is_settled) {
            clock.sleep_until(clock.now() + wait).await;
            wait = wait.saturating_mul(2).min(SELDOM);
        }
    };
    select! {
        biased;
        () = synced => {}
        () = looked => {}
    }
}
