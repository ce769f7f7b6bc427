//! `Namespaced`: a client that knows one namespace.

use informer_core::{BoxFuture, Entry, ObjectKey, Resource, Scope};
use serde_json::Value;

use crate::{Error, Form, Kinds, List, ListOptions, ReadClient, Write, WriteClient, WriteVerb, Written};

/// Reads and writes in one namespace: where none is said it is that one, and another is an error. Cluster-wide kinds pass, as long as they
/// name no namespace.
#[derive(Debug, Clone)]
pub struct Namespaced<C> {
    client: C,
    namespace: String,
}

impl<C> Namespaced<C> {
    /// Around this client, in this namespace.
    pub fn new(client: C, namespace: impl Into<String>) -> Self {
        Self {
            client,
            namespace: namespace.into(),
        }
    }

    /// The namespace to use where `said` is said.
    fn settle(&self, resource: &Resource, said: Option<&str>) -> Result<Option<&str>, Error> {
        match (resource.scope, said.filter(|said| !said.is_empty())) {
            (Scope::Cluster, None) => Ok(None),
            (Scope::Cluster, Some(said)) => Err(Error::refused(format!(
                "{resource} live in no namespace, but {said:?} is said"
            ))),
            (Scope::Namespaced, Some(said)) if said != self.namespace => Err(Error::refused(format!(
                "namespace {said:?} is not that of the client, {:?}",
                self.namespace
            ))),
            (Scope::Namespaced, _) => Ok(Some(&self.namespace)),
        }
    }

    fn change(&self, mut write: Write) -> Result<Write, Error> {
        let namespace = self.settle(&write.resource, write.namespace.as_deref())?;
        write.namespace = namespace.map(str::to_owned);
        if let (WriteVerb::Create(body) | WriteVerb::Update(body), Some(namespace)) =
            (&mut write.verb, namespace)
            && let Some(Value::Object(metadata)) = body.get_mut("metadata")
        {
            metadata.insert("namespace".to_owned(), namespace.into());
        }
        Ok(write)
    }
}

impl<C: ReadClient> ReadClient for Namespaced<C> {
    type Error = C::Error;

    fn kinds(&self) -> &Kinds {
        self.client.kinds()
    }

    async fn read<K: Form>(
        &self,
        resource: &Resource,
        key: &ObjectKey,
    ) -> Result<Option<Entry<ObjectKey, K>>, C::Error> {
        let namespace = self.settle(resource, key.namespace())?;
        let key = ObjectKey::new(namespace, key.name());
        self.client.read(resource, &key).await
    }

    async fn read_all<K: Form>(
        &self,
        resource: &Resource,
        options: &ListOptions,
    ) -> Result<List<K>, C::Error> {
        let namespace = self.settle(resource, options.namespace.as_deref())?;
        let mut options = options.clone();
        options.namespace = namespace.map(str::to_owned);
        self.client.read_all(resource, &options).await
    }

    fn is_not_found(error: &C::Error) -> bool {
        C::is_not_found(error)
    }
}

impl<C: WriteClient> WriteClient for Namespaced<C> {
    fn kinds(&self) -> &Kinds {
        self.client.kinds()
    }

    fn resolve<'a>(&'a self, api_version: &'a str, kind: &'a str) -> BoxFuture<'a, Result<Resource, Error>> {
        self.client.resolve(api_version, kind)
    }

    fn write(&self, write: Write) -> BoxFuture<'_, Result<Written, Error>> {
        Box::pin(async {
            let write = self.change(write)?;
            self.client.write(write).await
        })
    }
}
