//! Pieces of work over threads (client-go `TestParallelizeUntil`).

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use informer_workqueue::parallelize;

#[test]
fn each_piece_is_called_once_whatever_the_chunks() {
    for (workers, pieces, chunk) in [
        (3, 1000, 1),
        (3, 999, 10),
        (10, 5, 10),
        (1, 7, 3),
        (0, 4, 0),
        (2, 0, 1),
    ] {
        let calls: Vec<AtomicUsize> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
        let done = parallelize(
            workers,
            pieces,
            chunk,
            || false,
            |n| {
                calls[n].fetch_add(1, SeqCst);
            },
        );
        assert_eq!(done, pieces);
        assert!(
            calls.iter().all(|n| n.load(SeqCst) == 1),
            "{workers} {pieces} {chunk}"
        );
    }
}

#[test]
fn a_stop_ends_the_handing_out() {
    let calls = AtomicUsize::new(0);
    let done = parallelize(
        4,
        1_000_000,
        16,
        || calls.load(SeqCst) >= 100,
        |_| {
            calls.fetch_add(1, SeqCst);
        },
    );
    assert_eq!(done, calls.load(SeqCst));
    assert!((100..=103).contains(&done), "{done}");
}

#[test]
fn a_panic_is_told_when_the_others_have_ended() {
    let calls = AtomicUsize::new(0);
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        parallelize(
            2,
            100,
            1,
            || false,
            |n| {
                calls.fetch_add(1, SeqCst);
                assert!(n != 50, "as told");
            },
        )
    }));
    assert!(result.is_err());
    assert_eq!(calls.load(SeqCst), 100);
}
