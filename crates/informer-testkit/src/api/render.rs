//! From kept objects to bytes on the wire: whole or metadata only, alone, in a list, or as a watch event.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    def::ResourceDef,
    objects,
    print::{self, Style},
    table::Stored,
};

/// In which form objects are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Form {
    #[default]
    Whole,
    /// `PartialObjectMetadata`.
    Metadata,
    /// `Table`.
    Table(Style),
}

const METADATA_HEAD: &str = r#"{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":"#;

/// Appends an object as it is sent alone or in a watch event.
pub(crate) fn object(out: &mut Vec<u8>, def: &ResourceDef, form: Form, stored: &Stored) {
    if let Form::Table(style) = form {
        let version = objects::parse(stored)
            .pointer("/metadata/resourceVersion")
            .cloned();
        let metadata = version.map_or_else(|| json!({}), |version| json!({"resourceVersion": version}));
        let table = print::table(def, style, [stored].into_iter(), metadata);
        out.extend_from_slice(table.to_string().as_bytes());
        return;
    }
    whole_or_metadata(out, def, form, &stored.body);
}

fn whole_or_metadata(out: &mut Vec<u8>, def: &ResourceDef, form: Form, body: &[u8]) {
    if form == Form::Metadata {
        out.extend_from_slice(METADATA_HEAD.as_bytes());
        out.extend_from_slice(raw_metadata(body).as_bytes());
        out.push(b'}');
        return;
    }
    head(out, def);
    let renamed = renamed(def, body);
    let body = renamed.as_deref().unwrap_or(body);
    // The body is an object that holds at least its metadata: what follows its brace is a field.
    out.push(b',');
    out.extend_from_slice(body.get(1..).unwrap_or(b"}"));
}

/// The body with the names of its fields in this version, where they differ.
fn renamed(def: &ResourceDef, body: &[u8]) -> Option<Vec<u8>> {
    if def.renames.is_empty() {
        return None;
    }
    let mut object: Value = serde_json::from_slice(body).ok()?;
    def.tell_names(&mut object);
    serde_json::to_vec(&object).ok()
}

/// The beginning of an object, up to its first field: built-in kinds are written from structs, custom ones with sorted keys.
fn head(out: &mut Vec<u8>, def: &ResourceDef) {
    let (version, kind) = (def.resource.api_version(), &def.resource.kind);
    let head = if def.custom {
        format!(r#"{{"apiVersion":"{version}","kind":"{kind}""#)
    } else {
        format!(r#"{{"kind":"{kind}","apiVersion":"{version}""#)
    };
    out.extend_from_slice(head.as_bytes());
}

fn raw_metadata(body: &[u8]) -> &str {
    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        metadata: &'a RawValue,
    }
    serde_json::from_slice::<Outer<'_>>(body).map_or("{}", |outer| outer.metadata.get())
}

/// The object as it is sent alone.
pub(crate) fn object_body(def: &ResourceDef, form: Form, stored: &Stored) -> Bytes {
    let mut out = Vec::with_capacity(stored.body.len() + 64);
    object(&mut out, def, form, stored);
    out.into()
}

/// The object as JSON.
pub(crate) fn value(def: &ResourceDef, stored: &Stored) -> Value {
    let mut value = objects::parse(stored);
    def.tell_names(&mut value);
    value["apiVersion"] = def.resource.api_version().into();
    value["kind"] = (*def.resource.kind).into();
    value
}

/// An event of a watch, with its newline.
pub(crate) fn event(kind: &str, def: &ResourceDef, form: Form, stored: &Stored) -> Bytes {
    let mut out = event_head(kind, stored.body.len());
    object(&mut out, def, form, stored);
    out.extend_from_slice(b"}\n");
    out.into()
}

/// The DELETED event of an object that no longer matches: its last state that did, with the version of the change.
pub(crate) fn left(def: &ResourceDef, form: Form, before: &Stored, revision: u64) -> Bytes {
    let mut last = objects::parse(before);
    let last = objects::store(&before.key, Some(revision), &mut last, &[]);
    event("DELETED", def, form, &last)
}

/// A bookmark: an object of the kind with nothing but a version, and the mark where it ends the initial events.
pub(crate) fn bookmark(def: &ResourceDef, form: Form, revision: u64, end_of_initial: bool) -> Bytes {
    let mut metadata = json!({"resourceVersion": revision.to_string()});
    if end_of_initial {
        metadata["annotations"] = json!({"k8s.io/initial-events-end": "true"});
    }
    let mut out = event_head("BOOKMARK", 64);
    let mut empty = json!({"metadata": metadata});
    let stored = objects::store(&"".into(), Some(revision), &mut empty, &[]);
    object(&mut out, def, form, &stored);
    out.extend_from_slice(b"}\n");
    out.into()
}

/// An ERROR event.
pub(crate) fn error(status: &[u8]) -> Bytes {
    let mut out = event_head("ERROR", status.len());
    out.extend_from_slice(status);
    out.extend_from_slice(b"}\n");
    out.into()
}

fn event_head(kind: &str, size: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(size + 96);
    out.extend_from_slice(br#"{"type":""#);
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(br#"","object":"#);
    out
}

/// A list. Those of built-in kinds say their version first and leave `kind` and `apiVersion` out of items; those of custom resources have
/// sorted keys, so that the items come before the version.
pub(crate) fn list_body<'a>(
    def: &ResourceDef,
    form: Form,
    items: impl ExactSizeIterator<Item = &'a Stored>,
    version: u64,
    token: Option<&str>,
    remaining: Option<u64>,
) -> Bytes {
    let metadata = list_metadata(def, form, version, token, remaining);
    if let Form::Table(style) = form {
        let metadata = serde_json::from_str(&metadata).unwrap_or_default();
        return print::table(def, style, items, metadata).to_string().into();
    }
    let (kind, api_version) = match form {
        Form::Whole => (format!("{}List", def.resource.kind), def.resource.api_version()),
        _ => (
            "PartialObjectMetadataList".to_owned(),
            "meta.k8s.io/v1".to_owned(),
        ),
    };
    let sorted = def.custom && form == Form::Whole;
    let mut out = Vec::with_capacity(128 + items.len() * 256);
    let head = if sorted {
        format!(r#"{{"apiVersion":"{api_version}","items":["#)
    } else {
        format!(r#"{{"kind":"{kind}","apiVersion":"{api_version}","metadata":{metadata},"items":["#)
    };
    out.extend_from_slice(head.as_bytes());
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        if form == Form::Whole && !def.custom {
            let renamed = renamed(def, &item.body);
            out.extend_from_slice(renamed.as_deref().unwrap_or(&item.body));
        } else {
            object(&mut out, def, form, item);
        }
    }
    if sorted {
        out.extend_from_slice(format!(r#"],"kind":"{kind}","metadata":{metadata}}}"#).as_bytes());
    } else {
        out.extend_from_slice(b"]}");
    }
    out.into()
}

/// The metadata of a list: from a struct, or from a map with sorted keys that also holds an empty token.
fn list_metadata(
    def: &ResourceDef,
    form: Form,
    version: u64,
    token: Option<&str>,
    remaining: Option<u64>,
) -> String {
    let version = Some(format!(r#""resourceVersion":"{version}""#));
    let remaining = remaining.map(|it| format!(r#""remainingItemCount":{it}"#));
    let sorted = def.custom && form == Form::Whole;
    let token = token.or_else(|| sorted.then_some(""));
    let token = token.map(|it| format!(r#""continue":"{it}""#));
    let parts = if sorted {
        [token, remaining, version]
    } else {
        [version, token, remaining]
    };
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("{{{}}}", parts.join(","))
}
