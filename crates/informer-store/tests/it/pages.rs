//! Lists in pages.

use informer_core::{ObjectKey, Store};
use informer_store::{Continue, Page};

use crate::support::{Thing, Things, commit, delete, key, put, tagged};

fn filled() -> Things {
    let (mut writer, reader) = tagged();
    for n in 0..7 {
        commit(&mut writer, [put(&format!("ns/{n}@{}", n + 1), &[])]);
    }
    (writer, reader)
}

fn names(page: &Page<ObjectKey, Thing>) -> Vec<&str> {
    page.entries.iter().map(|it| it.key.name()).collect()
}

#[test]
fn pages_are_of_the_time_of_the_first_whatever_is_written_meanwhile() {
    let (mut writer, reader) = filled();
    let page = reader.page(3);
    assert_eq!(names(&page), ["0", "1", "2"]);
    let next = page.next.unwrap();
    assert_eq!(next.remaining(), 4);
    commit(
        &mut writer,
        [delete("ns/3@8"), put("ns/5@9", &[]), put("ns/35@10", &[])],
    );
    let page = next.page(3);
    assert_eq!(format!("{:?}", page.entries), r#"["ns/3"@4, "ns/4"@5, "ns/5"@6]"#);
    let next = page.next.unwrap();
    assert_eq!((next.remaining(), next.snapshot().applied().as_str()), (1, "7"));
    let page = next.page(3);
    assert_eq!(names(&page), ["6"]);
    assert!(page.next.is_none());
    assert_eq!(names(&reader.page(0)), ["0", "1", "2", "35", "4", "5", "6"]);
}

#[test]
fn a_token_may_be_used_twice_and_outlives_the_store() {
    let (writer, reader) = filled();
    let next: Continue<_, _> = reader.page(5).next.unwrap();
    drop((writer, reader));
    for again in [next.clone(), next] {
        let page = again.page(1);
        assert_eq!(names(&page), ["5"]);
        assert_eq!(names(&page.next.unwrap().page(0)), ["6"]);
    }
}

#[test]
fn a_full_last_page_has_no_token_and_no_limit_is_everything() {
    let (_writer, reader) = filled();
    assert!(reader.page(7).next.is_none());
    assert!(reader.page(8).next.is_none());
    assert_eq!(reader.page(0).entries.len(), 7);
    assert_eq!(reader.page(6).next.unwrap().page(0).entries.len(), 1);
    let (_writer, empty) = tagged();
    let page = empty.page(3);
    assert!(page.entries.is_empty() && page.next.is_none());
}

#[test]
fn any_snapshot_is_read_in_pages() {
    let (_writer, reader) = filled();
    let store: &dyn Store<ObjectKey, Thing> = &reader;
    let mut page = Page::first(store.snapshot(), 2);
    let mut seen = names(&page).join(" ");
    while let Some(next) = page.next {
        page = next.page(2);
        seen = format!("{seen} {}", names(&page).join(" "));
    }
    assert_eq!(seen, "0 1 2 3 4 5 6");
}

#[test]
fn a_token_shows_its_place_and_answers_of_its_time() {
    let (mut writer, reader) = filled();
    let next = reader.page(2).next.unwrap();
    commit(&mut writer, [delete("ns/0@8")]);
    assert!(next.snapshot().get(&key("ns/0")).is_some());
    assert_eq!(
        format!("{next:?}"),
        r#"Continue { after: "ns/1", remaining: 5, at: @7, .. }"#
    );
}
