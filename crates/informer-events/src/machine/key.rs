//! What makes two events the same, similar, or of one source and object.

use std::sync::Arc;

use crate::{Event, ObjectReference};

/// Some fields of an event as one value. Two keys are equal when all fields are (upstream joins them without a separator, so that fields
/// can flow into each other).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key(Arc<str>);

impl Key {
    pub(super) fn of<'a>(fields: impl IntoIterator<Item = &'a str>) -> Self {
        let mut joined = String::new();
        for field in fields {
            joined.push_str(field);
            joined.push('\0');
        }
        Self(joined.into())
    }
}

/// All of the source, the object, and what happened to it: events of one isomorphic key are one series (client-go `events.getKey`).
pub(super) fn isomorphic(event: &Event) -> Key {
    let related = event.related.as_ref();
    Key::of(
        source(event)
            .into_iter()
            .chain(object(&event.regarding))
            .chain([
                event.regarding.field_path.as_str(),
                event.regarding.resource_version.as_str(),
                event.kind.as_str(),
                &event.reason,
                &event.action,
                if related.is_some() { "related" } else { "" },
            ])
            .chain(related.into_iter().flat_map(whole)),
    )
}

/// As tools/record has it: the note, and neither the action nor the related object (client-go `record.getEventKey`).
pub(super) fn with_note(event: &Event) -> Key {
    Key::of(source(event).into_iter().chain(object(&event.regarding)).chain([
        event.regarding.field_path.as_str(),
        event.kind.as_str(),
        &event.reason,
        &event.note,
    ]))
}

/// Events that may be combined: those of one source and object for one reason (client-go `record.EventAggregatorByReasonFunc`).
pub(super) fn similar(event: &Event) -> Key {
    Key::of(
        source(event)
            .into_iter()
            .chain(object(&event.regarding))
            .chain([event.kind.as_str(), event.reason.as_str()]),
    )
}

/// What may be too much: a source about an object, in one kind (client-go `record.getSpamKey`).
pub(super) fn spam(event: &Event) -> Key {
    Key::of(
        source(event)
            .into_iter()
            .chain(object(&event.regarding))
            .chain([event.kind.as_str()]),
    )
}

fn source(event: &Event) -> [&str; 2] {
    [&event.reporting_controller, &event.reporting_instance]
}

/// The object, whatever its part or state.
fn object(reference: &ObjectReference) -> [&str; 5] {
    [
        &reference.kind,
        &reference.namespace,
        &reference.name,
        &reference.uid,
        &reference.api_version,
    ]
}

fn whole(reference: &ObjectReference) -> impl Iterator<Item = &str> {
    object(reference)
        .into_iter()
        .chain([reference.field_path.as_str(), &reference.resource_version])
}
