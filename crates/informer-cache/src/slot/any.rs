//! A slot of any form, and reading it in another form than it is held in.

use std::{
    any::{Any, TypeId},
    sync::Arc,
    time::Duration,
};

use informer_client::{Form, List};
use informer_core::{BoxFuture, Entry, Resource};
use informer_sharedinformer::{Ended, Status};
use informer_transport::PartialMetadata;
use serde_json::Value;

use super::{Gate, Look, Seen, Slot, What};
use crate::{
    error::{CacheError, Reason},
    scope::Covered,
};

/// How long a read may take: until the kind is in sync, and until the gate is content.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) sync: Duration,
    pub(crate) gate: Duration,
}

/// A slot of any form.
pub(crate) trait AnySlot: Send + Sync {
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
    fn form(&self) -> TypeId;
    fn form_name(&self) -> &'static str;
    /// Why no other form can be made of it.
    fn unfit(&self) -> Option<&'static str>;
    fn resource(&self) -> &Resource;
    fn covered(&self) -> &Covered;
    fn start(&self);
    fn status(&self) -> Vec<Status>;
    fn all_synced(&self, within: Duration) -> BoxFuture<'_, Result<(), CacheError>>;
    /// Tells those who depend on it, and stops it.
    fn remove(&self) -> BoxFuture<'_, Ended>;
    fn look(&self) -> Box<dyn Look>;
    fn values<'a>(
        &'a self,
        what: What<'a>,
        gate: Option<&'a dyn Gate>,
        place: Place,
    ) -> BoxFuture<'a, Result<List<Value>, CacheError>>;
}

impl<K: Form> AnySlot for Slot<K> {
    fn into_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }

    fn form(&self) -> TypeId {
        TypeId::of::<K>()
    }

    fn form_name(&self) -> &'static str {
        Self::form_name()
    }

    fn unfit(&self) -> Option<&'static str> {
        if TypeId::of::<K>() == TypeId::of::<PartialMetadata>() {
            Some("it holds the metadata only; say another form in the options of the kind")
        } else if self.whole {
            None
        } else {
            Some(
                "it may hold a part of the object only; say that it is whole, or another form, in the options of the kind",
            )
        }
    }

    fn resource(&self) -> &Resource {
        &self.resource
    }

    fn covered(&self) -> &Covered {
        &self.covered
    }

    fn start(&self) {
        self.factory.start();
    }

    fn status(&self) -> Vec<Status> {
        Self::status(self)
    }

    fn all_synced(&self, within: Duration) -> BoxFuture<'_, Result<(), CacheError>> {
        Box::pin(Self::all_synced(self, within))
    }

    fn remove(&self) -> BoxFuture<'_, Ended> {
        self.removed.send_replace(true);
        Box::pin(self.factory.shut_down())
    }

    fn look(&self) -> Box<dyn Look> {
        let stores = self.stores(None).unwrap_or_default();
        Box::new(Seen::of(&stores))
    }

    fn values<'a>(
        &'a self,
        what: What<'a>,
        gate: Option<&'a dyn Gate>,
        place: Place,
    ) -> BoxFuture<'a, Result<List<Value>, CacheError>> {
        Box::pin(async move {
            let list = self.page(what, gate, place).await?;
            let mut values = List::default();
            (values.version, values.next) = (list.version, list.next);
            values.unreadable = list.unreadable;
            for entry in list.entries {
                let value = serde_json::to_value(&*entry.object).map_err(|error| {
                    CacheError::build(format!("{} {} is no JSON: {error}", self.resource, entry.key))
                })?;
                values.entries.push(of_form(entry, value));
            }
            Ok(values)
        })
    }
}

impl<K: Form> Slot<K> {
    /// Reads, from a view that the gate agrees to.
    pub(crate) async fn page(
        &self,
        what: What<'_>,
        gate: Option<&dyn Gate>,
        place: Place,
    ) -> Result<List<K>, CacheError> {
        let stores = self.stores(what.namespace())?;
        self.synced(&stores, place.sync).await?;
        let seen = self.settled(&stores, gate, place.gate).await?;
        self.answer(&seen, what)
    }
}

/// Reads in the form that is asked for: as it is held, or made of that, which costs a round trip through JSON for each object and read.
pub(crate) async fn read<F: Form>(
    slot: Arc<dyn AnySlot>,
    what: What<'_>,
    gate: Option<&dyn Gate>,
    place: Place,
) -> Result<List<F>, CacheError> {
    if slot.form() == TypeId::of::<F>() {
        let slot = slot.into_any().downcast::<Slot<F>>();
        let slot = slot.expect("the type id was compared");
        return slot.page(what, gate, place).await;
    }
    let other_form = |why| {
        CacheError::new(Reason::OtherForm {
            resource: slot.resource().clone(),
            held: slot.form_name(),
            wanted: Slot::<F>::form_name(),
            why,
        })
    };
    if let Some(why) = slot.unfit() {
        return Err(other_form(why));
    }
    let values = slot.values(what, gate, place).await?;
    let mut list = List::default();
    (list.version, list.next) = (values.version, values.next);
    list.unreadable = values.unreadable;
    for entry in values.entries {
        // The one that reads it takes the value: nobody else has it.
        let value = Arc::try_unwrap(entry.object).unwrap_or_else(|shared| (*shared).clone());
        match serde_json::from_value::<F>(value) {
            Ok(object) => {
                let mut made = Entry::new(entry.key, entry.stamp, Arc::new(object));
                made.stale = entry.stale;
                list.entries.push(made);
            }
            Err(error) => list.unreadable.push(
                informer_core::DecodeError::new(format!("{}: {error}", entry.key))
                    .kind(slot.resource().kind.clone()),
            ),
        }
    }
    Ok(list)
}

fn of_form<K, F>(entry: Entry<informer_core::ObjectKey, K>, object: F) -> Entry<informer_core::ObjectKey, F> {
    let mut made = Entry::new(entry.key, entry.stamp, Arc::new(object));
    made.stale = entry.stale;
    made
}
