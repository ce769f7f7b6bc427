//! What can be seen, by name; only what changed is told.

use std::{collections::BTreeMap, mem, ops::ControlFlow};

use informer_core::ObjectKey;
use informer_store::View as Stored;

use crate::object::{Thing, show, show_keys};

/// What is to be seen now, and was before.
#[derive(Debug, Default)]
pub struct View {
    before: BTreeMap<String, String>,
    now: BTreeMap<String, String>,
}

impl View {
    /// Says what there is to see under a name.
    pub fn put(&mut self, name: impl Into<String>, value: impl ToString) {
        self.now.insert(name.into(), value.to_string());
    }

    /// Leaves out what was put.
    pub fn forget(&mut self, name: &str) {
        self.now.remove(name);
    }

    /// What was not to be seen before; the empty text stands for what is there no more.
    pub fn changes(&mut self) -> BTreeMap<String, String> {
        let mut changes = BTreeMap::new();
        for (name, value) in &self.now {
            if self.before.get(name) != Some(value) {
                changes.insert(name.clone(), value.clone());
            }
        }
        for name in self.before.keys().filter(|name| !self.now.contains_key(*name)) {
            changes.insert(name.clone(), String::new());
        }
        self.before = mem::take(&mut self.now);
        changes
    }

    /// A store and its indices.
    ///
    /// # Panics
    /// When two answers of the store do not fit together: they are taken from one snapshot.
    pub fn put_store(&mut self, store: &Stored<ObjectKey, Thing>) {
        if !store.applied().is_none() {
            self.put("applied", store.applied());
        }
        for entry in store.iter() {
            self.put(format!("object {}", entry.key), show(entry));
        }
        for name in store.index_names() {
            for value in store.index_values(name).expect("it is named") {
                let keys = store.index_keys(name, &value).expect("it is named");
                self.put(format!("index {name} {value}"), show_keys(&keys));
                let mut found = Vec::new();
                let visit = &mut |entry: &_| {
                    found.push(show(entry));
                    ControlFlow::Continue(())
                };
                informer_core::Snapshot::by_index(store, name, &value, visit).expect("it is named");
                found.sort();
                self.put(format!("by {name} {value}"), found.join(" "));
            }
        }
    }
}
