//! LP-02: the same key twice in the first list (client-go 1d175299a).

use informer_core::DeltaQueue;
use informer_deltafifo::{Coalescing, DeltaFifo, InOrder, Options};

use crate::support::{K, Known, Q, entry, list, pop};

fn syncs(mut queue: impl DeltaQueue<Q, K>, known: &Known) {
    queue.push(list(["a@10", "a@12", "b@11"], "12"));
    assert!(!queue.has_synced());
    while let Some(batch) = pop(&mut queue, 1000) {
        assert!(batch.initial);
        batch.deltas.iter().for_each(|delta| known.apply(delta));
        queue.settle(Vec::new());
    }
    assert!(queue.has_synced());
    assert_eq!(known.show(), r#"["a"@12, "b"@11]"#);
}

#[test]
fn lp_02_the_queue_in_order_syncs_and_the_later_entry_counts() {
    syncs(InOrder::new(Options::default()), &Known::default());
}

#[test]
fn lp_02_the_coalescing_queue_syncs_and_the_later_entry_counts() {
    let known = Known::default();
    syncs(Coalescing::new(known.shared(), Options::default()), &known);
}

#[test]
fn lp_02_the_delta_fifo_counts_keys_not_items() {
    let known = Known::default();
    let mut fifo = DeltaFifo::new(known.shared());
    fifo.replace(["a@10", "a@12", "b@11"].map(entry).into(), Vec::new());
    for key in ["a", "b"] {
        assert!(!fifo.has_synced());
        let popped = fifo.pop().unwrap();
        assert_eq!((popped.key.as_str(), popped.initial), (key, true));
        popped.deltas.iter().for_each(|delta| known.apply(delta));
    }
    assert!(fifo.has_synced());
    assert_eq!(known.show(), r#"["a"@12, "b"@11]"#);
}
