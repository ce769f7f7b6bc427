//! The applied version, and waiting for it.

use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use informer_core::{Batch, Cause, Delta, ResourceVersion, Store, StoreExt, StoreWriter};

use crate::support::{
    Count, applied, batch, bookmark, commit, delete, entry, list, poll_changed, put, tagged, unreadable,
};

#[test]
fn follows_the_last_delta() {
    let (mut writer, reader) = tagged();
    assert_eq!(applied(&reader), "");
    commit(&mut writer, [put("a@3", &[]), put("b@5", &[])]);
    assert_eq!(applied(&reader), "5");
    commit(&mut writer, [delete("a@6")]);
    assert_eq!(applied(&reader), "6");
    commit(&mut writer, [unreadable("b@7")]);
    assert_eq!(applied(&reader), "7");
    commit(&mut writer, [bookmark("9")]);
    assert_eq!(applied(&reader), "9");
    commit(&mut writer, [list(Vec::new(), "10")]);
    assert_eq!(applied(&reader), "10");
}

#[test]
fn never_moves_backward() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [bookmark("10")]);
    commit(&mut writer, [put("a@9", &[])]);
    commit(&mut writer, [delete("a@8")]);
    commit(&mut writer, [list(Vec::new(), "7")]);
    commit(&mut writer, [bookmark("6")]);
    assert_eq!(applied(&reader), "10");
}

#[test]
fn moves_backward_when_told_so() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [bookmark("10")]);
    let restored = Delta::Replace {
        items: Vec::new(),
        unreadable: Vec::new(),
        at: "7".into(),
        may_rewind: true,
    };
    commit(&mut writer, [restored]);
    assert_eq!(applied(&reader), "7");
    commit(
        &mut writer,
        [Delta::Bookmark {
            at: "3".into(),
            may_rewind: true,
        }],
    );
    assert_eq!(applied(&reader), "3");
}

#[test]
fn an_empty_version_changes_nothing_and_incomparable_ones_follow_the_last() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [bookmark("10")]);
    commit(&mut writer, [put("a", &[])]);
    assert_eq!(applied(&reader), "10");
    commit(&mut writer, [bookmark("opaque")]);
    assert_eq!(applied(&reader), "opaque");
    commit(&mut writer, [bookmark("2")]);
    assert_eq!(applied(&reader), "2");
}

#[test]
fn one_object_of_a_list_or_a_resync_says_nothing() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [bookmark("5")]);
    commit(&mut writer, [Delta::Upsert(entry("a@9", &[]), Cause::Listed)]);
    commit(&mut writer, [Delta::Upsert(entry("a@11", &[]), Cause::Sync)]);
    let (key, stamp) = crate::support::stamp("a@12");
    let concluded = Delta::Delete {
        key,
        stamp,
        last: None,
        observed: false,
    };
    commit(&mut writer, [concluded]);
    assert_eq!(applied(&reader), "5");
}

#[test]
fn a_batch_out_of_order_says_nothing_but_by_its_bookmarks() {
    let (mut writer, reader) = tagged();
    let mut reordered = Batch {
        in_order: false,
        ..batch([put("a@9", &[]), delete("b@8"), unreadable("c@7")])
    };
    writer.commit(&mut reordered, &mut Vec::new()).unwrap();
    assert_eq!(applied(&reader), "");
    let mut closing = Batch {
        in_order: false,
        ..batch([bookmark("8")])
    };
    writer.commit(&mut closing, &mut Vec::new()).unwrap();
    assert_eq!(applied(&reader), "8");
}

#[test]
fn a_waiter_is_woken_once_by_the_next_commit() {
    let (mut writer, reader) = tagged();
    let count = Arc::new(Count::default());
    assert_eq!(poll_changed(&reader, &count, ""), Poll::Pending);
    assert_eq!(poll_changed(&reader, &count, ""), Poll::Pending);
    commit(&mut writer, [put("a@1", &[])]);
    assert_eq!(count.n(), 1);
    assert_eq!(poll_changed(&reader, &count, ""), Poll::Ready(()));
    assert_eq!(poll_changed(&reader, &count, "1"), Poll::Pending);
    commit(&mut writer, [put("a@1", &[])]);
    assert_eq!(count.n(), 1, "a commit that changed nothing woke somebody");
    commit(&mut writer, [put("a@2", &[])]);
    assert_eq!(count.n(), 2);
}

#[test]
fn wait_for_returns_at_the_version_or_behind_it() {
    let (mut writer, reader) = tagged();
    let version = ResourceVersion::new("5");
    let mut waiting = pin!(reader.wait_for(&version));
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    let mut cx = Context::from_waker(&waker);
    assert!(waiting.as_mut().poll(&mut cx).is_pending());
    commit(&mut writer, [bookmark("4")]);
    assert_eq!(count.n(), 1);
    assert!(waiting.as_mut().poll(&mut cx).is_pending());
    commit(&mut writer, [bookmark("6")]);
    assert_eq!(count.n(), 2);
    assert_eq!(waiting.as_mut().poll(&mut cx), Poll::Ready(Ok(())));
}

#[test]
fn wait_for_says_at_once_that_versions_have_no_order() {
    let (mut writer, reader) = tagged();
    commit(&mut writer, [bookmark("opaque")]);
    let version = ResourceVersion::new("5");
    let mut waiting = pin!(reader.wait_for(&version));
    let mut cx = Context::from_waker(Waker::noop());
    assert!(matches!(waiting.as_mut().poll(&mut cx), Poll::Ready(Err(_))));
    let _ = reader.len();
}
