//! TR-02: very large frames.

use bytes::Bytes;
use informer_transport::{Asked, WatchDecoder, WatchFrame};

const PIECE: usize = 4096;

/// A line of exactly `length` bytes, line feed included.
fn line(length: usize, name: usize) -> Vec<u8> {
    let head =
        format!("{{\"type\":\"MODIFIED\",\"object\":{{\"metadata\":{{\"name\":\"{name:06}\"}},\"data\":\"");
    let tail = "\"}}\n";
    let fill = length - head.len() - tail.len();
    [head.as_bytes(), &vec![b'x'; fill], tail.as_bytes()].concat()
}

struct Run {
    names: Vec<String>,
    sizes: Vec<usize>,
    pushed: u64,
    scanned: u64,
    most_buffered: usize,
}

fn run(lines: impl Iterator<Item = Vec<u8>>) -> Run {
    let mut decoder = WatchDecoder::new(Asked::Watch);
    let mut run = Run {
        names: Vec::new(),
        sizes: Vec::new(),
        pushed: 0,
        scanned: 0,
        most_buffered: 0,
    };
    for line in lines {
        for piece in line.chunks(PIECE) {
            run.pushed += piece.len() as u64;
            decoder.push(Bytes::copy_from_slice(piece));
            while let Some(frame) = decoder.next_frame().unwrap() {
                let WatchFrame::Modified(object) = frame else {
                    panic!("{frame:?}")
                };
                let at = "{\"metadata\":{\"name\":\"".len();
                run.names
                    .push(String::from_utf8(object[at..at + 6].to_vec()).unwrap());
                run.sizes.push(object.len());
            }
            run.most_buffered = run.most_buffered.max(decoder.buffered());
        }
    }
    run.scanned = decoder.scanned();
    run
}

#[test]
fn tr_02_large_frames_among_small_ones() {
    let sizes = [
        100,
        (64 << 10) - 1,
        200,
        64 << 10,
        1 << 20,
        100,
        3 << 20,
        8 << 20,
        120,
    ];
    let run = run(sizes.iter().enumerate().map(|(name, &size)| line(size, name)));
    let names: Vec<String> = (0..sizes.len()).map(|name| format!("{name:06}")).collect();
    assert_eq!(run.names, names);
    let around = "{\"type\":\"MODIFIED\",\"object\":}\n".len();
    let objects: Vec<usize> = sizes.iter().map(|size| size - around).collect();
    assert_eq!(run.sizes, objects);
}

/// The cost is counted, not timed: the line feed is looked for once, the line walked once, and of the object its head again. The head of
/// these objects, which say nothing of their types, is the whole object: three times the bytes.
#[test]
fn tr_02_scans_in_linear_cost_and_holds_one_frame() {
    let run = run((0..200).map(|name| line(1 << 20, name)));
    assert_eq!(run.names.len(), 200);
    assert!(
        run.scanned <= 3 * run.pushed,
        "{} bytes looked at for {} bytes pushed",
        run.scanned,
        run.pushed
    );
    assert!(run.most_buffered <= 1 << 20, "{} bytes held", run.most_buffered);
}

#[test]
fn tr_02_a_frame_beyond_the_limit_is_an_error_that_names_the_limit() {
    let mut decoder = WatchDecoder::new(Asked::Watch).with_limit(1000);
    for piece in line(1000, 1).chunks(64).chain(line(1001, 2).chunks(64)) {
        decoder.push(Bytes::copy_from_slice(piece));
    }
    assert!(matches!(decoder.next_frame(), Ok(Some(WatchFrame::Modified(_)))));
    let error = decoder.next_frame().unwrap_err();
    assert!(error.to_string().contains("limit of 1000 bytes"), "{error}");
    decoder.push(Bytes::from(line(100, 3)));
    assert!(
        decoder.next_frame().unwrap().is_none(),
        "nothing can be read behind it"
    );
}
