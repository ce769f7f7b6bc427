//! `Event`: what `events.k8s.io/v1` keeps of something that happened.

use std::collections::BTreeMap;

use informer_core::Resource;
use serde::{Deserialize, Serialize};

use crate::{MicroTime, ObjectReference};

/// Longest note that the server takes, in bytes (k/k `validation.NoteLengthLimit`).
pub const NOTE_LIMIT: usize = 1024;

/// Longest reason, action and reporting instance that the server takes, in bytes (k/k `validation.ReasonLengthLimit` and its siblings).
pub const WORD_LIMIT: usize = 128;

/// Whether something needs attention. The server takes no other kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub enum EventKind {
    /// For information only.
    #[default]
    Normal,
    /// Something may be wrong.
    Warning,
}

impl EventKind {
    /// As the server writes it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Normal => "Normal",
            Self::Warning => "Warning",
        }
    }
}

/// One event, or a series of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Event {
    /// Name, namespace and annotations.
    pub metadata: EventMeta,
    /// When it happened first.
    pub event_time: MicroTime,
    /// How often it happened, where that is more than once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub series: Option<EventSeries>,
    /// Which controller reported it, as `example.com/name`.
    pub reporting_controller: String,
    /// Which instance of the controller.
    pub reporting_instance: String,
    /// What was done about it or failed, as one word for programs.
    pub action: String,
    /// Why, as one word for programs, like `FailedScheduling`.
    pub reason: String,
    /// The object that it is about.
    pub regarding: ObjectReference,
    /// A second object that has to do with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub related: Option<ObjectReference>,
    /// What happened, for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Whether it needs attention.
    #[serde(rename = "type")]
    pub kind: EventKind,
}

impl Event {
    /// The kind of events themselves.
    #[must_use]
    pub fn resource() -> Resource {
        Resource::namespaced("events.k8s.io", "v1", "events", "Event")
    }

    /// How often it happened.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.series.map_or(1, |series| series.count)
    }
}

/// The metadata of an event.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct EventMeta {
    /// The name.
    pub name: String,
    /// The namespace: that of the object it is about, `default` for a cluster-wide one.
    pub namespace: String,
    /// What else the reporter has to say, for programs.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
}

/// That an event happened again, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EventSeries {
    /// How often, the first time included; at least 2.
    pub count: u32,
    /// When last.
    pub last_observed_time: MicroTime,
}

impl EventSeries {
    /// So often, and last at this time.
    #[must_use]
    pub fn new(count: u32, last_observed_time: MicroTime) -> Self {
        Self {
            count,
            last_observed_time,
        }
    }
}

/// The longest beginning of a text that fits into so many bytes and ends between two characters.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
