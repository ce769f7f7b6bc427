//! `ReadYourWrites`: a client whose reads show what was written through it.

mod facts;
mod ledger;
mod metrics;

use std::{
    collections::BTreeMap,
    fmt,
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use informer_client::{
    Error, Form, Kinds, List, ListOptions, ReadClient, Write, WriteClient, WriteVerb, Written,
};
use informer_core::{BoxFuture, Clock, Entry, ObjectKey, Resource, Scope};
use tokio::{select, sync::watch};

use self::ledger::{About, Fact, Ledger};
pub use self::metrics::{ReadOperation, WaitMetrics, WaitResult};
use crate::{
    CacheError, CachedClient,
    error::Reason,
    slot::{Gate, Look, Verdict},
};

/// A client of a cache whose reads wait until the cache shows every write that this client began before them (the idea of
/// controller-runtime's `EnableReadYourWritesConsistency`, and of KEP-5647). Clones share what they wrote.
///
/// # What a read waits for
/// * **A get** waits for the writes to its key, **a list** for those to the keys that it may bring, and neither for those of another namespace
///   or of others. Writes that begin later are not waited for, so readers do not starve.
/// * First for those that are under way, then until the store shows what came of them: by the version that it follows to, bookmarks
///   included, or by the state of the object itself. Each namespace is held against its own watch.
/// * A write that takes an object out of the selector of the cache, or never brought it in, waits for no event: what counts is that no
///   older state is shown. Of a delete what counts is the uid: another incarnation of the name is not waited out.
/// * A dry run, a failed write and the creation of a subresource (eviction, binding, token) are not waited for, and neither is a write whose
///   future was dropped.
///
/// After [`CacheBuilder::write_timeout`](crate::CacheBuilder::write_timeout) a read fails and says which write it waited for and where the
/// watch is. It fails at once if the server's versions have no order.
///
/// # Cost
/// A record for each written key that no read or write has found to be shown yet, 10 000 for a kind at most: beyond that they are
/// replaced by the latest version among them, for which every read of the kind in that namespace waits then. Deletes beyond that of which
/// the server tells no version are forgotten, the oldest first.
#[derive(Clone)]
pub struct ReadYourWrites {
    client: CachedClient,
    shared: Arc<Shared>,
    metrics: Option<Arc<dyn WaitMetrics>>,
}

struct Shared {
    ledgers: Mutex<BTreeMap<Resource, Ledger>>,
    /// How many writes have ended.
    ended: watch::Sender<u64>,
}

impl ReadYourWrites {
    pub(crate) fn new(client: CachedClient) -> Self {
        Self {
            client,
            shared: Arc::new(Shared {
                ledgers: Mutex::default(),
                ended: watch::Sender::default(),
            }),
            metrics: None,
        }
    }

    /// The same, whose waits are counted. Reads of kinds that are read live do not wait.
    #[must_use]
    pub fn metrics(mut self, metrics: impl WaitMetrics + 'static) -> Self {
        self.metrics = Some(Arc::new(metrics));
        self
    }

    async fn measured<R>(
        &self,
        operation: ReadOperation,
        read: impl Future<Output = Result<R, CacheError>> + Send,
    ) -> Result<R, CacheError> {
        let Some(metrics) = &self.metrics else {
            return read.await;
        };
        let clock = &self.client.cache().settings().clock;
        let began = clock.now();
        let result = read.await;
        let took = clock.now().saturating_duration_since(began);
        metrics.waited(operation, WaitResult::of(&result), took);
        result
    }

    /// The client whose reads do not wait.
    #[must_use]
    pub fn client(&self) -> &CachedClient {
        &self.client
    }

    /// How many records of writes to a kind are kept.
    #[must_use]
    pub fn n_pending(&self, resource: &Resource) -> usize {
        self.shared.lock().get(resource).map_or(0, Ledger::len)
    }

    async fn quiet(&self, resource: &Resource, about: &About) -> Result<(), CacheError> {
        let boundary = self.shared.with(resource, |ledger| ledger.boundary());
        let settings = self.client.cache().settings();
        let until = settings.clock.now() + settings.write_timeout;
        let mut ended = self.shared.ended.subscribe();
        loop {
            ended.mark_unchanged();
            let busy = self
                .shared
                .with(resource, |ledger| ledger.busy(boundary, about).cloned());
            let Some(busy) = busy else {
                return Ok(());
            };
            select! {
                biased;
                // The sender lives as long as `self`.
                _ = ended.changed() => {}
                () = settings.clock.sleep_until(until) => {
                    return Err(CacheError::new(Reason::Overdue {
                        resource: resource.clone(),
                        waited: settings.write_timeout,
                        write: busy.to_string(),
                        at: "the write has not ended yet".to_owned(),
                    }));
                }
            }
        }
    }

    async fn record(&self, write: Write) -> Result<Written, Error> {
        let passes = write.is_dry_run()
            || (write.subresource.is_some() && matches!(write.verb, WriteVerb::Create(_)))
            || self.client.bypasses(&write.resource);
        if passes {
            return self.client.write(write).await;
        }
        let plan = facts::Plan::of(&write);
        let resource = write.resource.clone();
        let slot = self.client.cache().find(&resource);
        let known = slot.as_ref().and_then(|slot| plan.known(&*slot.look()));
        let mut under_way = UnderWay::begin(&self.shared, &resource, plan.about.clone());
        let written = self.client.write(write).await?;
        let covered = slot.as_ref().map(|slot| slot.covered());
        under_way.facts = plan.facts(&written, known.as_ref(), covered);
        under_way.end();
        if let Some(slot) = slot {
            let mut ledgers = self.shared.lock();
            if let Some(ledger) = ledgers.get_mut(&resource).filter(|ledger| ledger.is_large()) {
                ledger.prune(&*slot.look());
            }
        }
        Ok(written)
    }
}

impl ReadClient for ReadYourWrites {
    type Error = CacheError;

    fn kinds(&self) -> &Kinds {
        ReadClient::kinds(&self.client)
    }

    async fn read<K: Form>(
        &self,
        resource: &Resource,
        key: &ObjectKey,
    ) -> Result<Option<Entry<ObjectKey, K>>, CacheError> {
        let about = About::Key(match resource.scope {
            Scope::Cluster => ObjectKey::cluster(key.name()),
            Scope::Namespaced => key.clone(),
        });
        if self.client.bypasses(resource) {
            return self.client.read(resource, key).await;
        }
        let read = async {
            self.quiet(resource, &about).await?;
            let gate = self.gate(resource, about.clone());
            self.client.read_gated(resource, key, Some(&gate)).await
        };
        self.measured(ReadOperation::Get, read).await
    }

    async fn read_all<K: Form>(
        &self,
        resource: &Resource,
        options: &ListOptions,
    ) -> Result<List<K>, CacheError> {
        if self.client.bypasses(resource) {
            return self.client.read_all(resource, options).await;
        }
        let about = match (resource.scope, &options.namespace) {
            (Scope::Namespaced, Some(namespace)) if !namespace.is_empty() => {
                About::Namespace(namespace.clone())
            }
            _ => About::All,
        };
        let read = async {
            self.quiet(resource, &about).await?;
            let gate = self.gate(resource, about.clone());
            self.client.read_all_gated(resource, options, Some(&gate)).await
        };
        self.measured(ReadOperation::List, read).await
    }

    fn is_not_found(error: &CacheError) -> bool {
        error.is_not_found()
    }
}

impl ReadYourWrites {
    fn gate(&self, resource: &Resource, about: About) -> OwnWrites {
        OwnWrites {
            shared: self.shared.clone(),
            resource: resource.clone(),
            about,
        }
    }
}

impl WriteClient for ReadYourWrites {
    fn kinds(&self) -> &Kinds {
        ReadClient::kinds(&self.client)
    }

    fn resolve<'a>(&'a self, api_version: &'a str, kind: &'a str) -> BoxFuture<'a, Result<Resource, Error>> {
        self.client.resolve(api_version, kind)
    }

    fn write(&self, write: Write) -> BoxFuture<'_, Result<Written, Error>> {
        Box::pin(self.record(write))
    }
}

