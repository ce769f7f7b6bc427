//! The limit on the bytes of one object: high, configurable, and loud.

use bytes::Bytes;
use informer_core::{Classify, FailureClass};
use informer_transport::{Asked, DEFAULT_FRAME_LIMIT, ListError, ListSplitter, WatchDecoder};

const MEBIBYTE: usize = 1 << 20;

#[test]
fn an_event_of_a_watch_may_have_64_mebibytes_and_no_more() {
    assert_eq!(DEFAULT_FRAME_LIMIT, 64 * MEBIBYTE);
    let mut decoder = WatchDecoder::new(Asked::Watch);
    let chunk = Bytes::from(vec![b'x'; MEBIBYTE]);
    for _ in 0..64 {
        decoder.push(chunk.clone());
        assert!(decoder.next_frame().unwrap().is_none());
    }
    decoder.push(Bytes::from_static(b"x"));
    let error = decoder.next_frame().unwrap_err();
    assert_eq!(
        error.to_string(),
        "an event of the watch is longer than the limit of 67108864 bytes"
    );
    assert_eq!(error.class(), FailureClass::Fatal);
    // What follows cannot be read, so nothing is made of it.
    decoder.push(Bytes::from_static(b"\n{\"type\":\"ADDED\",\"object\":{}}\n"));
    assert!(decoder.next_frame().unwrap().is_none());
}

#[test]
fn an_item_of_a_list_may_have_64_mebibytes_and_no_more() {
    let mut splitter = ListSplitter::new();
    splitter.push(Bytes::from_static(b"{\"items\":[\""));
    let chunk = Bytes::from(vec![b'x'; MEBIBYTE]);
    for _ in 0..63 {
        splitter.push(chunk.clone());
        assert!(splitter.next_item().unwrap().is_none());
    }
    splitter.push(chunk);
    let error = splitter.next_item().unwrap_err();
    assert_eq!(error, ListError::TooLarge { limit: 64 * MEBIBYTE });
    assert_eq!(error.class(), FailureClass::Fatal);
    assert!(error.to_string().contains("67108864 bytes"), "{error}");
}

#[test]
fn what_is_no_object_has_no_limit() {
    // A list may be of any length, and so may what it says besides its items.
    let mut splitter = ListSplitter::new().with_limit(20);
    let long = "x".repeat(1000);
    let items = ["{}"; 100].join(",");
    splitter.push(Bytes::from(format!(
        r#"{{"comment":"{long}","items":[{items}],"metadata":{{}}}}"#
    )));
    let mut n_items = 0;
    while splitter.next_item().unwrap().is_some() {
        n_items += 1;
    }
    assert_eq!(n_items, 100);
    splitter.finish().unwrap();
}
