//! What holds of the decoders for any bytes in any chunks. Fuzz targets and the test that replays their corpus share it.

use std::{error::Error, fmt};

use bytes::Bytes;
#[cfg(feature = "protobuf")]
use informer_transport::Wire;
use informer_transport::{Asked, ListSplitter, WatchDecoder, WatchFrame};
use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The first byte says how many bytes of sizes follow; the rest is a body, to be cut in pieces of these sizes, over and over.
fn pieces(data: &[u8]) -> (Bytes, Vec<Bytes>) {
    let (count, rest) = data
        .split_first()
        .map_or((0, data), |(first, rest)| (usize::from(first % 8), rest));
    let (sizes, body) = rest.split_at(count.min(rest.len()));
    let whole = Bytes::copy_from_slice(body);
    let (mut left, mut cut) = (whole.clone(), Vec::new());
    for size in sizes.iter().cycle() {
        if left.is_empty() {
            break;
        }
        cut.push(left.split_to(usize::from(*size).clamp(1, left.len())));
    }
    if !left.is_empty() {
        cut.push(left);
    }
    (whole, cut)
}

/// Frames do not depend on the chunks, each byte is looked at a fixed number of times, and a limit is kept.
pub(super) fn watch(data: &[u8]) {
    let (whole, cut) = pieces(data);
    let (frames, end) = decode(WatchDecoder::new(Asked::Watch), [whole.clone()], whole.len());
    assert_eq!(end, None, "64 MiB are enough");
    assert_eq!(
        (frames.clone(), end),
        decode(WatchDecoder::new(Asked::Watch), cut.clone(), whole.len())
    );

    const LIMIT: usize = 40;
    let tables = || WatchDecoder::new(Asked::Watch).tables();
    let with_tables = decode(tables(), [whole.clone()], whole.len());
    assert_eq!(with_tables, decode(tables(), cut.clone(), whole.len()));
    assert_eq!(
        with_tables.0.len(),
        frames.len(),
        "a table is a frame, odd or not"
    );

    let limited = || WatchDecoder::new(Asked::Watch).with_limit(LIMIT);
    let (some, end) = decode(limited(), [whole.clone()], whole.len());
    assert_eq!((some.clone(), end.clone()), decode(limited(), cut, whole.len()));
    assert!(frames.starts_with(&some), "a limit changes no frame before it");
    // Its line feed counts.
    let is_long = |line: &[u8]| line.len() >= LIMIT;
    if !whole.split(|byte| *byte == b'\n').any(is_long) {
        assert_eq!((some.len(), end), (frames.len(), None), "no line is too long");
    }
}

fn decode(
    mut decoder: WatchDecoder,
    chunks: impl IntoIterator<Item = Bytes>,
    length: usize,
) -> (Vec<String>, Option<String>) {
    let mut frames = Vec::new();
    let mut drain = |decoder: &mut WatchDecoder| loop {
        match decoder.next_frame() {
            Ok(Some(frame)) => frames.push(show(&frame)),
            Ok(None) => return None,
            Err(error) => return Some(error.to_string()),
        }
    };
    for chunk in chunks {
        decoder.push(chunk);
        if let Some(error) = drain(&mut decoder) {
            return (frames, Some(error));
        }
    }
    decoder.finish();
    let end = drain(&mut decoder);
    if end.is_none() {
        assert_eq!(decoder.buffered(), 0, "all was taken");
        let most = 8 * length as u64 + 64;
        assert!(
            decoder.scanned() <= most,
            "{} of {length} bytes",
            decoder.scanned()
        );
    }
    (frames, end)
}

fn show(frame: &WatchFrame) -> String {
    let chain = |error: &dyn Error| {
        let mut text = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            text = format!("{text}: {error}");
            source = error.source();
        }
        text
    };
    match frame {
        WatchFrame::Odd(error) => chain(error),
        WatchFrame::Error(error) => format!("{} {}", error.code(), chain(error)),
        frame => format!("{frame:?}"),
    }
}

/// The items and the end, which do not depend on the chunks.
fn split_both(splitter: fn() -> ListSplitter, whole: &Bytes, cut: &[Bytes]) -> Split {
    let split_whole = split(splitter(), [whole.clone()]);
    assert_eq!(split_whole, split(splitter(), cut.to_vec()));
    let (some, end) = split(splitter().with_limit(24), cut.to_vec());
    assert!(
        split_whole.0.starts_with(&some),
        "a limit changes no item before it"
    );
    if end.is_ok() {
        assert_eq!((&some, &end), (&split_whole.0, &split_whole.1));
    }
    split_whole
}