/// Agrees to a view that shows the own writes.
struct OwnWrites {
    shared: Arc<Shared>,
    resource: Resource,
    about: About,
}

impl Gate for OwnWrites {
    fn check(&self, look: &dyn Look) -> Verdict {
        let mut ledgers = self.shared.lock();
        let Some(ledger) = ledgers.get_mut(&self.resource) else {
            return Verdict::Shown;
        };
        let verdict = ledger.check(&self.about, look);
        if verdict == Verdict::Shown {
            ledger.forget_shown(&self.about, look);
        }
        verdict
    }
}

/// A write that has begun. It ends however its future does.
struct UnderWay {
    shared: Arc<Shared>,
    resource: Resource,
    id: Option<u64>,
    facts: Vec<Fact>,
}

impl UnderWay {
    fn begin(shared: &Arc<Shared>, resource: &Resource, about: About) -> Self {
        let id = shared.with(resource, |ledger| ledger.begin(about));
        Self {
            shared: shared.clone(),
            resource: resource.clone(),
            id: Some(id),
            facts: Vec::new(),
        }
    }

    fn end(&mut self) {
        if let Some(id) = self.id.take() {
            let facts = std::mem::take(&mut self.facts);
            self.shared.with(&self.resource, |ledger| ledger.end(id, facts));
            self.shared.ended.send_modify(|ended| *ended += 1);
        }
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn with<R>(&self, resource: &Resource, change: impl FnOnce(&mut Ledger) -> R) -> R {
        let mut ledgers = self.lock();
        if !ledgers.contains_key(resource) {
            ledgers.insert(resource.clone(), Ledger::default());
        }
        change(ledgers.get_mut(resource).expect("it was put there just now"))
    }

    /// What runs under the lock is ours.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Resource, Ledger>> {
        self.ledgers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ReadYourWrites {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadYourWrites")
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}
