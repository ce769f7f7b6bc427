//! Questions to a kind: one object, or those that selectors want, in key order and page by page.

use std::{ops::ControlFlow, sync::Arc};

use informer_client::{Form, List, ListOptions};
use informer_core::{DecodeError, Entry, Identity, IndexFunc, ObjectKey, Snapshot};
use informer_sharedinformer::{LabelSelector, Visit};

use super::{Seen, Slot};
use crate::{
    error::CacheError,
    fields::{self, Requirement},
};

/// What is read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum What<'a> {
    One(&'a ObjectKey),
    All(&'a ListQuery),
}

/// List options, understood.
#[derive(Debug)]
pub(crate) struct ListQuery {
    pub(crate) namespace: Option<String>,
    labels: Option<LabelSelector>,
    /// On the name of the object.
    names: Vec<Requirement>,
    /// Each needs an index.
    indexed: Vec<Requirement>,
    limit: usize,
    after: Option<ObjectKey>,
}

/// The function behind an index, and the value that is wanted.
type Further<'a, K> = (Arc<dyn IndexFunc<K>>, &'a str);

/// What tokens begin with; the key of the last object follows.
const TOKEN: &str = "after:";

impl What<'_> {
    pub(crate) fn namespace(&self) -> Option<&str> {
        match self {
            Self::One(key) => key.namespace(),
            Self::All(query) => query.namespace.as_deref(),
        }
    }
}

impl ListQuery {
    /// `None`: nothing can match.
    pub(crate) fn of(options: &ListOptions) -> Result<Option<Self>, CacheError> {
        let mut query = Self {
            namespace: options
                .namespace
                .clone()
                .filter(|namespace| !namespace.is_empty()),
            labels: None,
            names: Vec::new(),
            indexed: Vec::new(),
            limit: options
                .limit
                .filter(|&limit| limit > 0)
                .map_or(usize::MAX, |limit| limit as usize),
            after: None,
        };
        if let Some(version) = &options.version
            && !version.is_none()
            && version.as_str() != "0"
        {
            return Err(CacheError::selector(
                "the cache has one state and lists no other version: ask the live client for one",
            ));
        }
        if let Some(labels) = &options.labels {
            query.labels = Some(labels.parse().map_err(CacheError::selector)?);
        }
        if let Some(token) = &options.token {
            let key = token.strip_prefix(TOKEN).and_then(|key| key.parse().ok());
            let key = key.ok_or_else(|| CacheError::selector("the token is none of this cache"))?;
            query.after = Some(key);
        }
        for requirement in fields::parse(options.fields.as_deref().unwrap_or_default())? {
            match &*requirement.field {
                "metadata.name" => query.names.push(requirement),
                "metadata.namespace" if !requirement.unequal => {
                    let other = query.namespace.replace(requirement.value.clone());
                    if other.is_some_and(|other| other != requirement.value) {
                        return Ok(None);
                    }
                }
                _ if requirement.unequal => {
                    return Err(CacheError::selector(format!(
                        "the cache answers field selectors with = only, not {}!={}",
                        requirement.field, requirement.value
                    )));
                }
                _ => query.indexed.push(requirement),
            }
        }
        Ok(Some(query))
    }

    fn wants_name(&self, key: &ObjectKey) -> bool {
        let in_namespace = self.namespace.is_none() || self.namespace.as_deref() == key.namespace();
        in_namespace && self.names.iter().all(|it| (key.name() == it.value) != it.unequal)
    }

    /// The one key that it can be about.
    fn only_key(&self) -> Option<ObjectKey> {
        let namespace = self.namespace.as_deref()?;
        let name = self.names.iter().find(|it| !it.unequal && !it.value.is_empty())?;
        Some(ObjectKey::namespaced(namespace, &name.value))
    }
}

impl<K: Form> Slot<K> {
    /// The answer, from one view.
    pub(super) fn answer(&self, seen: &Seen<K>, what: What<'_>) -> Result<List<K>, CacheError> {
        let mut list = List::default();
        list.version = seen.version();
        match what {
            What::One(key) => match seen.get(key) {
                Some(entry) => list.entries.push(entry.clone()),
                None if seen.is_unreadable(key) => list.unreadable.push(self.unread(key)),
                None => {}
            },
            What::All(query) => self.collect(seen, query, &mut list)?,
        }
        Ok(list)
    }

