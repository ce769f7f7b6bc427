//! Finalizers: in an object at hand, and in the cluster without a race.

use informer_core::{ObjectKey, Resource};
use informer_transport::{DynamicObject, Patch, WriteOptions};
use serde_json::{Map, Value, json};

use super::with_metadata;
use crate::{
    Error, Form, ReadClient, Write, WriteClient, WriteVerb,
    access::{current, metadata, to_value},
};

/// How often a patch is tried when others write the object at the same time.
const ATTEMPTS: u32 = 8;

/// Whether an object has a finalizer.
///
/// # Errors
/// When the object cannot be written as JSON.
pub fn contains_finalizer<K: Form>(object: &K, finalizer: &str) -> Result<bool, Error> {
    let value = to_value(object)?;
    let metadata = value.get("metadata").and_then(Value::as_object);
    Ok(metadata.is_some_and(|metadata| read(metadata).iter().any(|it| it == finalizer)))
}

/// Adds a finalizer to an object at hand; `false`: it had it. What is in the cluster, a write changes.
///
/// # Errors
/// When the object's form cannot hold finalizers.
pub fn insert_finalizer<K: Form>(object: &mut K, finalizer: &str) -> Result<bool, Error> {
    change(object, |finalizers| {
        let missing = !finalizers.iter().any(|it| it == finalizer);
        if missing {
            finalizers.push(finalizer.to_owned());
        }
        missing
    })
}

/// Takes a finalizer off an object at hand; `false`: it did not have it. What is in the cluster, a write changes.
///
/// # Errors
/// When the object's form cannot hold finalizers.
pub fn take_finalizer<K: Form>(object: &mut K, finalizer: &str) -> Result<bool, Error> {
    change(object, |finalizers| {
        let before = finalizers.len();
        finalizers.retain(|it| it != finalizer);
        finalizers.len() < before
    })
}

/// The patch that adds or takes off a finalizer of the state at hand; `None`: there is nothing to do. It carries the resource version, so that
/// it is refused as a conflict if anybody wrote the object since: finalizers are a list, and a merge patch replaces lists whole.
///
/// # Errors
/// When the object has no resource version.
pub fn finalizer_patch<K: Form>(object: &K, finalizer: &str, wanted: bool) -> Result<Option<Patch>, Error> {
    let value = to_value(object)?;
    let version = metadata(&value, "resourceVersion").ok_or_else(|| {
        Error::refused("an object without a resource version cannot be patched without a race")
    })?;
    let found = value.get("metadata").and_then(Value::as_object);
    let mut finalizers = found.map(read).unwrap_or_default();
    let has = finalizers.iter().any(|it| it == finalizer);
    if has == wanted {
        return Ok(None);
    }
    if wanted {
        finalizers.push(finalizer.to_owned());
    } else {
        finalizers.retain(|it| it != finalizer);
    }
    let metadata = json!({"resourceVersion": version, "finalizers": finalizers});
    Ok(Some(Patch::Merge(json!({"metadata": metadata}))))
}

/// Adds a finalizer to an object in the cluster, and tries again from a fresh state when somebody else wrote it meanwhile. `false`: it had
/// it. Give it a client that reads live, or own writes: a cache that lags costs a conflict per attempt.
///
/// # Errors
/// When there is no such object, it is being deleted (the server adds no finalizer then), or a request failed.
pub async fn add_finalizer<C>(
    client: &C,
    resource: &Resource,
    key: &ObjectKey,
    finalizer: &str,
) -> Result<bool, <C as ReadClient>::Error>
where
    C: ReadClient + WriteClient,
{
    settle(client, resource, key, finalizer, true).await
}

/// Takes a finalizer off an object in the cluster, and tries again from a fresh state when somebody else wrote it meanwhile. `false`: there is
/// no such object, or it did not have it.
///
/// # Errors
/// When a request failed.
pub async fn remove_finalizer<C>(
    client: &C,
    resource: &Resource,
    key: &ObjectKey,
    finalizer: &str,
) -> Result<bool, <C as ReadClient>::Error>
where
    C: ReadClient + WriteClient,
{
    settle(client, resource, key, finalizer, false).await
}

async fn settle<C>(
    client: &C,
    resource: &Resource,
    key: &ObjectKey,
    finalizer: &str,
    wanted: bool,
) -> Result<bool, <C as ReadClient>::Error>
where
    C: ReadClient + WriteClient,
{
    let mut attempt = 0;
    loop {
        attempt += 1;
        let Some(entry) = client.read::<DynamicObject>(resource, key).await? else {
            if wanted {
                return Err(Error::not_found(resource, key.name()).into());
            }
            return Ok(false);
        };
        let entry = current(resource, entry)?;
        let Some(patch) = finalizer_patch(&*entry.object, finalizer, wanted)? else {
            return Ok(false);
        };
        let verb = WriteVerb::Patch(patch);
        let write = Write::to(resource.clone(), key, verb, WriteOptions::default());
        match client.write(write).await {
            Ok(_) => return Ok(true),
            Err(error) if error.is_not_found() && !wanted => return Ok(false),
            Err(error) if error.is_conflict() && attempt < ATTEMPTS => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn change<K: Form>(object: &mut K, change: impl FnOnce(&mut Vec<String>) -> bool) -> Result<bool, Error> {
    let changed = with_metadata(object, |metadata| {
        let mut finalizers = read(metadata);
        change(&mut finalizers).then(|| {
            if finalizers.is_empty() {
                metadata.remove("finalizers");
            } else {
                metadata.insert("finalizers".to_owned(), finalizers.into());
            }
        })
    })?;
    Ok(changed.is_some())
}

fn read(metadata: &Map<String, Value>) -> Vec<String> {
    let finalizers = metadata.get("finalizers").and_then(Value::as_array);
    let texts = finalizers.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}
