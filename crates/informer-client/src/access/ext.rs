//! Comfort on top of reads and writes: by type, with kinds from the registry.

use std::{any::TypeId, future::Future, sync::Arc};

use informer_core::{DecodeError, Entry, Identity, ObjectKey, Resource};
use informer_transport::{DeleteOptions, DynamicObject, PartialMetadata, Patch, Selectors, WriteOptions};
use serde_json::Value;

use super::{
    Form, List, ListOptions, ReadClient, Write, WriteClient, WriteVerb, Written, form::metadata,
    write::from_value,
};
use crate::Error;

/// Reads by type. For every [`ReadClient`].
pub trait ReadClientExt: ReadClient {
    /// The object of a key, in its last state.
    ///
    /// # Errors
    /// When there is none, the type is not registered, or the read failed. When its last state cannot be decoded
    /// ([`Error::is_unreadable`]), though a cache may hold an older one: that is what [`entry`](Self::entry) is for.
    fn get<K: Form>(&self, key: &ObjectKey) -> impl Future<Output = Result<Arc<K>, Self::Error>> + Send {
        async move {
            let resource = self.kinds().of::<K>().map_err(Error::from)?;
            match self.read::<K>(&resource, key).await? {
                Some(entry) => Ok(current(&resource, entry)?.object),
                None => Err(Error::not_found(&resource, key.name()).into()),
            }
        }
    }

    /// The object of a key, in its last state, if there is one.
    ///
    /// # Errors
    /// When the type is not registered, or the read failed, and when its last state cannot be decoded, as [`get`](Self::get).
    fn find<K: Form>(
        &self,
        key: &ObjectKey,
    ) -> impl Future<Output = Result<Option<Arc<K>>, Self::Error>> + Send {
        async move {
            let resource = self.kinds().of::<K>().map_err(Error::from)?;
            let found = self.read::<K>(&resource, key).await?;
            let found = found.map(|entry| current(&resource, entry)).transpose()?;
            Ok(found.map(|entry| entry.object))
        }
    }

    /// The object of a key with its version, if there is one: as a cache holds it, which is an older state than the server's where it is
    /// [stale](Entry::stale), as the newer one cannot be decoded.
    ///
    /// # Errors
    /// When the type is not registered, the read failed, or no state could ever be decoded.
    fn entry<K: Form>(
        &self,
        key: &ObjectKey,
    ) -> impl Future<Output = Result<Option<Entry<ObjectKey, K>>, Self::Error>> + Send {
        async move {
            let resource = self.kinds().of::<K>().map_err(Error::from)?;
            self.read::<K>(&resource, key).await
        }
    }

    /// The objects that the options want, and which of them could not be read: see [`List::is_complete`].
    ///
    /// # Errors
    /// When the type is not registered, or the read failed.
    fn list<K: Form>(
        &self,
        options: &ListOptions,
    ) -> impl Future<Output = Result<List<K>, Self::Error>> + Send {
        async move {
            let resource = self.kinds().of::<K>().map_err(Error::from)?;
            self.read_all::<K>(&resource, options).await
        }
    }
}

impl<C: ReadClient> ReadClientExt for C {}

/// Writes by type. For every [`WriteClient`]. The kind is that of the type; of a dynamic object it is what the object says it is, which the client
/// [finds](WriteClient::resolve).
pub trait WriteClientExt: WriteClient {
    /// Creates an object.
    ///
    /// # Errors
    /// When there is one of that name, or the write failed.
    fn create<K: Form>(
        &self,
        object: &K,
        options: &WriteOptions,
    ) -> impl Future<Output = Result<K, Error>> + Send {
        self.put(object, WriteVerb::Create, None, options)
    }

    /// Replaces an object. Its resource version must be that of the state it was made from, or absent to overwrite any.
    ///
    /// # Errors
    /// A conflict when somebody else wrote it since, or the write failed.
    fn update<K: Form>(
        &self,
        object: &K,
        options: &WriteOptions,
    ) -> impl Future<Output = Result<K, Error>> + Send {
        self.put(object, WriteVerb::Update, None, options)
    }

    /// Replaces the status of an object.
    ///
    /// # Errors
    /// As [`update`](Self::update).
    fn update_status<K: Form>(
        &self,
        object: &K,
        options: &WriteOptions,
    ) -> impl Future<Output = Result<K, Error>> + Send {
        self.put(object, WriteVerb::Update, Some("status"), options)
    }

    /// Applies an object, which holds the fields that the manager wants (server-side apply).
    ///
    /// # Errors
    /// A conflict where another manager has a field with another value and force is not said, or the write failed.
    fn apply<K: Form>(
        &self,
        object: &K,
        options: &WriteOptions,
    ) -> impl Future<Output = Result<K, Error>> + Send {
        self.put(object, |body| WriteVerb::Patch(Patch::Apply(body)), None, options)
    }

