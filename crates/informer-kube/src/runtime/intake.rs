//! `Intake`: the events of a kube watcher as deltas. Pure.

use std::{cmp::Ordering, sync::Arc};

use informer_core::{
    Cause, Delta, Entry, Identity, KeyError, KeyFunc as _, NamespaceName, ObjectKey, ResourceVersion, Stamp,
};
use kube::runtime::watcher::Event;

/// Which rule an event meets depends on the list that is read, if one is.
pub(super) struct Intake<K> {
    /// What was listed since `Init`.
    listed: Option<Vec<Entry<ObjectKey, K>>>,
    /// A list was whole.
    is_filled: bool,
}

/// Why an event came to nothing.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    NoKey(KeyError),
    /// Nothing was listed yet: the stream was taken over after its `Init`.
    BeforeInit,
}

impl std::fmt::Display for Unfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoKey(error) => error.fmt(f),
            Self::BeforeInit => f.write_str("the stream of the watcher does not begin with its first event"),
        }
    }
}

impl<K: kube::Resource> Intake<K> {
    pub(super) fn new() -> Self {
        Self {
            listed: None,
            is_filled: false,
        }
    }

    /// Another stream begins: what the one before had listed counts for nothing.
    pub(super) fn restart(&mut self) {
        self.listed = None;
    }

    /// What a status calls it.
    pub(super) fn phase(&self) -> &'static str {
        if self.listed.is_some() || !self.is_filled {
            "listing"
        } else {
            "watching"
        }
    }

    /// What an event means for the queue. `known` finds the stored object of an equal stamp, which then takes the place of the new one.
    pub(super) fn take(
        &mut self,
        event: Event<K>,
        known: impl Fn(&ObjectKey, &Stamp) -> Option<Arc<K>>,
    ) -> Result<Option<Delta<ObjectKey, K>>, Unfit> {
        match event {
            Event::Init => self.listed = Some(Vec::new()),
            Event::InitApply(object) => {
                let mut entry = entry(object)?;
                if let Some(stored) = known(&entry.key, &entry.stamp) {
                    entry.object = stored;
                }
                self.listed.as_mut().ok_or(Unfit::BeforeInit)?.push(entry);
            }
            Event::InitDone => {
                let items = self.listed.take().ok_or(Unfit::BeforeInit)?;
                self.is_filled = true;
                let at = newest(&items);
                return Ok(Some(Delta::Replace {
                    items,
                    unreadable: Vec::new(),
                    at,
                    may_rewind: false,
                }));
            }
            Event::Apply(object) => {
                let entry = entry(object)?;
                match &mut self.listed {
                    Some(listed) => listed.push(entry),
                    None if self.is_filled => return Ok(Some(Delta::Upsert(entry, Cause::Modified))),
                    None => return Err(Unfit::BeforeInit),
                }
            }
            Event::Delete(object) => {
                let entry = entry(object)?;
                match &mut self.listed {
                    Some(listed) => listed.retain(|it| it.key != entry.key),
                    None if self.is_filled => {
                        return Ok(Some(Delta::Delete {
                            key: entry.key,
                            stamp: entry.stamp,
                            last: Some(entry.object),
                            observed: true,
                        }));
                    }
                    None => return Err(Unfit::BeforeInit),
                }
            }
        }
        Ok(None)
    }
}

fn entry<K: kube::Resource>(object: K) -> Result<Entry<ObjectKey, K>, Unfit> {
    let meta = object.meta();
    let identity = Identity {
        namespace: meta.namespace.as_deref().map(Into::into),
        name: meta.name.as_deref().unwrap_or_default().into(),
        stamp: Stamp::new(
            meta.resource_version.as_deref().unwrap_or_default(),
            meta.uid.as_deref().unwrap_or_default(),
        ),
    };
    let key = NamespaceName.key(&identity, &object).map_err(Unfit::NoKey)?;
    Ok(Entry::new(key, identity.stamp, Arc::new(object)))
}

