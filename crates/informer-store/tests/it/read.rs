//! Reading: order, pages, namespaces, indices.

use std::ops::ControlFlow;

use informer_core::Store;
use informer_store::{Indexers, indexed};

use crate::support::{ByTag, Things, commit, key, put, tagged, tagged_with};

fn filled() -> Things {
    let (mut writer, reader) = tagged();
    let keys = ["ns-b/z", "ns-a/b", "node", "ns-b/a", "ns-a/a", "ns/q", "ns-a/c"];
    for (at, name) in keys.iter().enumerate() {
        commit(&mut writer, [put(&format!("{name}@{}", at + 1), &["all"])]);
    }
    (writer, reader)
}

fn names<'a, K: 'a>(
    entries: impl IntoIterator<Item = &'a informer_core::Entry<informer_core::ObjectKey, K>>,
) -> Vec<String> {
    entries.into_iter().map(|it| it.key.to_string()).collect()
}

#[test]
fn lists_are_ordered_by_namespace_and_name() {
    let (_writer, reader) = filled();
    let all = ["node", "ns/q", "ns-a/a", "ns-a/b", "ns-a/c", "ns-b/a", "ns-b/z"];
    assert_eq!(names(&reader.list()), all);
    assert_eq!(names(&reader.by_index("tag", "all").unwrap()), all);
    assert_eq!(
        names(reader.view().iter_after(&key("ns-a/c"))),
        ["ns-b/a", "ns-b/z"]
    );
}

#[test]
fn a_namespace_is_a_range() {
    let (_writer, reader) = filled();
    assert_eq!(
        names(&reader.list_namespace("ns-a")),
        ["ns-a/a", "ns-a/b", "ns-a/c"]
    );
    assert_eq!(names(&reader.list_namespace("ns")), ["ns/q"]);
    assert!(reader.list_namespace("ns-").is_empty());
    assert_eq!(names(reader.view().namespace("ns-b")), ["ns-b/a", "ns-b/z"]);
}

#[test]
fn the_empty_namespace_holds_what_has_none() {
    let (_writer, reader) = filled();
    assert_eq!(names(&reader.list_namespace("")), ["node"]);
}

#[test]
fn pages_of_one_view_cover_everything_once() {
    let (mut writer, reader) = filled();
    let view = reader.view();
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = view.list_page(after.as_ref(), 3);
        seen.extend(names(&page));
        // What is written in between is not in this view.
        commit(&mut writer, [put(&format!("ns-a/{}@99", seen.len()), &[])]);
        match page.last() {
            Some(last) if page.len() == 3 => after = Some(last.key.clone()),
            _ => break,
        }
    }
    assert_eq!(seen, names(view.iter()));
    assert!(reader.len() > view.len());
    assert!(reader.list_page(None, 0).is_empty());
}

#[test]
fn scans_begin_behind_a_key_and_end_when_told() {
    let (_writer, reader) = filled();
    let mut seen = Vec::new();
    reader.snapshot().scan(Some(&key("ns-a/a")), &mut |entry| {
        seen.push(entry.key.to_string());
        if seen.len() == 2 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert_eq!(seen, ["ns-a/b", "ns-a/c"]);
    let mut n = 0;
    let visited = reader.snapshot().by_index("tag", "all", &mut |_| {
        n += 1;
        ControlFlow::Break(())
    });
    assert_eq!((visited, n), (Ok(()), 1));
}

#[test]
fn an_unknown_index_is_an_error_that_names_the_known_ones() {
    let (_writer, reader) = filled();
    let error = reader.by_index("node", "n1").unwrap_err();
    assert_eq!(error.to_string(), r#"no index "node": there are tag"#);
    assert_eq!(reader.index_keys("node", "n1").unwrap_err(), error);
    assert_eq!(reader.index_values("node").unwrap_err(), error);
    assert_eq!(tagged_with(&reader, "none of this value"), "[]");
}

#[test]
fn two_indices_of_one_name_are_refused() {
    let error = indexed::<u32, _>(Indexers::new().with("tag", ByTag).with("tag", ByTag)).unwrap_err();
    assert_eq!(
        (error.name(), error.to_string().as_str()),
        ("tag", r#"there is an index "tag" already"#)
    );
}

#[test]
fn any_ordered_type_is_a_key() {
    use informer_core::{Batch, Cause, Delta, Entry, Stamp, StoreWriter};
    let (mut writer, reader) = indexed::<(u8, char), u32>(Indexers::new()).unwrap();
    for (at, key) in [(2, 'x'), (1, 'y')].into_iter().enumerate() {
        let entry = Entry::new(key, Stamp::new("1", ""), std::sync::Arc::new(at as u32));
        let mut batch = Batch::of(Delta::Upsert(entry, Cause::Added), false);
        writer.commit(&mut batch, &mut Vec::new()).unwrap();
    }
    let keys: Vec<_> = reader.view().iter().map(|it| it.key).collect();
    assert_eq!(keys, [(1, 'y'), (2, 'x')]);
}
