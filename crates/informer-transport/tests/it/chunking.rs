//! However a body is cut into chunks, what is read of it is the same.

use bytes::Bytes;
use informer_transport::{Asked, ListEnd, ListError, ListSplitter, WatchDecoder};
use proptest::{collection::vec, prelude::*};
use serde_json::{Map, Value, json};

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,6}",
        Just("quote \" brace } bracket ] backslash \\ feed \n".to_owned()),
        Just("two \u{e9}, three \u{20ac}, four \u{1f980}".to_owned()),
    ]
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any_text().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((any_text(), inner), 0..4)
                .prop_map(|members| Value::from(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

#[derive(Debug, Clone)]
struct List {
    body: Vec<u8>,
    items: Vec<Value>,
    version: String,
    token: Option<String>,
}

prop_compose! {
    /// A list with its members in any order, compact or pretty.
    fn any_list()(
        items in vec(any_json(), 0..6),
        token in prop::option::of("[a-z]{1,4}"),
        extra in any_json(),
        is_pretty in any::<bool>(),
        order in Just(vec![0, 1, 2, 3, 4]).prop_shuffle(),
    ) -> List {
        let mut members = [
            ("kind", json!("ThingList")),
            ("apiVersion", json!("v1")),
            ("metadata", json!({"resourceVersion": "77", "continue": token, "selfLink": extra})),
            ("items", json!(items)),
            ("extra", extra),
        ].map(|(name, value)| {
            let value = if is_pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            format!("\"{name}\":{}", value.unwrap())
        }).to_vec();
        members = order.iter().map(|&at| members[at].clone()).collect();
        let between = if is_pretty { " ,\r\n\t" } else { "," };
        let body = format!("{{{}}}\n", members.join(between)).into_bytes();
        List { body, items, version: "77".to_owned(), token }
    }
}

fn chunks<'a>(body: &'a [u8], sizes: &'a [usize]) -> Vec<Bytes> {
    let mut rest = body;
    let mut sizes = sizes.iter().cycle();
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        let size = sizes.next().map_or(rest.len(), |&size| size.min(rest.len()));
        let (chunk, others) = rest.split_at(size);
        chunks.push(Bytes::copy_from_slice(chunk));
        rest = others;
    }
    chunks
}

/// Some chunk is not empty, so that a body comes to its end.
fn any_sizes() -> impl Strategy<Value = Vec<usize>> {
    vec(0_usize..40, 0..8).prop_map(|mut sizes| {
        sizes.push(5);
        sizes
    })
}

fn split(chunks: Vec<Bytes>) -> Result<(Vec<Bytes>, ListEnd), ListError> {
    let mut splitter = ListSplitter::new();
    let mut items = Vec::new();
    for chunk in chunks {
        splitter.push(chunk);
        while let Some(item) = splitter.next_item()? {
            items.push(item);
        }
    }
    Ok((items, splitter.finish()?))
}

fn frames(chunks: Vec<Bytes>) -> (Vec<String>, u64) {
    let mut decoder = WatchDecoder::new(Asked::Watch).expect_types("v1", "Thing");
    let mut frames = Vec::new();
    for chunk in chunks {
        decoder.push(chunk);
        while let Some(frame) = decoder.next_frame().unwrap() {
            frames.push(format!("{frame:?}"));
        }
    }
    decoder.finish();
    while let Some(frame) = decoder.next_frame().unwrap() {
        frames.push(format!("{frame:?}"));
    }
    (frames, decoder.scanned())
}

fn any_line() -> impl Strategy<Value = Vec<u8>> {
    let event = (
        prop_oneof![
            Just("ADDED"),
            Just("MODIFIED"),
            Just("DELETED"),
            Just("BOOKMARK"),
            Just("ERROR"),
            Just("SPARKLE")
        ],
        prop_oneof![Just("Thing"), Just("Other")],
        any_json(),
    )
        .prop_map(|(event, kind, data)| {
            let object = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "a", "resourceVersion": "5"}, "data": data});
            json!({"type": event, "object": object}).to_string().into_bytes()
        });
    let garbage = prop_oneof![
        Just(b"not json".to_vec()),
        Just(b"{\"type\":\"ADDED\",\"obj".to_vec()),
        Just(b"{\"type\":\"ADDED\",\"object\":null}".to_vec()),
        Just(b"{}".to_vec()),
        Just(b"".to_vec()),
        Just(b" \r".to_vec()),
        vec(
            any::<u8>().prop_filter("a line has no line feed", |&byte| byte != b'\n'),
            0..20
        ),
    ];
    prop_oneof![3 => event, 1 => garbage]
}

proptest! {
    #[test]
    fn any_chunking_of_a_list_gives_the_same(list in any_list(), sizes in any_sizes()) {
        let (items, end) = split(chunks(&list.body, &sizes)).unwrap();
        let values: Vec<Value> = items.iter().map(|item| serde_json::from_slice(item).unwrap()).collect();
        prop_assert_eq!(values, list.items);
        prop_assert_eq!(end.version.as_str(), list.version);
        prop_assert_eq!(end.token.as_deref(), list.token.as_deref());
    }

    #[test]
    fn a_list_that_is_cut_anywhere_is_no_list(list in any_list(), sizes in any_sizes(), at in any::<prop::sample::Index>()) {
        // The last two bytes are the closing brace and a line feed.
        let at = at.index(list.body.len() - 1);
        prop_assert_eq!(split(chunks(&list.body[..at], &sizes)), Err(ListError::Cut { at: at as u64 }));
    }

    #[test]
    fn any_bytes_split_the_same_or_fail_the_same(body in vec(any::<u8>(), 0..60), sizes in any_sizes()) {
        let whole = split(vec![Bytes::from(body.clone())]);
        let pieces = split(chunks(&body, &sizes));
        prop_assert_eq!(whole.is_ok(), pieces.is_ok());
    }

    #[test]
    fn any_chunking_of_a_watch_gives_the_same(lines in vec(any_line(), 0..8), has_last_feed in any::<bool>(), sizes in any_sizes()) {
        let mut body = lines.join(&b'\n');
        if has_last_feed {
            body.push(b'\n');
        }
        let (whole, scanned) = frames(vec![Bytes::from(body.clone())]);
        let (pieces, scanned_pieces) = frames(chunks(&body, &sizes));
        prop_assert_eq!(whole, pieces);
        prop_assert_eq!(scanned, scanned_pieces, "small chunks cost no more");
    }
}
