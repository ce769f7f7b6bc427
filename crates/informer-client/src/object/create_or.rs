//! Create an object, or make the one that is there what it should be.

use informer_core::{ObjectKey, Resource};
use informer_transport::{Patch, WriteOptions};
use serde_json::Value;

use super::difference::difference;
use crate::{
    Error, Form, ReadClient, Write, WriteClient, WriteVerb, Written,
    access::{current, from_value, kind_of, metadata, to_value},
};

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// Nothing: it was as it should be.
    Unchanged,
    /// It was created.
    Created,
    /// It was changed.
    Updated,
    /// It was changed, and so was its status.
    UpdatedWithStatus,
    /// Its status alone was changed.
    UpdatedStatus,
}

/// Makes sure that an object is there and as it should be (controller-runtime `CreateOrUpdate`). `wanted` says name and namespace; `mutate`
/// sets what matters: in `wanted` if there is no such object, which is then created; else in a copy of the object, which is replaced if that
/// made a difference. Changes of the status are not written where the kind has a status of its own.
///
/// # Errors
/// When `mutate` fails or renames the object, the kind is not known, the object is there and cannot be decoded, or a request failed: a conflict where somebody else wrote the object
/// meanwhile.
pub async fn create_or_update<C, K>(
    client: &C,
    wanted: K,
    mutate: impl Fn(&mut K) -> Result<(), Error> + Send,
    options: &WriteOptions,
) -> Result<(Outcome, K), <C as ReadClient>::Error>
where
    C: ReadClient + WriteClient,
    K: Form,
{
    let found = match found(client, wanted, &mutate, options).await? {
        Found::Created(object) => return Ok((Outcome::Created, object)),
        Found::Before(found) => found,
    };
    if found.before == found.after {
        return Ok((Outcome::Unchanged, from_value(found.before)?));
    }
    let verb = WriteVerb::Update(found.after);
    let write = Write::to(found.resource, &found.key, verb, options.clone());
    let object = client.write(write).await?.into_object()?;
    Ok((Outcome::Updated, object))
}

/// As [`create_or_update`], but by merge patches of what differs: one of the object and one of its status (controller-runtime
/// `CreateOrPatch`). They conflict with nobody, and overwrite lists whole. A status is not written when the object is created.
///
/// # Errors
/// As [`create_or_update`].
pub async fn create_or_patch<C, K>(
    client: &C,
    wanted: K,
    mutate: impl Fn(&mut K) -> Result<(), Error> + Send,
    options: &WriteOptions,
) -> Result<(Outcome, K), <C as ReadClient>::Error>
where
    C: ReadClient + WriteClient,
    K: Form,
{
    let found = match found(client, wanted, &mutate, options).await? {
        Found::Created(object) => return Ok((Outcome::Created, object)),
        Found::Before(found) => found,
    };
    let (mut before, mut after) = (found.before, found.after);
    let status = |value: &mut Value| value.as_object_mut().and_then(|members| members.remove("status"));
    let (old_status, new_status) = (status(&mut before), status(&mut after));
    let patch = |body, sub: Option<&str>| {
        let verb = WriteVerb::Patch(Patch::Merge(body));
        let mut write = Write::to(found.resource.clone(), &found.key, verb, options.clone());
        write.subresource = sub.map(str::to_owned);
        client.write(write)
    };
    let mut last: Option<Written> = None;
    let main = difference(&before, &after);
    let updated = main.is_some();
    if let Some(main) = main {
        last = Some(patch(main, None).await?);
    }
    let null = Value::Null;
    let of_status = difference(
        old_status.as_ref().unwrap_or(&null),
        new_status.as_ref().unwrap_or(&null),
    );
    let with_status = of_status.is_some();
    if let Some(of_status) = of_status {
        last = Some(patch(serde_json::json!({"status": of_status}), Some("status")).await?);
    }
    let outcome = match (updated, with_status) {
        (false, false) => Outcome::Unchanged,
        (true, false) => Outcome::Updated,
        (true, true) => Outcome::UpdatedWithStatus,
        (false, true) => Outcome::UpdatedStatus,
    };
    let object = match last {
        Some(written) => written.into_object()?,
        None => {
            if let (Value::Object(members), Some(status)) = (&mut before, old_status) {
                members.insert("status".to_owned(), status);
            }
            from_value(before)?
        }
    };
    Ok((outcome, object))
}

enum Found<K> {
    Created(K),
    Before(Both),
}

struct Both {
    resource: Resource,
    key: ObjectKey,
    before: Value,
    after: Value,
}

async fn found<C, K>(
    client: &C,
    mut wanted: K,
    mutate: &(impl Fn(&mut K) -> Result<(), Error> + Send),
    options: &WriteOptions,
) -> Result<Found<K>, <C as ReadClient>::Error>
where
    C: ReadClient + WriteClient,
    K: Form,
{
    let value = to_value(&wanted)?;
    let resource = kind_of::<K, _>(client, &value).await?;
    let key = key_of(&value)?;
    let Some(entry) = client.read::<K>(&resource, &key).await? else {
        mutate(&mut wanted)?;
        let body = to_value(&wanted)?;
        not_renamed(&key, &body)?;
        let write = Write::to(resource, &key, WriteVerb::Create(body), options.clone());
        return Ok(Found::Created(client.write(write).await?.into_object()?));
    };
    let entry = current(&resource, entry)?;
    // Through JSON, since the form need not be `Clone`, and what is read may be shared with everybody.
    let before = to_value(&*entry.object)?;
    let mut object: K = from_value(before.clone())?;
    mutate(&mut object)?;
    let after = to_value(&object)?;
    not_renamed(&key, &after)?;
    Ok(Found::Before(Both {
        resource,
        key,
        before,
        after,
    }))
}

fn key_of(value: &Value) -> Result<ObjectKey, Error> {
    let name = metadata(value, "name").ok_or_else(|| Error::refused("the object has no name"))?;
    Ok(ObjectKey::new(metadata(value, "namespace"), name))
}

fn not_renamed(key: &ObjectKey, value: &Value) -> Result<(), Error> {
    let now = key_of(value)?;
    if now == *key {
        Ok(())
    } else {
        Err(Error::refused(format!(
            "{key} was renamed to {now} while it was changed"
        )))
    }
}
