//! Tables, for those who ask for them: their rows are a list's items, their events a watch's.

use bytes::Bytes;
use informer_core::Resource;
use informer_transport::{Asked, ListError, ListSplitter, WatchDecoder, WatchFrame};

/// Items, columns, end and whether it is a table, of a body in chunks of this size.
fn split(body: &str, size: usize) -> Result<String, ListError> {
    let mut splitter = ListSplitter::new().tables();
    let (mut items, mut columns) = (Vec::new(), Vec::new());
    for chunk in body.as_bytes().chunks(size) {
        splitter.push(Bytes::copy_from_slice(chunk));
        loop {
            let item = splitter.next_item()?;
            columns.extend(splitter.take_columns());
            let Some(item) = item else { break };
            items.push(item);
        }
    }
    let end = splitter.finish()?;
    let text = |parts: Vec<Bytes>| {
        let parts: Vec<_> = parts
            .iter()
            .map(|part| String::from_utf8_lossy(part).into_owned())
            .collect();
        parts.join(" ")
    };
    let kind = if splitter.is_table() { "table" } else { "list" };
    Ok(format!(
        "{kind} [{}] {} @{} token {:?}",
        text(columns),
        text(items),
        end.version,
        end.token.as_deref()
    ))
}

fn check(body: &str, expected: &str) {
    for size in [1, 3, body.len()] {
        let found = split(body, size).unwrap_or_else(|error| error.to_string());
        assert_eq!(found, expected, "{body} in pieces of {size}");
    }
}

#[test]
fn rows_of_a_table_are_its_items() {
    let columns = r#""columnDefinitions":[{"name":"Name"}]"#;
    let metadata = r#""metadata":{"resourceVersion":"7","continue":"t"}"#;
    let rows = r#""rows":[{"cells":["a"]},{"cells":["b"]}]"#;
    let expected = r#"table [[{"name":"Name"}]] {"cells":["a"]} {"cells":["b"]} @7 token Some("t")"#;
    check(
        &format!(r#"{{"kind":"Table",{metadata},{columns},{rows}}}"#),
        expected,
    );
    check(
        &format!(r#"{{{columns},"kind":"Table",{metadata},{rows}}}"#),
        expected,
    );
    check(
        &format!(r#"{{{columns},{rows},{metadata},"kind":"Table"}}"#),
        expected,
    );
}

#[test]
fn a_table_may_have_no_rows_and_later_pages_no_columns() {
    check(
        r#"{"kind":"Table","metadata":{"resourceVersion":"7"},"columnDefinitions":null,"rows":null}"#,
        "table []  @7 token None",
    );
    check(
        r#"{"kind":"Table","metadata":{"resourceVersion":"7"},"rows":[]}"#,
        "table []  @7 token None",
    );
    check(
        r#"{"kind":"Table","metadata":{}}"#,
        "the answer is a Table where a list was asked for",
    );
    check(
        r#"{"kind":"Table","rows":{}}"#,
        r#"the answer is no list: "{" after 23 bytes"#,
    );
}

/// What a server says that knows no tables.
#[test]
fn a_plain_list_is_taken_as_ever() {
    check(
        r#"{"kind":"PodList","metadata":{"resourceVersion":"7"},"items":[{"a":1}]}"#,
        r#"list [] {"a":1} @7 token None"#,
    );
    check(
        r#"{"kind":"Status","code":410}"#,
        "the answer is a Status where a list was asked for",
    );
}

fn frames(decoder: WatchDecoder, body: &str) -> Vec<String> {
    let mut decoder = decoder;
    decoder.push(Bytes::copy_from_slice(body.as_bytes()));
    decoder.finish();
    let show = |frame| match frame {
        WatchFrame::Added(object) => format!("added {}", String::from_utf8_lossy(&object)),
        WatchFrame::Bookmark { at, end_of_initial } => format!("bookmark {at} {end_of_initial}"),
        WatchFrame::Odd(error) => format!("odd: {error}"),
        other => format!("{other:?}"),
    };
    std::iter::from_fn(|| decoder.next_frame().unwrap())
        .map(show)
        .collect()
}

#[test]
fn events_are_tables_and_so_are_bookmarks() {
    let table = |metadata: &str, row: &str| {
        format!(
            r#"{{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{metadata},"columnDefinitions":null,"rows":[{row}]}}"#
        )
    };
    let first = table("{}", r#"{"cells":["a"]}"#);
    let plain = table(
        r#"{"resourceVersion":"8"}"#,
        r#"{"cells":[""],"object":{"metadata":{"resourceVersion":"8"}}}"#,
    );
    let end = table(
        r#"{"resourceVersion":"9"}"#,
        r#"{"object":{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"}}}}"#,
    );
    let bare = table(r#"{"resourceVersion":"10"}"#, "");
    let body = format!(
        "{{\"type\":\"ADDED\",\"object\":{first}}}\n{{\"type\":\"BOOKMARK\",\"object\":{plain}}}\n\
         {{\"type\":\"BOOKMARK\",\"object\":{end}}}\n{{\"type\":\"BOOKMARK\",\"object\":{bare}}}\n\
         {{\"type\":\"ADDED\",\"object\":{{\"kind\":\"Bar\",\"apiVersion\":\"v1\"}}}}\n"
    );
    let foos = Resource::namespaced("example.com", "v1", "foos", "Foo");
    let decoder = || WatchDecoder::new(Asked::Watch).expect(&foos);
    assert_eq!(
        frames(decoder().tables(), &body),
        [
            format!("added {first}"),
            "bookmark 8 false".to_owned(),
            "bookmark 9 true".to_owned(),
            "bookmark 10 false".to_owned(),
            "odd: cannot decode Bar of v1: ADDED holds it where a Foo of example.com/v1 is watched"
                .to_owned(),
        ]
    );
    let odd = frames(decoder(), &body);
    assert!(
        odd.iter().all(|frame| frame.starts_with("odd: ")),
        "to others tables are odd: {odd:?}"
    );
}