/// In protobuf: items and the end do not depend on the chunks, and are what prost finds.
#[cfg(feature = "protobuf")]
pub(super) fn list_protobuf(data: &[u8]) {
    use prost::Message;

    #[derive(Clone, PartialEq, Message)]
    struct Envelope {
        #[prost(bytes, repeated, tag = "2")]
        raw: Vec<Vec<u8>>,
    }
    #[derive(Clone, PartialEq, Message)]
    struct List {
        #[prost(message, optional, tag = "1")]
        metadata: Option<Meta>,
        #[prost(bytes = "bytes", repeated, tag = "2")]
        items: Vec<Bytes>,
    }
    #[derive(Clone, PartialEq, Message)]
    struct Meta {
        #[prost(string, tag = "2")]
        version: String,
    }

    let (whole, cut) = pieces(data);
    let (items, end) = split_both(|| ListSplitter::of(Wire::Protobuf), &whole, &cut);
    let Ok(end) = end else { return };
    let envelope = whole.strip_prefix(b"k8s\0").expect("the magic was seen");
    let Ok(envelope) = Envelope::decode(envelope) else {
        return;
    };
    // Of several lists all are taken here, and the last one by prost. No server writes them.
    let [raw] = &*envelope.raw else { return };
    let Ok(list) = List::decode(&**raw) else {
        return;
    };
    if list.items.len() == items.len() {
        assert_eq!(items, list.items);
        if !items.is_empty() {
            assert_eq!(
                end.version.as_str().is_empty(),
                list.metadata.unwrap_or_default().version.is_empty()
            );
        }
    }
}

/// In protobuf: frames do not depend on the chunks, and each byte is looked at a fixed number of times.
#[cfg(feature = "protobuf")]
pub(super) fn watch_protobuf(data: &[u8]) {
    let (whole, cut) = pieces(data);
    let decoder = || {
        WatchDecoder::new(Asked::Watch)
            .wire(Wire::Protobuf)
            .with_limit(1 << 16)
    };
    assert_eq!(
        decode(decoder(), [whole.clone()], whole.len()),
        decode(decoder(), cut, whole.len())
    );
}

/// Items and the end do not depend on the chunks, and are what a JSON parser finds.
pub(super) fn list(data: &[u8]) {
    let (whole, cut) = pieces(data);
    let (items, end) = split_both(ListSplitter::new, &whole, &cut);
    let with_tables = split_both(|| ListSplitter::new().tables(), &whole, &cut);
    let Ok(end) = end else { return };
    let Ok(Members(members)) = serde_json::from_slice::<Members>(&whole) else {
        // What is inside an item is not looked at, so it may be no JSON.
        return;
    };
    if !members
        .iter()
        .any(|(key, _)| key == "rows" || key == "columnDefinitions")
    {
        assert_eq!(
            with_tables,
            (items.clone(), Ok(end.clone())),
            "a plain list is one"
        );
    }
    let mut wanted = Vec::new();
    for (_, value) in members.iter().filter(|(key, _)| key == "items") {
        let part: Option<Vec<Box<RawValue>>> = serde_json::from_str(value.get()).expect("an array or null");
        wanted.extend(part.unwrap_or_default());
    }
    let wanted: Vec<&[u8]> = wanted.iter().map(|item| item.get().as_bytes()).collect();
    assert_eq!(items, wanted);
    let metadata = members.iter().rfind(|(key, _)| key == "metadata");
    let metadata: Option<Metadata> =
        metadata.and_then(|(_, value)| serde_json::from_str(value.get()).expect("it was read before"));
    let metadata = metadata.unwrap_or_default();
    assert_eq!(end.version.as_str(), metadata.version.unwrap_or_default());
    assert_eq!(
        end.token.as_deref().unwrap_or_default(),
        metadata.token.unwrap_or_default()
    );
}

#[derive(Default, Deserialize)]
struct Metadata {
    #[serde(rename = "resourceVersion")]
    version: Option<String>,
    #[serde(rename = "continue")]
    token: Option<String>,
}

type Split = (Vec<Bytes>, Result<informer_transport::ListEnd, String>);

fn split(mut splitter: ListSplitter, chunks: impl IntoIterator<Item = Bytes>) -> Split {
    let mut items = Vec::new();
    for chunk in chunks {
        splitter.push(chunk);
        loop {
            match splitter.next_item() {
                Ok(Some(item)) => items.push(item),
                Ok(None) => break,
                Err(error) => return (items, Err(format!("{error:?}"))),
            }
        }
    }
    let end = splitter.finish().map_err(|error| format!("{error:?}"));
    (items, end)
}

/// The members of an object, in order, also those of the same name.
struct Members(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(All)
    }
}
