//! What nobody should push, and what comes all the same: nothing is lost, and the next delta comes through.

use std::sync::Arc;

use informer_core::{Batch, Cause, Delta, DeltaQueue, DeltaSink, Entry, Stamp, Store};
use informer_deltafifo::{Coalescing, InOrder, Options};

use crate::support::{Known, delete, pop, upsert};

/// Runs on each queue, with the store behind it.
fn on_each(run: impl Fn(Box<dyn DeltaQueue<String, u32>>, &Known)) {
    run(Box::new(InOrder::new(Options::default())), &Known::default());
    let known = Known::default();
    run(
        Box::new(Coalescing::new(known.shared(), Options::default())),
        &known,
    );
}

fn drain(queue: &mut Box<dyn DeltaQueue<String, u32>>, known: &Known) {
    while let Some(batch) = pop(queue, 1000) {
        batch.deltas.iter().for_each(|delta| known.apply(delta));
        queue.settle(Vec::new());
    }
}

#[test]
fn keys_without_text_and_with_slashes_are_keys() {
    on_each(|mut queue, known| {
        for key in ["", "a/b/c", "/", "a"] {
            queue.push(upsert(&format!("{key}@1"), Cause::Added));
        }
        queue.push(delete("a/b/c@2", true));
        drain(&mut queue, known);
        assert_eq!(known.show(), r#"[""@1, "/"@1, "a"@1]"#);
    });
}

#[test]
fn an_object_of_ten_megabytes_passes_without_a_copy() {
    let large = Arc::new(vec![7_u8; 10 << 20]);
    let mut queue = InOrder::new(Options::default());
    let it = Entry::new("large".to_owned(), Stamp::new("1", ""), large.clone());
    queue.push(Delta::Upsert(it, Cause::Added));
    let mut batch = Batch::default();
    assert_eq!(queue.pop_into(&mut batch, 1), 1);
    assert!(matches!(&batch.deltas[0], Delta::Upsert(it, _) if Arc::ptr_eq(&it.object, &large)));
    assert!(format!("{batch:?}").len() < 200, "nothing prints it");
}

#[test]
fn a_list_of_a_hundred_thousand_with_every_key_twice_holds_the_later() {
    on_each(|mut queue, known| {
        let items = (0..200_000_u32).map(|n| {
            let key = format!("k{:06}", n % 100_000);
            Entry::new(key, Stamp::new(n.to_string().as_str(), ""), Arc::new(n))
        });
        queue.push(Delta::Replace {
            items: items.collect(),
            unreadable: vec!["never/heard/of".into(), "k000000".into()],
            at: "200000".into(),
            may_rewind: false,
        });
        drain(&mut queue, known);
        assert!(queue.has_synced());
        assert_eq!(known.len(), 100_000);
        assert_eq!(*known.get(&"k000007".to_owned()).unwrap().object, 100_007);
    });
}

#[test]
fn deltas_that_were_never_handed_out_may_be_settled_as_failed() {
    on_each(|mut queue, known| {
        queue.push(upsert("a@1", Cause::Added));
        drain(&mut queue, known);
        queue.settle(vec![upsert("b@2", Cause::Added)]);
        drain(&mut queue, known);
        assert!(queue.is_empty());
        assert_eq!(known.show(), r#"["a"@1, "b"@2]"#);
    });
}
