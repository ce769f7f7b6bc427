//! Bodies of lists.

use bytes::Bytes;
use informer_core::{Classify, FailureClass};
use informer_transport::{ListEnd, ListError, ListSplitter};

fn split(body: &str) -> Result<(Vec<String>, ListEnd), ListError> {
    let mut splitter = ListSplitter::new();
    splitter.push(Bytes::copy_from_slice(body.as_bytes()));
    let mut items = Vec::new();
    while let Some(item) = splitter.next_item()? {
        items.push(String::from_utf8(item.to_vec()).unwrap());
    }
    Ok((items, splitter.finish()?))
}

/// Items, version and token, or the error.
fn check(body: &str, expected: &str) {
    let found = match split(body) {
        Ok((items, end)) => format!(
            "{} @{} token {:?}",
            items.join(" "),
            end.version,
            end.token.as_deref()
        ),
        Err(error) => error.to_string(),
    };
    assert_eq!(found, expected, "{body}");
}

#[test]
fn items_and_metadata_come_in_either_order() {
    let (items, metadata) = (
        r#""items":[{"a":1},{"b":[2,{}]}]"#,
        r#""metadata":{"resourceVersion":"7"}"#,
    );
    let expected = r#"{"a":1} {"b":[2,{}]} @7 token None"#;
    check(&format!(r#"{{"kind":"PodList",{metadata},{items}}}"#), expected);
    check(&format!(r#"{{"kind":"PodList",{items},{metadata}}}"#), expected);
    check(&format!(" {{ {items} ,\n {metadata}\n}} \n"), expected);
}

#[test]
fn tokens_may_be_empty_null_or_absent() {
    for (token, expected) in [
        (r#","continue":"t1""#, r#"Some("t1")"#),
        (r#","continue":"""#, "None"),
        (r#","continue":null"#, "None"),
        ("", "None"),
    ] {
        let body = format!(r#"{{"metadata":{{"resourceVersion":"7"{token}}},"items":[]}}"#);
        check(&body, &format!(" @7 token {expected}"));
    }
}

#[test]
fn degenerate_lists_are_lists() {
    let metadata = r#""metadata":{"resourceVersion":"7"}"#;
    check(
        &format!(r#"{{"kind":"PodList","items":null,{metadata}}}"#),
        " @7 token None",
    );
    check(&format!(r#"{{"kind":"PodList",{metadata}}}"#), " @7 token None");
    check(
        r#"{"kind":"PodList","metadata":null,"items":[{}]}"#,
        "{} @ token None",
    );
    check(
        r#"{"kind":"PodList","metadata":{},"items":[1,null,"x"]}"#,
        r#"1 null "x" @ token None"#,
    );
    check(&format!(r#"{{"items":null,{metadata}}}"#), " @7 token None");
}

#[test]
fn remaining_items_are_told() {
    let (_, end) = split(r#"{"metadata":{"remainingItemCount":12},"items":[]}"#).unwrap();
    assert_eq!(end.remaining, Some(12));
}

#[test]
fn what_is_no_list_is_refused() {
    check(
        r#"{"kind":"Table","rows":[]}"#,
        "the answer is a Table where a list was asked for",
    );
    check(
        r#"{"rows":[],"kind":"Table"}"#,
        "the answer is a Table where a list was asked for",
    );
    check(
        r#"{"kind":"Status","code":410}"#,
        "the answer is a Status where a list was asked for",
    );
    check(
        r#"{"kind":"Pod","metadata":{"resourceVersion":"7"}}"#,
        "the answer is a Pod where a list was asked for",
    );
    // An ERROR event of a watch, and nothing at all.
    for no_list in [r#"{"type":"ERROR","object":{"kind":"Status","code":410}}"#, "{}"] {
        check(
            no_list,
            "the answer is a thing of no kind where a list was asked for",
        );
    }
    check("<html>", r#"the answer is no list: "<" after 0 bytes"#);
    check("[]", r#"the answer is no list: "[" after 0 bytes"#);
    check(r#"{"items":{}}"#, r#"the answer is no list: "{" after 9 bytes"#);
    check(
        r#"{"items":nope}"#,
        r#"the answer is no list: "nope" after 13 bytes"#,
    );
    check(r#"{"items":[,]}"#, r#"the answer is no list: "," after 10 bytes"#);
    check(
        r#"{"items":[1 2]}"#,
        r#"the answer is no list: "2" after 12 bytes"#,
    );
    check(r#"{"items":[]}{"#, r#"the answer is no list: "{" after 12 bytes"#);
    check("", "the list was cut after 0 bytes");
    check(r#"{"items":[{"a":1}"#, "the list was cut after 17 bytes");
}

#[test]
fn failures_have_a_class() {
    assert_eq!(split("{").unwrap_err().class(), FailureClass::Transient);
    assert_eq!(split("?").unwrap_err().class(), FailureClass::Transient);
    assert_eq!(
        split(r#"{"kind":"Table"}"#).unwrap_err().class(),
        FailureClass::Fatal
    );
}

#[test]
fn an_item_beyond_the_limit_is_an_error_that_names_the_limit() {
    let mut splitter = ListSplitter::new().with_limit(10);
    splitter.push(Bytes::from_static(br#"{"items":["12345678","#));
    assert_eq!(splitter.next_item().unwrap().unwrap(), r#""12345678""#);
    splitter.push(Bytes::from_static(b"\"1234"));
    assert_eq!(splitter.next_item(), Ok(None));
    splitter.push(Bytes::from_static(b"56789\"]}"));
    assert_eq!(splitter.next_item(), Err(ListError::TooLarge { limit: 10 }));
}

#[test]
fn items_come_out_while_the_body_arrives() {
    let mut splitter = ListSplitter::new();
    splitter.push(Bytes::from_static(br#"{"items":[{"a":1},{"b""#));
    assert_eq!(splitter.next_item().unwrap().unwrap(), r#"{"a":1}"#);
    assert_eq!(splitter.next_item(), Ok(None));
    splitter.push(Bytes::from_static(b":2}"));
    assert_eq!(splitter.next_item().unwrap().unwrap(), r#"{"b":2}"#);
}

#[test]
fn an_item_in_one_chunk_is_not_copied() {
    let body = Bytes::from(r#"{"items":[{"a":1}]}"#.as_bytes().to_vec());
    let mut splitter = ListSplitter::new();
    splitter.push(body.clone());
    let item = splitter.next_item().unwrap().unwrap();
    assert_eq!(item.as_ptr(), body[10..].as_ptr());
}
