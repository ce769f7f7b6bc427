//! The candidates for the store's map, and the store as it is, at 80 000 objects whose keys come in random order.
//!
//! `cargo bench -p informer-benches --bench store`; what it gave on one machine stands in `STORE.md`.

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
use measure::Objects;

fn store(criterion: &mut Criterion) {
    let objects = Objects::new(80_000);
    measure::all::<Own>(criterion, "own tree", &objects);
    measure::all::<Imbl>(criterion, "imbl OrdMap", &objects);
    measure::all::<Rpds>(criterion, "rpds RedBlackTreeMap", &objects);
    measure::all::<Locked>(criterion, "RwLock BTreeMap", &objects);
    measure::all::<StorePlain>(criterion, "Writer, no index", &objects);
    measure::all::<StoreTagged>(criterion, "Writer, one index", &objects);
}

criterion_group!(benches, store);
criterion_main!(benches);
