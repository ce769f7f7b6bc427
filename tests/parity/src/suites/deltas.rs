//! Deltas from operations, and deltas as their text.

use informer_core::{Cause, Delta, ObjectKey, ResourceVersion, Stamp};

use crate::{
    object::{Object, Thing, UNBEARABLE, key, show, show_parts},
    sequence::Op,
};

/// The delta of an operation that a source pushes.
pub(super) fn pushed(op: Op<'_>) -> Delta<ObjectKey, Thing> {
    let at = || ResourceVersion::new(op.version());
    match op.verb {
        "replace" => Delta::Replace {
            items: op.args().skip(1).map(|text| Object::read(text).entry()).collect(),
            unreadable: Vec::new(),
            at: at(),
            may_rewind: false,
        },
        "bookmark" => Delta::Bookmark {
            at: at(),
            may_rewind: false,
        },
        "resync" => Delta::Resync,
        _ => one(op),
    }
}

/// A delta about one object. `bad` is one that cannot be stored.
pub(super) fn one(op: Op<'_>) -> Delta<ObjectKey, Thing> {
    let object = || Object::read(op.arg());
    let delete = |object: &Object, observed| Delta::Delete {
        key: key(&object.key),
        stamp: object.stamp(),
        last: Some(object.entry().object),
        observed,
    };
    match op.verb {
        "add" => Delta::Upsert(object().entry(), Cause::Added),
        "update" => Delta::Upsert(object().entry(), Cause::Modified),
        "delete" => delete(&object(), true),
        "vanish" if !op.arg().contains('@') => Delta::Delete {
            key: key(op.arg()),
            stamp: Stamp::default(),
            last: None,
            observed: false,
        },
        "vanish" => delete(&object(), false),
        "bad" => {
            let text = format!("bad@1#[{UNBEARABLE}]");
            Delta::Upsert(Object::read(&text).entry(), Cause::Added)
        }
        other => panic!("no operation {other:?}"),
    }
}

/// A delta as the oracles write it.
pub(super) fn show_delta(delta: &Delta<ObjectKey, Thing>) -> String {
    match delta {
        Delta::Upsert(entry, cause) => {
            let word = match cause {
                Cause::Added => "added",
                Cause::Modified => "updated",
                Cause::Listed => "replaced",
                Cause::Sync => "sync",
            };
            format!("{word} {}", show(entry))
        }
        Delta::Delete {
            key,
            stamp,
            last,
            observed,
        } => {
            let last = last.as_ref();
            let last = last.map_or_else(|| "nothing".to_owned(), |thing| show_parts(key, stamp, thing));
            if *observed {
                format!("deleted {last}")
            } else {
                format!("vanished {key} {last}")
            }
        }
        Delta::Replace { items, at, .. } => {
            let items: Vec<String> = items.iter().map(show).collect();
            format!("replace @{at} {}", items.join(" ")).trim_end().to_owned()
        }
        Delta::Resync => "resync".to_owned(),
        Delta::Bookmark { at, .. } => format!("bookmark @{at}"),
        Delta::Unreadable { key, .. } => format!("unreadable {key}"),
    }
}
