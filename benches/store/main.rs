//! The candidates for the store's map, and the store as it is, at 80 000 objects whose keys come in random order.
//!
//! `cargo bench -p informer-benches --bench store`; what it gave on one machine stands in `ARCHITECTURE.md`.

mod candidates;
mod cpu;
mod measure;
#[expect(
    dead_code,
    reason = "the store's own tree, by its source: not all of it is measured"
)]
#[path = "../../crates/informer-store/src/tree/btree.rs"]
mod tree;

use candidates::{Imbl, Locked, Own, Rpds, StorePlain, StoreTagged};
use cpu::CpuTime;
use criterion::{Criterion, criterion_group, criterion_main};
use measure::{Objects, Run};

/// Six measures, each by all candidates one after the other: what is compared is measured in one time, whatever else the machine does.
macro_rules! measure {
    ($criterion:ident, $runs:ident, $name:literal, $method:ident($($argument:expr)?)) => {
        let Runs { own, imbl, rpds, locked, plain, tagged } = &mut $runs;
        let mut group = $criterion.benchmark_group($name);
        own.$method($($argument,)? &mut group);
        imbl.$method($($argument,)? &mut group);
        rpds.$method($($argument,)? &mut group);
        locked.$method($($argument,)? &mut group);
        plain.$method($($argument,)? &mut group);
        tagged.$method($($argument,)? &mut group);
        group.finish();
    };
}

struct Runs<'a> {
    own: Run<'a, Own>,
    imbl: Run<'a, Imbl>,
    rpds: Run<'a, Rpds>,
    locked: Run<'a, Locked>,
    plain: Run<'a, StorePlain>,
    tagged: Run<'a, StoreTagged>,
}

impl<'a> Runs<'a> {
    fn new(objects: &'a Objects) -> Self {
        Self {
            own: Run::new("own tree", objects),
            imbl: Run::new("imbl OrdMap", objects),
            rpds: Run::new("rpds RedBlackTreeMap", objects),
            locked: Run::new("RwLock BTreeMap", objects),
            plain: Run::new("Writer, no index", objects),
            tagged: Run::new("Writer, one index", objects),
        }
    }
}

fn alone(criterion: &mut Criterion<CpuTime>) {
    let objects = Objects::new(80_000);
    let mut runs = Runs::new(&objects);
    measure!(criterion, runs, "write, a snapshot each", write_each());
    measure!(criterion, runs, "write, a snapshot per 1000", write_batch());
    measure!(criterion, runs, "get", get());
    measure!(criterion, runs, "scan of all", scan());
}

fn beside_readers(criterion: &mut Criterion) {
    let objects = Objects::new(80_000);
    let mut runs = Runs::new(&objects);
    measure!(criterion, runs, "write, 0 readers", write_beside(0));
    measure!(criterion, runs, "write, 10 readers", write_beside(10));
}

criterion_group!(
    name = by_one;
    config = Criterion::default().with_measurement(CpuTime);
    targets = alone
);
criterion_group!(by_many, beside_readers);
criterion_main!(by_one, by_many);
