//! The events of a watch in JSON.

use std::collections::BTreeMap;

use bytes::Bytes;
use informer_core::{DecodeError, Identity, ResourceVersion};
use serde::Deserialize;

use super::{Event, Types, excerpt, frame::Mark};
use crate::{
    Status,
    json::{Head, Malformed, Member, Scan, text},
};

pub(super) fn event(line: &Bytes, scanned: &mut u64) -> Result<Event, DecodeError> {
    let mut scan = Scan::new(line);
    let event = members(line, &mut scan);
    *scanned += scan.at() as u64;
    event.map_err(|Malformed { .. }| {
        DecodeError::new(format!("a line of the watch is no event: {}", excerpt(line)))
    })
}

fn members(line: &Bytes, scan: &mut Scan<'_>) -> Result<Event, Malformed> {
    let mut event = Event::default();
    let mut more = scan.enter()?;
    while more {
        let key = scan.key()?;
        let value = scan.value()?;
        match &line[key] {
            b"type" => event.event = text(&line[value]).map(Into::into),
            b"object" => event.object = Some(line.slice(value)),
            _ => {}
        }
        more = scan.more()?;
    }
    match scan.peek() {
        None => Ok(event),
        Some(_) => Err(Malformed { at: scan.at() }),
    }
}

pub(super) fn types<'a>(object: &'a [u8], scanned: &mut u64) -> Option<Types<'a>> {
    let head = Head::read(object, Member::Types).ok()?;
    *scanned += head.scanned as u64;
    Some((
        head.api_version.unwrap_or_default(),
        head.kind.unwrap_or_default(),
    ))
}

pub(super) fn identity(object: &[u8]) -> Option<Identity> {
    let head = Head::read(object, Member::Metadata).ok()?;
    head.name.is_some().then(|| head.identity())
}

pub(super) fn status(object: &[u8]) -> Option<Status> {
    serde_json::from_slice(object).ok()
}

/// All that is read of a bookmark: its object has the kind, but often not the fields, of a real one.
#[derive(Deserialize)]
struct Bookmark {
    metadata: BookmarkMeta,
}

/// A bookmark among tables. The metadata of a table has no annotations, so that the end mark is in that of its row (apiserver
/// `handlers.asTable`).
#[derive(Deserialize)]
struct TableMark {
    rows: Vec<TableMarkRow>,
}

#[derive(Deserialize)]
struct TableMarkRow {
    object: TableMarkObject,
}

#[derive(Deserialize)]
struct TableMarkObject {
    metadata: TableMarkMeta,
}

#[derive(Deserialize)]
struct TableMarkMeta {
    annotations: Option<BTreeMap<String, String>>,
}

fn annotations_of_row(object: &[u8]) -> Option<BTreeMap<String, String>> {
    let table: TableMark = serde_json::from_slice(object).ok()?;
    table
        .rows
        .into_iter()
        .find_map(|row| row.object.metadata.annotations)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct BookmarkMeta {
    resource_version: String,
    annotations: Option<BTreeMap<String, String>>,
}

pub(super) fn mark(object: &[u8]) -> Result<Mark, DecodeError> {
    let Bookmark { metadata } = serde_json::from_slice(object)
        .map_err(|error| DecodeError::new("a bookmark has no resource version").caused_by(error))?;
    Ok(Mark {
        at: ResourceVersion::new(metadata.resource_version),
        annotations: metadata
            .annotations
            .or_else(|| annotations_of_row(object))
            .unwrap_or_default(),
    })
}
