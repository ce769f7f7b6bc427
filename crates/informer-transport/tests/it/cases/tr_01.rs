//! TR-01: the border of a chunk inside a character.

use bytes::Bytes;
use informer_core::Resource;
use informer_transport::{Asked, Codec, DynamicCodec, DynamicObject, WatchDecoder, WatchFrame};

const TEXT: &str = "two \u{e9}, three \u{20ac}, four \u{1f980}";

fn resource() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

fn line(name: &str) -> Vec<u8> {
    format!(
        "{{\"type\":\"MODIFIED\",\"object\":{{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{{\"name\":\"{name}\"}},\
         \"data\":{{\"text\":\"{TEXT}\"}}}}}}\n"
    )
    .into_bytes()
}

/// What each frame decodes to: the object's text, or how decoding failed.
fn decode<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Result<String, String>> {
    let codec = DynamicCodec::new(&resource());
    let mut decoder = WatchDecoder::new(Asked::Watch).expect(&resource());
    let mut texts = Vec::new();
    for chunk in chunks {
        decoder.push(Bytes::copy_from_slice(chunk));
        while let Some(frame) = decoder.next_frame().unwrap() {
            let WatchFrame::Modified(object) = frame else {
                panic!("{frame:?}")
            };
            let text = |object: DynamicObject| object.text("/data/text").unwrap().to_owned();
            texts.push(
                codec
                    .decode(object)
                    .map(|decoded| text(decoded.object))
                    .map_err(|error| error.to_string()),
            );
        }
    }
    texts
}

#[test]
fn tr_01_every_split_point() {
    let line = line("a");
    for at in 0..=line.len() {
        let (left, right) = line.split_at(at);
        assert_eq!(decode([left, right]), [Ok(TEXT.to_owned())], "split at {at}");
    }
}

#[test]
fn tr_01_one_byte_per_chunk() {
    assert_eq!(decode(line("a").chunks(1)), [Ok(TEXT.to_owned())]);
}

#[test]
fn tr_01_two_and_a_half_lines_per_chunk() {
    let line = line("a");
    let five = line.repeat(5);
    let chunk = line.len() * 5 / 2;
    assert_eq!(decode(five.chunks(chunk)), vec![Ok(TEXT.to_owned()); 5]);
}

#[test]
fn tr_01_invalid_utf8_in_one_line_then_good_ones() {
    let mut bad = line("bad");
    let at = bad.iter().position(|&byte| byte == 0xc3).unwrap();
    bad[at] = 0xff;
    let all = [line("a"), bad, line("b")].concat();
    for size in [1, 7, all.len()] {
        let decoded = decode(all.chunks(size));
        assert_eq!(
            (&decoded[0], &decoded[2]),
            (&Ok(TEXT.to_owned()), &Ok(TEXT.to_owned()))
        );
        let reported = decoded[1].as_ref().unwrap_err();
        assert!(reported.contains("ConfigMap bad"), "{reported}");
    }
}
