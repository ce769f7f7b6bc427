//! `LeaseLock`: the record in a Lease of `coordination.k8s.io/v1`.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use informer_client::{Api, Client, Error, WriteOptions};
use informer_core::{Decoded, Resource, ResourceVersion};
use informer_transport::{JsonCodec, Transport};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Lock, LockError};
use crate::{MicroTime, Observed, Record};

/// A Lease of `coordination.k8s.io/v1`, with whatever else it carries.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Lease {
    /// Its metadata, as they are.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// What it says; absent is as good as empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<LeaseSpec>,
}

impl Lease {
    /// Its kind.
    #[must_use]
    pub fn resource() -> Resource {
        Resource::namespaced("coordination.k8s.io", "v1", "leases", "Lease")
    }
}

/// What a Lease says. Fields that are not named here are kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeaseSpec {
    /// Who holds it.
    #[serde(default)]
    pub holder_identity: Option<String>,
    /// How long others wait, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_duration_seconds: Option<i32>,
    /// Since when it is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acquire_time: Option<MicroTime>,
    /// When it was last renewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_time: Option<MicroTime>,
    /// How often it went to another holder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_transitions: Option<i32>,
    /// Coordinated election: how the server elects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    /// Coordinated election: who should hold it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_holder: Option<String>,
    /// The rest.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// What is absent is empty or zero, and so is what is below zero (client-go `LeaseSpecToLeaderElectionRecord`).
impl From<&LeaseSpec> for Record {
    fn from(spec: &LeaseSpec) -> Self {
        let number = |value: Option<i32>| value.and_then(|value| u32::try_from(value).ok()).unwrap_or(0);
        let text = |value: Option<&str>| value.filter(|text| !text.is_empty()).map(Arc::from);
        Self {
            holder: spec.holder_identity.as_deref().unwrap_or_default().into(),
            duration_seconds: number(spec.lease_duration_seconds),
            acquired: spec.acquire_time,
            renewed: spec.renew_time,
            transitions: number(spec.lease_transitions),
            strategy: text(spec.strategy.as_deref()),
            preferred_holder: text(spec.preferred_holder.as_deref()),
        }
    }
}

/// client-go `LeaderElectionRecordToLeaseSpec`.
impl From<&Record> for LeaseSpec {
    fn from(record: &Record) -> Self {
        let number = |value: u32| Some(i32::try_from(value).unwrap_or(i32::MAX));
        let text = |value: &Option<Arc<str>>| value.as_deref().map(str::to_owned);
        Self {
            holder_identity: Some((*record.holder).to_owned()),
            lease_duration_seconds: number(record.duration_seconds),
            acquire_time: record.acquired,
            renew_time: record.renewed,
            lease_transitions: number(record.transitions),
            strategy: text(&record.strategy),
            preferred_holder: text(&record.preferred_holder),
            other: Map::new(),
        }
    }
}

/// A lock in a Lease, through any transport (client-go `LeaseLock`). Needs `get`, `create` and `update` on leases.
///
/// Labels, annotations and whatever else the lease carries are kept. Where a proxy or a client answers late, the elector gives a request up by
/// itself ([`Options::call_timeout`](field@crate::Options::call_timeout)).
pub struct LeaseLock<T> {
    api: Api<T, Lease, JsonCodec<Lease>>,
    namespace: Arc<str>,
    name: Arc<str>,
    labels: BTreeMap<String, String>,
    /// The lease as it was last read or written.
    last: Mutex<Option<Decoded<Lease>>>,
}

impl<T> fmt::Debug for LeaseLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaseLock")
            .field("namespace", &self.namespace)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl<T: Transport> LeaseLock<T> {
    /// A lock in the lease of this name. It is created when it is not there.
    #[must_use]
    pub fn new(client: &Client<T>, namespace: &str, name: &str) -> Self {
        Self {
            api: client.objects(Lease::resource()).in_namespace(namespace),
            namespace: namespace.into(),
            name: name.into(),
            labels: BTreeMap::new(),
            last: Mutex::new(None),
        }
    }

    /// Puts these labels on the lease with each write; others stay (client-go `LeaseLock.Labels`).
    #[must_use]
    pub fn labels<K: Into<String>, V: Into<String>>(
        mut self,
        labels: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        let labels = labels.into_iter().map(|(key, value)| (key.into(), value.into()));
        self.labels.extend(labels);
        self
    }

    fn keep(&self, lease: Decoded<Lease>) -> Observed {
        let observed = Observed {
            record: lease.object.spec.as_ref().map(Record::from).unwrap_or_default(),
            version: lease.identity.stamp.version.clone(),
        };
        *self.last() = Some(lease);
        observed
    }

    fn last(&self) -> MutexGuard<'_, Option<Decoded<Lease>>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lease at this version, as it was last seen here or is read now.
    async fn at(&self, at: &ResourceVersion) -> Result<Lease, LockError> {
        let is_it = |lease: &Decoded<Lease>| lease.identity.stamp.version == *at;
        let last = self.last().clone().filter(is_it);
        let lease = match last {
            Some(last) => Some(last),
            None => self.api.find(&self.name).await.map_err(lock_error)?,
        };
        let lease = lease.ok_or_else(|| LockError::other("there is no such lease"))?;
        if is_it(&lease) {
            Ok(lease.object)
        } else {
            Err(LockError::conflict("the lease has been modified"))
        }
    }

    /// The same lease with another record. Its uid goes along, so that the write does not bring back a lease that was deleted: leases are
    /// created by an update too.
    fn changed(&self, mut lease: Lease, record: &Record, at: &ResourceVersion) -> Lease {
        let other = lease.spec.take().map(|spec| spec.other).unwrap_or_default();
        let mut spec = LeaseSpec::from(record);
        spec.other = other;
        lease.spec = Some(spec);
        let metadata = &mut lease.metadata;
        metadata.insert("name".to_owned(), (&*self.name).into());
        metadata.insert("namespace".to_owned(), (&*self.namespace).into());
        if !at.is_none() {
            metadata.insert("resourceVersion".to_owned(), at.as_str().into());
        }
        if !self.labels.is_empty() {
            let labels = metadata.entry("labels").or_insert_with(|| Map::new().into());
            if !labels.is_object() {
                *labels = Map::new().into();
            }
            for (key, value) in &self.labels {
                labels[key] = value.as_str().into();
            }
        }
        lease
    }
}

impl<T: Transport + 'static> Lock for LeaseLock<T> {
    async fn get(&self) -> Result<Option<Observed>, LockError> {
        let found = self.api.find(&self.name).await.map_err(lock_error)?;
        Ok(found.map(|lease| self.keep(lease)))
    }

    async fn create(&self, record: Record) -> Result<Observed, LockError> {
        let lease = self.changed(Lease::default(), &record, &ResourceVersion::none());
        let options = WriteOptions::default();
        let lease = self.api.create(&lease, &options).await.map_err(lock_error)?;
        Ok(self.keep(lease))
    }

    async fn update(&self, record: Record, at: ResourceVersion) -> Result<Observed, LockError> {
        // Without a version the server would overwrite whatever is there.
        if at.is_none() {
            return Err(LockError::other("the lease was never read"));
        }
        let lease = self.changed(self.at(&at).await?, &record, &at);
        let options = WriteOptions::default();
        let lease = self
            .api
            .replace(&self.name, &lease, &options)
            .await
            .map_err(lock_error)?;
        Ok(self.keep(lease))
    }

    fn describe(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }
}

fn lock_error(error: Error) -> LockError {
    if error.is_conflict() || error.is_already_exists() {
        LockError::conflict(error)
    } else {
        LockError::other(error)
    }
}
