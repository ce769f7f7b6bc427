//! The decoder against flate2's encoder, in every way to cut its output.

use std::io::Write;

use bytes::Bytes;
use flate2::{Compression, Crc, GzBuilder, write::GzEncoder};

use super::gunzip::Gunzip;

#[path = "corpus.rs"]
mod corpus;
#[path = "properties.rs"]
mod properties;

fn member(content: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(content).expect("encoded");
    encoder.finish().expect("encoded")
}

/// Feeds chunks of `size`; what comes out of each, and how it ended.
fn decode(compressed: &[u8], size: usize) -> Result<(Vec<u8>, bool), &'static str> {
    let mut decoder = Gunzip::new();
    let mut decoded = Vec::new();
    for chunk in compressed.chunks(size) {
        decoder.feed(Bytes::copy_from_slice(chunk));
        while let Some(bytes) = decoder.next()? {
            assert!(bytes.len() <= 64 * 1024);
            decoded.extend_from_slice(&bytes);
        }
    }
    Ok((decoded, decoder.is_complete()))
}

#[test]
fn several_members_are_one_text_however_they_are_cut() {
    let whole = [
        member(b"one\n"),
        member(b""),
        member(b"two\n"),
        member(b"three\n"),
    ]
    .concat();
    for size in 1..=whole.len() {
        assert_eq!(
            decode(&whole, size),
            Ok((b"one\ntwo\nthree\n".to_vec(), true)),
            "in chunks of {size}"
        );
    }
}

#[test]
fn all_optional_header_fields_are_skipped() {
    let mut encoder = GzBuilder::new()
        .extra(vec![7; 300])
        .filename("name")
        .comment("comment")
        .write(Vec::new(), Compression::fast());
    encoder.write_all(b"content").expect("encoded");
    let mut compressed = encoder.finish().expect("encoded");
    // With a header checksum, which the encoder does not write: its flag, and two bytes before the data.
    let data_at = 10 + 2 + 300 + "name\0".len() + "comment\0".len();
    compressed[3] |= 1 << 1;
    let mut crc = Crc::new();
    crc.update(&compressed[..data_at]);
    let [low, high, ..] = crc.sum().to_le_bytes();
    compressed.splice(data_at..data_at, [low, high]);
    for size in [1, 3, compressed.len()] {
        assert_eq!(decode(&compressed, size), Ok((b"content".to_vec(), true)));
    }
    compressed[data_at] ^= 1;
    for size in [1, 3, compressed.len()] {
        let refused = decode(&compressed, size);
        assert_eq!(refused, Err("the checksum of its header is wrong"));
    }
}

#[test]
fn what_was_flushed_comes_out_before_the_member_ends() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    let mut decoder = Gunzip::new();
    for event in ["first event\n", "second event\n"] {
        encoder.write_all(event.as_bytes()).expect("encoded");
        encoder.flush().expect("encoded");
        decoder.feed(std::mem::take(encoder.get_mut()).into());
        assert_eq!(
            decoder.next().expect("decoded").as_deref(),
            Some(event.as_bytes())
        );
        assert_eq!(decoder.next(), Ok(None));
        assert!(!decoder.is_complete());
    }
}

/// The decoder underneath stops at the end of its window, also where room is left and all input is taken in.
#[test]
fn what_was_flushed_comes_out_across_the_end_of_the_window() {
    for before in 32_700..32_800 {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let mut decoder = Gunzip::new();
        let mut decoded = 0;
        for length in [before, 300] {
            encoder.write_all(&vec![b'x'; length]).expect("encoded");
            encoder.flush().expect("encoded");
            for chunk in std::mem::take(encoder.get_mut()).chunks(5) {
                decoder.feed(Bytes::copy_from_slice(chunk));
                while let Some(bytes) = decoder.next().expect("decoded") {
                    decoded += bytes.len();
                }
            }
        }
        assert_eq!(decoded, before + 300);
    }
}

#[test]
fn a_little_input_that_expands_comes_in_bounded_chunks() {
    let content = vec![b'x'; 5_000_000];
    let compressed = member(&content);
    for size in [1, 1000, compressed.len()] {
        let (decoded, is_complete) = decode(&compressed, size).expect("decoded");
        assert!(is_complete && decoded == content, "in chunks of {size}");
    }
}

#[test]
fn every_early_end_is_known_to_be_one() {
    let whole = [member(b"one\n"), member(b"two\n")].concat();
    let border = member(b"one\n").len();
    for end in 0..whole.len() {
        let (_, is_complete) = decode(&whole[..end], 7).expect("a good beginning");
        assert_eq!(is_complete, end == 0 || end == border, "cut after {end}");
    }
}

#[test]
fn what_is_no_gzip_is_refused() {
    let good = member(b"content of some length");
    let flipped = |at: usize| {
        let mut bad = good.clone();
        bad[at] ^= 0xFF;
        bad
    };
    assert_eq!(decode(b"plain", 1), Err("it does not begin like gzip"));
    assert_eq!(
        decode(&[good.clone(), b"x".to_vec()].concat(), 99),
        Err("it does not begin like gzip")
    );
    assert_eq!(decode(&flipped(2), 99), Err("it does not begin like gzip"));
    assert_eq!(
        decode(&flipped(3), 99),
        Err("its header has flags that nobody knows")
    );
    assert_eq!(decode(&flipped(10), 99), Err("its deflated data is corrupt"));
    assert_eq!(decode(&flipped(good.len() - 8), 99), Err("its checksum is wrong"));
    assert_eq!(decode(&flipped(good.len() - 1), 99), Err("its checksum is wrong"));
}
