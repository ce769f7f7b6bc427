//! What is measured of each candidate.

use std::{
    hint::black_box,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use criterion::{BenchmarkId, Criterion, Throughput};
use informer_core::{Entry, ObjectKey, Stamp};

use crate::candidates::{Candidate, Look};

const BATCH: u64 = 1000;
const N_NODES: usize = 100;
const N_NAMESPACES: usize = 50;

/// As much of a pod as an index reads.
pub(crate) struct Object {
    pub(crate) node: &'static str,
}

/// Keys in random order, and new states of them without end.
pub(crate) struct Objects {
    keys: Vec<ObjectKey>,
    nodes: Vec<&'static str>,
    uid: Arc<str>,
}

impl Objects {
    pub(crate) fn new(n: usize) -> Self {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let mut keys: Vec<_> = (0..n)
            .map(|at| {
                let namespace = format!("team-{:02}", at % N_NAMESPACES);
                ObjectKey::namespaced(&namespace, &format!("web-{:08x}-{at:05}", random.next() as u32))
            })
            .collect();
        for at in (1..keys.len()).rev() {
            let other = (random.next() % (at as u64 + 1)) as usize;
            keys.swap(at, other);
        }
        let nodes = (0..N_NODES).map(|at| &*format!("node-{at:03}").leak());
        Self {
            keys,
            nodes: nodes.collect(),
            uid: "6b0f8a5c-1c52-4d3c-9d43-7b6f3f0c1a11".into(),
        }
    }

    /// The `nth` write of all.
    fn entry(&self, nth: u64) -> Entry<ObjectKey, Object> {
        let at = (nth % self.keys.len() as u64) as usize;
        let stamp = Stamp::new((nth + 1).to_string().as_str(), self.uid.clone());
        let node = self.nodes[at % N_NODES];
        Entry::new(self.keys[at].clone(), stamp, Arc::new(Object { node }))
    }
}

/// A small generator (xorshift64), so that every run has the same keys.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

pub(crate) fn all<C: Candidate>(criterion: &mut Criterion, name: &str, objects: &Objects) {
    let mut map = C::new();
    let mut nth = 0;
    let mut write = |map: &mut C| {
        map.write(objects.entry(nth));
        nth += 1;
    };
    for _ in 0..objects.keys.len() {
        write(&mut map);
    }
    map.publish();

    let mut group = criterion.benchmark_group("write");
    group.throughput(Throughput::Elements(1));
    group.bench_function(BenchmarkId::new("a snapshot each", name), |bencher| {
        bencher.iter(|| {
            write(&mut map);
            map.publish();
        });
    });
    group.throughput(Throughput::Elements(BATCH));
    group.bench_function(BenchmarkId::new("a snapshot per 1000", name), |bencher| {
        bencher.iter(|| {
            for _ in 0..BATCH {
                write(&mut map);
            }
            map.publish();
        });
    });
    group.throughput(Throughput::Elements(1));
    group.sample_size(10);
    for n_readers in [0, 10] {
        group.bench_function(
            BenchmarkId::new(format!("with {n_readers} readers"), name),
            |bencher| {
                bencher.iter_custom(|n| {
                    beside_readers(&map.reader(), n_readers, || {
                        for _ in 0..n {
                            write(&mut map);
                            map.publish();
                        }
                    })
                });
            },
        );
    }
    group.finish();

    let reader = map.reader();
    let mut group = criterion.benchmark_group("read");
    group.throughput(Throughput::Elements(1));
    group.bench_function(BenchmarkId::new("get", name), |bencher| {
        let mut at = 0;
        bencher.iter(|| {
            at = (at + 7919) % objects.keys.len();
            assert!(reader.has(&objects.keys[at]));
        });
    });
    group.throughput(Throughput::Elements(objects.keys.len() as u64));
    group.bench_function(BenchmarkId::new("scan", name), |bencher| {
        bencher.iter(|| {
            let mut n = 0;
            reader.visit(&mut |it| n += it.stamp.version.as_str().len());
            n
        });
    });
    group.finish();
}

/// How long `work` takes while so many threads list everything, again and again.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn beside_readers(reader: &impl Look, n_readers: usize, work: impl FnOnce()) -> Duration {
    let stop = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = (0..n_readers)
        .map(|_| {
            let (reader, stop) = (reader.clone(), stop.clone());
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let mut list = Vec::new();
                    reader.visit(&mut |it| list.push(it.object.clone()));
                    black_box(list);
                }
            })
        })
        .collect();
    let start = Instant::now();
    work();
    let took = start.elapsed();
    stop.store(true, Ordering::Relaxed);
    threads
        .into_iter()
        .for_each(|it| it.join().expect("a reader does not panic"));
    took
}
