//! Reading from a cache as a client.

use informer_client::{Form, Kinds, List, ListOptions, ReadClient};
use informer_core::{Entry, ObjectKey, Resource, Scope};

use super::Cache;
use crate::{
    error::CacheError,
    slot::{self, Gate, ListQuery, Place, What},
};

impl Cache {
    pub(crate) async fn read_gated<K: Form>(
        &self,
        resource: &Resource,
        key: &ObjectKey,
        gate: Option<&dyn Gate>,
    ) -> Result<Option<Entry<ObjectKey, K>>, CacheError> {
        let key = match resource.scope {
            Scope::Cluster if key.namespace().is_some() => ObjectKey::cluster(key.name()),
            _ => key.clone(),
        };
        let slot = self.slot::<K>(resource)?;
        let mut list = slot::read::<K>(slot, What::One(&key), gate, self.place()).await?;
        match list.unreadable.pop() {
            Some(error) => Err(informer_client::Error::from(error).into()),
            None => Ok(list.entries.pop()),
        }
    }

    pub(crate) async fn read_all_gated<K: Form>(
        &self,
        resource: &Resource,
        options: &ListOptions,
        gate: Option<&dyn Gate>,
    ) -> Result<List<K>, CacheError> {
        let slot = self.slot::<K>(resource)?;
        let Some(mut query) = ListQuery::of(options)? else {
            return Ok(List::default());
        };
        if resource.scope == Scope::Cluster {
            query.namespace = None;
        }
        slot::read::<K>(slot, What::All(&query), gate, self.place()).await
    }

    fn place(&self) -> Place {
        let settings = self.settings();
        Place {
            sync: settings.sync_timeout,
            gate: settings.write_timeout,
        }
    }
}

/// From the stores. A kind that nobody asked for before is started, and the read waits until it is in sync, unless the cache was told not to
/// ([`Missing`](crate::Missing)).
impl ReadClient for Cache {
    type Error = CacheError;

    fn kinds(&self) -> &Kinds {
        Self::kinds(self)
    }

    async fn read<K: Form>(
        &self,
        resource: &Resource,
        key: &ObjectKey,
    ) -> Result<Option<Entry<ObjectKey, K>>, CacheError> {
        self.read_gated(resource, key, None).await
    }

    async fn read_all<K: Form>(
        &self,
        resource: &Resource,
        options: &ListOptions,
    ) -> Result<List<K>, CacheError> {
        self.read_all_gated(resource, options, None).await
    }

    fn is_not_found(error: &CacheError) -> bool {
        error.is_not_found()
    }
}