    fn collect(&self, seen: &Seen<K>, query: &ListQuery, list: &mut List<K>) -> Result<(), CacheError> {
        let functions = self.functions(query)?;
        let wants = |entry: &Entry<ObjectKey, K>| {
            query.wants_name(&entry.key)
                && functions
                    .iter()
                    .all(|(function, value)| has_value(&**function, &entry.object, value))
                && query
                    .labels
                    .as_ref()
                    .is_none_or(|labels| self.labels_match(labels, &entry.object))
        };
        let mut more = false;
        let mut visit = |entry: &Entry<ObjectKey, K>| {
            if query.after.as_ref().is_some_and(|after| entry.key <= *after) || !wants(entry) {
                return ControlFlow::Continue(());
            }
            if list.entries.len() == query.limit {
                more = true;
                return ControlFlow::Break(());
            }
            list.entries.push(entry.clone());
            ControlFlow::Continue(())
        };
        let only_key = query.only_key();
        let each = |snapshot: &dyn Snapshot<ObjectKey, K>, step: &mut Visit<'_, K>| match (
            query.indexed.first(),
            &only_key,
        ) {
            (Some(first), _) => snapshot
                .by_index(&first.field, &first.value, step)
                .map_err(CacheError::selector),
            (None, Some(key)) => {
                if let Some(entry) = snapshot.get(key) {
                    let _one_at_most = step(entry);
                }
                Ok(())
            }
            (None, None) => {
                scan(snapshot, query, step);
                Ok(())
            }
        };
        seen.in_key_order(&each, &mut visit)?;
        if more {
            let last = list.entries.last().map(|entry| format!("{TOKEN}{}", entry.key));
            list.next = last.map(Into::into);
        }
        self.collect_unread(seen, query, more, list);
        Ok(())
    }

    /// What matches by its name and lies between the ends of the page. Its labels and fields nobody knows: it may match.
    fn collect_unread(&self, seen: &Seen<K>, query: &ListQuery, more: bool, list: &mut List<K>) {
        let until = list.entries.last().filter(|_| more);
        let in_page = |key: &ObjectKey| {
            query.after.as_ref().is_none_or(|after| key > after) && until.is_none_or(|last| *key <= last.key)
        };
        let mut keys = Vec::new();
        for snapshot in seen.snapshots() {
            snapshot.unreadable(&mut |key| {
                if query.wants_name(key) && in_page(key) {
                    keys.push(key.clone());
                }
                ControlFlow::Continue(())
            });
        }
        keys.sort_unstable();
        list.unreadable.extend(keys.iter().map(|key| self.unread(key)));
    }

    fn unread(&self, key: &ObjectKey) -> DecodeError {
        let identity = Identity {
            namespace: key.namespace().map(Into::into),
            name: key.name().into(),
            ..Identity::default()
        };
        DecodeError::new("it is there, and no state of it could be read so far")
            .of(identity)
            .kind(self.resource.kind.clone())
    }

    /// The functions behind all requirements but the first, which the index itself answers.
    fn functions<'a>(&self, query: &'a ListQuery) -> Result<Vec<Further<'a, K>>, CacheError> {
        let fields = self.fields();
        let find = |requirement: &'a Requirement| match fields.get(&requirement.field) {
            Some(function) => Ok((function.clone(), &*requirement.value)),
            None => {
                let known: Vec<&str> = fields.keys().map(|name| &**name).collect();
                Err(CacheError::selector(format!(
                    "{} have no index of field {:?}: there {}",
                    self.resource,
                    requirement.field,
                    if known.is_empty() {
                        "is none".to_owned()
                    } else {
                        format!("are {}", known.join(", "))
                    }
                )))
            }
        };
        let all: Vec<_> = query.indexed.iter().map(find).collect::<Result<_, _>>()?;
        Ok(all.into_iter().skip(1).collect())
    }

    fn labels_match(&self, selector: &LabelSelector, object: &K) -> bool {
        if let Some(meta) = &self.meta
            && meta.fields().labels
        {
            return selector.matches(|name| meta.label(object, name));
        }
        // Slow, and right for any form that holds its labels where the API has them.
        let value = serde_json::to_value(object).unwrap_or_default();
        let labels = value.pointer("/metadata/labels");
        selector.matches(|name| labels?.get(name)?.as_str())
    }
}

fn has_value<K>(function: &dyn IndexFunc<K>, object: &K, wanted: &str) -> bool {
    let mut has = false;
    let told = function.values(object, &mut |value| has |= value == wanted);
    has && told.is_ok()
}

/// Of one namespace, or of all, from where the page before ended.
fn scan<K>(
    snapshot: &dyn Snapshot<ObjectKey, K>,
    query: &ListQuery,
    step: &mut dyn FnMut(&Entry<ObjectKey, K>) -> ControlFlow<()>,
) {
    let first = query.namespace.as_deref().map(ObjectKey::first_of);
    let after = first.as_ref().max(query.after.as_ref());
    snapshot.scan(after, &mut |entry| {
        if query.namespace.is_some() && entry.key.namespace() != query.namespace.as_deref() {
            return ControlFlow::Break(());
        }
        step(entry)
    });
}