    /// Applies the status of an object.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    fn apply_status<K: Form>(
        &self,
        object: &K,
        options: &WriteOptions,
    ) -> impl Future<Output = Result<K, Error>> + Send {
        let verb = |body| WriteVerb::Patch(Patch::Apply(body));
        self.put(object, verb, Some("status"), options)
    }

    /// Patches the object of a key.
    ///
    /// # Errors
    /// When the type is not registered, or the write failed.
    fn patch<K: Form>(
        &self,
        key: &ObjectKey,
        patch: Patch,
        options: &WriteOptions,
    ) -> impl Future<Output = Result<K, Error>> + Send {
        async move {
            let resource = self.kinds().of::<K>()?;
            let write = Write::to(resource, key, WriteVerb::Patch(patch), options.clone());
            self.write(write).await?.into_object()
        }
    }

    /// Patches the status of the object of a key.
    ///
    /// # Errors
    /// As [`patch`](Self::patch).
    fn patch_status<K: Form>(
        &self,
        key: &ObjectKey,
        patch: Patch,
        options: &WriteOptions,
    ) -> impl Future<Output = Result<K, Error>> + Send {
        async move {
            let resource = self.kinds().of::<K>()?;
            let write = Write::to(resource, key, WriteVerb::Patch(patch), options.clone());
            self.write(write.at("status")).await?.into_object()
        }
    }

    /// Deletes the object of a key.
    ///
    /// # Errors
    /// When there is none, the type is not registered, or the write failed.
    fn delete<K: Form>(
        &self,
        key: &ObjectKey,
        options: &DeleteOptions,
    ) -> impl Future<Output = Result<Written, Error>> + Send {
        async move {
            let resource = self.kinds().of::<K>()?;
            self.delete_of(&resource, key, options).await
        }
    }

    /// Deletes the object of a key, of a kind that need not have a type.
    ///
    /// # Errors
    /// When there is none, or the write failed.
    fn delete_of(
        &self,
        resource: &Resource,
        key: &ObjectKey,
        options: &DeleteOptions,
    ) -> impl Future<Output = Result<Written, Error>> + Send {
        let verb = WriteVerb::Delete(options.clone());
        self.write(Write::to(resource.clone(), key, verb, WriteOptions::default()))
    }

    /// Deletes all objects of a namespace that the selectors match; of a cluster-wide kind, without a namespace.
    ///
    /// # Errors
    /// When the type is not registered, or the write failed.
    fn delete_all<K: Form>(
        &self,
        namespace: Option<&str>,
        selectors: &Selectors,
        options: &DeleteOptions,
    ) -> impl Future<Output = Result<Written, Error>> + Send {
        async move {
            let resource = self.kinds().of::<K>()?;
            let key = ObjectKey::new(namespace, "");
            let verb = WriteVerb::DeleteAll(selectors.clone(), options.clone());
            self.write(Write::to(resource, &key, verb, WriteOptions::default()))
                .await
        }
    }

    /// Creates, replaces or applies an object or a subresource of it.
    ///
    /// # Errors
    /// When the object is none, its kind is not known, or the write failed.
    fn put<K: Form>(
        &self,
        object: &K,
        verb: impl FnOnce(Value) -> WriteVerb + Send,
        subresource: Option<&str>,
        options: &WriteOptions,
    ) -> impl Future<Output = Result<K, Error>> + Send {
        async move {
            let body = to_value(object)?;
            let resource = kind_of::<K, _>(self, &body).await?;
            let mut write = Write::of(resource, body, verb, options.clone());
            write.subresource = subresource.map(str::to_owned);
            match self.write(write).await? {
                Written::Object(decoded) => from_value(decoded.object.into_value()),
                Written::Done { .. } | Written::All(_) => Err(Error::answer("the answer holds no object")),
            }
        }
    }
}

impl<C: WriteClient + ?Sized> WriteClientExt for C {}

/// Refuses an older state than the server's.
pub(crate) fn current<K>(
    resource: &Resource,
    entry: Entry<ObjectKey, K>,
) -> Result<Entry<ObjectKey, K>, Error> {
    if !entry.stale {
        return Ok(entry);
    }
    let identity = Identity {
        namespace: entry.key.namespace().map(Into::into),
        name: entry.key.name().into(),
        stamp: entry.stamp,
    };
    let error = DecodeError::new(format!(
        "the server has a newer state than {}, which could not be read",
        identity.stamp.version
    ));
    Err(error.of(identity).kind(resource.kind.clone()).into())
}

pub(crate) fn to_value<K: Form>(object: &K) -> Result<Value, Error> {
    serde_json::to_value(object)
        .map_err(|error| Error::refused(format!("the object cannot be written as JSON: {error}")))
}

/// The kind of a type; of a form that stands for any kind, that of the object itself.
pub(crate) async fn kind_of<K: Form, C: WriteClient + ?Sized>(
    client: &C,
    body: &Value,
) -> Result<Resource, Error> {
    let any_kind = [TypeId::of::<DynamicObject>(), TypeId::of::<Value>()].contains(&TypeId::of::<K>());
    if any_kind {
        let text = |member: &str| body.get(member).and_then(Value::as_str).unwrap_or_default();
        return client.resolve(text("apiVersion"), text("kind")).await;
    }
    if TypeId::of::<K>() == TypeId::of::<PartialMetadata>() {
        let name = metadata(body, "name").unwrap_or_default();
        return Err(Error::refused(format!(
            "{name:?} is metadata only: it can be patched and deleted, not written whole"
        )));
    }
    Ok(client.kinds().of::<K>()?)
}