/// A watcher does not tell the version of its list. That of the newest object is not above it, and nothing up to there is missing. None,
/// where versions have no order.
fn newest<K>(items: &[Entry<ObjectKey, K>]) -> ResourceVersion {
    let mut versions = items.iter().map(|it| &it.stamp.version);
    let Some(first) = versions.next() else {
        return ResourceVersion::none();
    };
    let newest = versions.try_fold(first, |newest, version| match newest.compare(version) {
        Ok(Ordering::Less) => Some(version),
        Ok(_) => Some(newest),
        Err(_) => None,
    });
    newest.cloned().unwrap_or_else(ResourceVersion::none)
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;

    fn map(name: &str, version: &str) -> ConfigMap {
        let mut map = ConfigMap::default();
        map.metadata.namespace = Some("default".to_owned());
        map.metadata.name = Some(name.to_owned());
        map.metadata.resource_version = Some(version.to_owned());
        map
    }

    /// Each event in a word, and what comes of it.
    fn play(events: Vec<Event<ConfigMap>>) -> Vec<String> {
        let mut intake = Intake::new();
        let told = events
            .into_iter()
            .map(|event| match intake.take(event, |_, _| None) {
                Ok(None) => format!("- ({})", intake.phase()),
                Ok(Some(delta)) => format!("{delta:?} ({})", intake.phase()),
                Err(unfit) => unfit.to_string(),
            });
        told.collect()
    }

    #[test]
    fn a_list_is_one_replace_and_then_each_event_is_a_delta() {
        let told = play(vec![
            Event::Init,
            Event::InitApply(map("b", "10")),
            Event::InitApply(map("a", "9")),
            Event::InitDone,
            Event::Apply(map("a", "11")),
            Event::Delete(map("b", "12")),
        ]);
        assert_eq!(
            told,
            [
                "- (listing)",
                "- (listing)",
                "- (listing)",
                "Replace@10 [\"default/b\"@10, \"default/a\"@9] (watching)",
                "Modified \"default/a\"@11 (watching)",
                "Deleted \"default/b\"@12 (watching)",
            ]
        );
    }

    #[test]
    fn a_list_that_is_broken_off_is_forgotten_with_the_next_init() {
        let told = play(vec![
            Event::Init,
            Event::InitApply(map("old", "1")),
            Event::Init,
            Event::InitDone,
        ]);
        assert_eq!(told[3], "Replace@ [] (watching)");
    }

    #[test]
    fn events_within_a_list_are_part_of_it() {
        let told = play(vec![
            Event::Init,
            Event::InitApply(map("a", "1")),
            Event::Delete(map("a", "2")),
            Event::Apply(map("b", "3")),
            Event::InitDone,
        ]);
        assert_eq!(told[4], "Replace@3 [\"default/b\"@3] (watching)");
    }

    #[test]
    fn what_has_no_place_is_named() {
        let unnamed = ConfigMap::default();
        let told = play(vec![
            Event::Apply(map("a", "1")),
            Event::InitDone,
            Event::InitApply(map("a", "1")),
            Event::Delete(map("a", "1")),
            Event::Init,
            Event::InitApply(unnamed),
        ]);
        assert!(
            told[..4].iter().all(|it| it.contains("does not begin")),
            "{told:?}"
        );
        assert!(told[5].contains("no name"), "{told:?}");
    }

    #[test]
    fn versions_without_order_give_the_list_none() {
        let told = play(vec![
            Event::Init,
            Event::InitApply(map("a", "x1")),
            Event::InitApply(map("b", "7")),
            Event::InitDone,
        ]);
        assert!(told[3].starts_with("Replace@ ["), "{told:?}");
    }

    #[test]
    fn an_object_that_is_stored_already_is_used_again() {
        let mut intake = Intake::new();
        let stored = Arc::new(map("a", "1"));
        let known = |key: &ObjectKey, stamp: &Stamp| {
            (key.name() == "a" && stamp.version.as_str() == "1").then(|| stored.clone())
        };
        intake.take(Event::Init, known).unwrap();
        intake.take(Event::InitApply(map("a", "1")), known).unwrap();
        let delta = intake.take(Event::InitDone, known).unwrap();
        let Some(Delta::Replace { items, .. }) = delta else {
            panic!("{delta:?}");
        };
        assert!(Arc::ptr_eq(&items[0].object, &stored));
    }
}
