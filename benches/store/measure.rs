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

use criterion::{BenchmarkGroup, Throughput, measurement::WallTime};
use informer_core::{Entry, ObjectKey, Stamp};

use crate::{
    candidates::{Candidate, Look},
    cpu::CpuTime,
};

const BATCH: u64 = 1000;
const WHILE: Duration = Duration::from_millis(400);
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

/// One candidate, filled, and how it is measured.
pub(crate) struct Run<'a, C> {
    name: &'static str,
    objects: &'a Objects,
    map: C,
    n_written: u64,
}

type Group<'a, M = CpuTime> = BenchmarkGroup<'a, M>;

impl<'a, C: Candidate> Run<'a, C> {
    pub(crate) fn new(name: &'static str, objects: &'a Objects) -> Self {
        let mut run = Self {
            name,
            objects,
            map: C::new(),
            n_written: 0,
        };
        for _ in 0..objects.keys.len() {
            run.write();
        }
        run.map.publish();
        run
    }

    fn write(&mut self) {
        self.map.write(self.objects.entry(self.n_written));
        self.n_written += 1;
    }

    /// A write, and a snapshot of it for readers.
    pub(crate) fn write_each(&mut self, group: &mut Group<'_>) {
        group.throughput(Throughput::Elements(1));
        group.bench_function(self.name, |bencher| {
            bencher.iter(|| {
                self.write();
                self.map.publish();
            });
        });
    }

    /// A thousand writes, and a snapshot of them all.
    pub(crate) fn write_batch(&mut self, group: &mut Group<'_>) {
        group.throughput(Throughput::Elements(BATCH));
        group.bench_function(self.name, |bencher| {
            bencher.iter(|| {
                for _ in 0..BATCH {
                    self.write();
                }
                self.map.publish();
            });
        });
    }

    /// A write with a snapshot, while so many threads list everything, again and again.
    pub(crate) fn write_beside(&mut self, n_readers: usize, group: &mut Group<'_, WallTime>) {
        group.throughput(Throughput::Elements(1));
        group.sample_size(10);
        group.bench_function(self.name, |bencher| {
            bencher.iter_custom(|n| {
                let reader = self.map.reader();
                let each = beside_readers(&reader, n_readers, || {
                    self.write();
                    self.map.publish();
                });
                each.mul_f64(n as f64)
            });
        });
    }

    /// A look at one object.
    pub(crate) fn get(&self, group: &mut Group<'_>) {
        let (reader, keys) = (self.map.reader(), &self.objects.keys);
        group.throughput(Throughput::Elements(1));
        group.bench_function(self.name, |bencher| {
            let mut at = 0;
            bencher.iter(|| {
                at = (at + 7919) % keys.len();
                assert!(reader.has(&keys[at]));
            });
        });
    }

    /// A look at all of them.
    pub(crate) fn scan(&self, group: &mut Group<'_>) {
        let reader = self.map.reader();
        group.throughput(Throughput::Elements(self.objects.keys.len() as u64));
        group.bench_function(self.name, |bencher| {
            bencher.iter(|| {
                let mut n = 0;
                reader.visit(&mut |it| n += it.stamp.version.as_str().len());
                n
            });
        });
    }
}

/// How long one `write` takes, on the average of a while, beside threads that list everything again and again. The while spans many
/// turns of the scheduler, as a short one may fall between two turns of the readers.
#[expect(clippy::disallowed_methods, reason = "a benchmark measures real time")]
fn beside_readers(reader: &impl Look, n_readers: usize, mut write: impl FnMut()) -> Duration {
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
    let (start, mut n_writes) = (Instant::now(), 0);
    while start.elapsed() < WHILE {
        write();
        n_writes += 1;
    }
    let took = start.elapsed();
    stop.store(true, Ordering::Relaxed);
    threads
        .into_iter()
        .for_each(|it| it.join().expect("a reader does not panic"));
    took / n_writes
}
