//! The candidates for the store's map, and the store as it is, at 80 000 objects whose keys come in random order.
//!
//! `cargo bench -p informer-benches --bench store`; what it gave on one machine stands in `ARCHITECTURE.md`.

mod candidates;
mod measure;
#[expect(
    dead_code,
    reason = "the store's own tree, by its source: not all of it is measured"
)]
#[path = "../../crates/informer-store/src/tree/btree.rs"]
mod tree;

use candidates::{Imbl, Locked, Own, Rpds, StorePlain, StoreTagged};
use criterion::{Criterion, criterion_group, criterion_main};
use measure::{Objects, Run};

/// All candidates by one measure, then by the next: what is compared is measured in one time, whatever else the machine does.
fn store(criterion: &mut Criterion) {
    let objects = Objects::new(80_000);
    let mut own = Run::<Own>::new("own tree", &objects);
    let mut imbl = Run::<Imbl>::new("imbl OrdMap", &objects);
    let mut rpds = Run::<Rpds>::new("rpds RedBlackTreeMap", &objects);
    let mut locked = Run::<Locked>::new("RwLock BTreeMap", &objects);
    let mut plain = Run::<StorePlain>::new("Writer, no index", &objects);
    let mut tagged = Run::<StoreTagged>::new("Writer, one index", &objects);

    macro_rules! measure {
        ($name:literal, $method:ident($($argument:expr)?)) => {
            let mut group = criterion.benchmark_group($name);
            own.$method($($argument,)? &mut group);
            imbl.$method($($argument,)? &mut group);
            rpds.$method($($argument,)? &mut group);
            locked.$method($($argument,)? &mut group);
            plain.$method($($argument,)? &mut group);
            tagged.$method($($argument,)? &mut group);
            group.finish();
        };
    }
    measure!("write, a snapshot each", write_each());
    measure!("write, a snapshot per 1000", write_batch());
    measure!("get", get());
    measure!("scan of all", scan());
    measure!("write, 0 readers", write_beside(0));
    measure!("write, 10 readers", write_beside(10));
}

criterion_group!(benches, store);
criterion_main!(benches);
