//! The source: client-go's `FakeControllerSource`, rule by rule, with the failures that the oracle adds.

use std::{
    collections::BTreeMap,
    future::ready,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use informer_core::{Cause, Decoded, FailureClass, Identity, Listed, SourceError, WatchRequest, Watched};
use informer_reflector::{ListWatch, feed};
use tokio::sync::mpsc;

use crate::{
    object::{Object, Thing},
    sequence::Op,
};

/// A shared handle of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Source(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    /// By key and uid, as two objects of one key may follow one another.
    items: BTreeMap<(String, String), Object>,
    /// One for each version since the history was lost.
    changes: Vec<(Kind, Object)>,
    version: u64,
    watchers: Vec<mpsc::UnboundedSender<(Kind, Object)>>,
    down: bool,
    expired: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Created,
    Modified,
    Deleted,
}

impl Source {
    /// What a reflector lists and watches.
    pub(super) fn list_watch(&self) -> ListWatch<Thing> {
        let (lists, watches) = (self.clone(), self.clone());
        ListWatch::new(
            move |_| ready(lists.list()),
            move |request| ready(watches.watch(&request)),
        )
    }

    /// Something changes, and the watch tells, if it is not lost.
    pub(super) fn change(&self, op: Op<'_>) {
        let (op, lost) = match op.verb {
            "lose" => (Op::read(op.rest), true),
            _ => (op, false),
        };
        let kind = match op.verb {
            "create" => Kind::Created,
            "modify" => Kind::Modified,
            "delete" => Kind::Deleted,
            other => panic!("no operation {other:?}"),
        };
        let mut state = self.lock();
        state.version += 1;
        let mut object = Object::read(op.arg());
        object.version = state.version.to_string();
        let key = (object.key.clone(), object.uid.clone());
        match kind {
            Kind::Created | Kind::Modified => drop(state.items.insert(key, object.clone())),
            Kind::Deleted => drop(state.items.remove(&key)),
        }
        state.changes.push((kind, object.clone()));
        if !lost {
            state
                .watchers
                .retain(|watcher| watcher.send((kind, object.clone())).is_ok());
        }
    }

    /// Watches end, the history is gone, and nothing answers.
    pub(super) fn cut(&self) {
        let mut state = self.lock();
        state.down = true;
        state.watchers.clear();
        state.changes.clear();
    }

    /// It answers again, but no watch goes on where it was.
    pub(super) fn heal(&self) {
        let mut state = self.lock();
        state.down = false;
        state.expired = true;
    }

    fn list(&self) -> Result<informer_core::BoxFeed<Listed<Thing>>, SourceError> {
        let state = self.lock();
        if state.down {
            return Err(SourceError::new(FailureClass::Transient, "down"));
        }
        let items: Vec<Decoded<Thing>> = state.items.values().map(decoded).collect();
        let list = feed::list(items, &*state.version.to_string());
        Ok(informer_core::BoxFeed::new(list))
    }

    fn watch(&self, request: &WatchRequest) -> Result<informer_core::BoxFeed<Watched<Thing>>, SourceError> {
        let mut state = self.lock();
        let expired = |why| Err(SourceError::new(FailureClass::Expired, why));
        if state.down {
            return Err(SourceError::new(FailureClass::Transient, "down"));
        }
        if std::mem::take(&mut state.expired) {
            return expired("healed");
        }
        let from: u64 = request
            .version
            .as_ref()
            .and_then(|version| version.as_str().parse().ok())
            .ok_or_else(|| SourceError::new(FailureClass::Fatal, "no number"))?;
        let (sender, mut receiver) = mpsc::unbounded_channel();
        if from > state.version {
            return Err(SourceError::new(FailureClass::VersionTooLarge, "in the future"));
        }
        if from < state.version {
            let oldest = state.version + 1 - state.changes.len() as u64;
            if state.changes.is_empty() || from < oldest {
                return expired("too old");
            }
            let after = usize::try_from(from - oldest + 1).expect("few changes");
            for change in &state.changes[after..] {
                // The receiver is right here.
                let _ = sender.send(change.clone());
            }
        }
        state.watchers.push(sender);
        let feed = feed::from_poll_fn(move |cx| {
            receiver
                .poll_recv(cx)
                .map(|change| change.map(|(kind, object)| Ok::<_, SourceError>(watched(kind, &object))))
        });
        Ok(informer_core::BoxFeed::new(feed))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn watched(kind: Kind, object: &Object) -> Watched<Thing> {
    match kind {
        Kind::Created => Watched::Upsert(Cause::Added, Ok(decoded(object))),
        Kind::Modified => Watched::Upsert(Cause::Modified, Ok(decoded(object))),
        Kind::Deleted => Watched::Delete(Ok(decoded(object))),
    }
}

fn decoded(object: &Object) -> Decoded<Thing> {
    let (namespace, name) = match object.key.split_once('/') {
        Some((namespace, name)) => (Some(namespace.into()), name),
        None => (None, object.key.as_str()),
    };
    Decoded {
        identity: Identity {
            namespace,
            name: name.into(),
            stamp: object.stamp(),
        },
        object: Thing {
            values: object.values.clone(),
        },
    }
}
