//! The queues behind the contract traits.

use std::sync::Arc;

use informer_core::{Batch, Cause, DeltaQueue, DeltaSink, Handle};
use informer_deltafifo::{Coalescing, DeltaFifo, InOrder, Options};

use crate::support::{K, Known, Q, entry, parts, upsert};

#[test]
fn both_are_used_behind_their_trait_and_a_handle() {
    let known = Known::default();
    let queues: [Box<dyn DeltaQueue<Q, K>>; 2] = [
        Box::new(InOrder::new(Options::default())),
        Box::new(Coalescing::new(known.shared(), Options::default())),
    ];
    for queue in queues {
        let mut sink = Handle::new(queue);
        let consumer = sink.clone();
        sink.push(upsert("a@1", Cause::Added));
        let mut batch = Batch::default();
        consumer.pop_blocking(&mut batch, 10).unwrap();
        assert_eq!(format!("{:?}", batch.deltas), r#"[Added "a"@1]"#);
        consumer.settle(Vec::new());
        assert!(consumer.has_synced());
    }
}

#[test]
fn they_may_cross_threads() {
    fn crosses<T: Send + 'static>() {}
    crosses::<InOrder<Q, K>>();
    crosses::<Coalescing<Q, K>>();
    crosses::<DeltaFifo<Q, K>>();
}

#[test]
fn the_coalescing_queue_knows_the_stored_object_of_equal_stamp() {
    let known = Known::default();
    let stored = entry("a@1#u");
    known.put(stored.clone());
    known.put(entry("none"));
    let queue: Coalescing<Q, K> = Coalescing::new(known.shared(), Options::default());
    let (key, stamp) = parts("a@1#u");
    assert!(
        queue
            .known(&key, &stamp)
            .is_some_and(|it| Arc::ptr_eq(&it, &stored.object))
    );
    assert!(queue.known(&key, &parts("a@2#u").1).is_none());
    assert!(
        queue.known(&"none".to_owned(), &parts("none").1).is_none(),
        "no version, nothing to tell by"
    );
}

#[test]
fn a_failed_process_puts_the_key_back() {
    let known = Known::default();
    let mut fifo = DeltaFifo::new(known.shared());
    fifo.add(entry("a@1"));
    fifo.add(entry("b@2"));
    assert_eq!(fifo.pop_with(|_| Err("not now")), Some(Err("not now")));
    let mut order = Vec::new();
    while let Some(result) = fifo.pop_with(|popped| {
        order.push(popped.key.clone());
        Ok::<_, ()>(())
    }) {
        assert_eq!(result, Ok(()));
    }
    assert_eq!(order, ["b", "a"]);
}
