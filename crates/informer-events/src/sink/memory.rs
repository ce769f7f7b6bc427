//! `MemorySink`: events in memory, for tests.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{EventSink, Refusal, SinkError};
use crate::Event;

/// Keeps events in memory: what a test looks at (client-go `FakeRecorder`). Clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemorySink {
    events: Arc<Mutex<BTreeMap<(String, String), Event>>>,
}

impl MemorySink {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// All events, by namespace and name.
    #[must_use]
    pub fn events(&self) -> Vec<Event> {
        self.lock().values().cloned().collect()
    }

    /// Removes all events, as a server does when their time is over.
    pub fn clear(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(String, String), Event>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key(event: &Event) -> (String, String) {
    (event.metadata.namespace.clone(), event.metadata.name.clone())
}

impl EventSink for MemorySink {
    async fn create(&self, event: &Event) -> Result<(), SinkError> {
        let mut events = self.lock();
        if events.contains_key(&key(event)) {
            return Err(SinkError::new(Refusal::Exists, "there is an event of that name"));
        }
        events.insert(key(event), event.clone());
        Ok(())
    }

    async fn patch(&self, event: &Event) -> Result<(), SinkError> {
        match self.lock().get_mut(&key(event)) {
            Some(kept) => {
                kept.series = event.series;
                Ok(())
            }
            None => Err(SinkError::new(Refusal::Gone, "there is no such event")),
        }
    }
}
