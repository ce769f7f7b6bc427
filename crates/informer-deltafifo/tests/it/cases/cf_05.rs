//! CF-05: a resync must not travel back, nor raise the dead (client-go 3f0de10d8).

use std::{collections::BTreeMap, sync::Arc};

use informer_core::{Cause, Delta, DeltaQueue, Store};
use informer_deltafifo::{Coalescing, InOrder, Options};

use crate::support::{K, Known, Q, delete, entry, upsert};

/// A queue, the store behind it, and what its one handler was told last of each key: a version, or that it is gone.
struct Pipeline {
    queue: Box<dyn DeltaQueue<Q, K>>,
    known: Known,
    told: BTreeMap<Q, Option<u32>>,
    n_repeats: usize,
}

impl Pipeline {
    fn both() -> [Self; 2] {
        let known = Known::default();
        let coalescing = Coalescing::new(known.shared(), Options::new(4, 8));
        [
            Self::new(Box::new(InOrder::new(Options::new(4, 8))), Known::default()),
            Self::new(Box::new(coalescing), known),
        ]
    }

    fn new(queue: Box<dyn DeltaQueue<Q, K>>, known: Known) -> Self {
        Self {
            queue,
            known,
            told: BTreeMap::new(),
            n_repeats: 0,
        }
    }

    fn stored(&mut self, text: &str) {
        let entry = entry(text);
        let version = entry.stamp.version.as_str().parse().unwrap();
        self.told.insert(entry.key.clone(), Some(version));
        self.known.put(entry);
    }

    /// Takes a batch; `meanwhile` happens before it is processed.
    fn process(&mut self, max: usize, meanwhile: impl FnOnce(&mut dyn DeltaQueue<Q, K>)) -> bool {
        let mut batch = informer_core::Batch::default();
        if self.queue.pop_into(&mut batch, max) == 0 {
            meanwhile(&mut self.queue);
            return false;
        }
        meanwhile(&mut self.queue);
        for delta in &batch.deltas {
            self.tell(delta);
            self.known.apply(delta);
        }
        self.queue.settle(Vec::new());
        true
    }

    fn drain(&mut self) {
        while self.process(4, |_| {}) {}
    }

    fn tell(&mut self, delta: &Delta<Q, K>) {
        match delta {
            Delta::Upsert(entry, cause) => {
                let version: u32 = entry.stamp.version.as_str().parse().unwrap();
                let told = self.told.insert(entry.key.clone(), Some(version)).flatten();
                if *cause == Cause::Sync {
                    assert_eq!(told, Some(version), "{delta:?} repeats what is not there");
                    self.n_repeats += 1;
                } else {
                    assert!(told.is_none_or(|told| told < version), "{delta:?} after {told:?}");
                }
            }
            Delta::Delete { key, .. } => {
                self.told.insert(key.clone(), None);
            }
            // Taken from the store when it is processed.
            Delta::Resync => self.n_repeats += self.known.len(),
            // How far the coalescing queue is.
            Delta::Bookmark { .. } => {}
            other => panic!("nobody pushed {other:?}"),
        }
    }
}

#[test]
fn cf_05_a_resync_behind_an_update_does_not_go_back() {
    for mut it in Pipeline::both() {
        it.stored("a@1");
        it.queue.push(upsert("a@2", Cause::Modified));
        it.queue.push(Delta::Resync);
        it.drain();
        assert_eq!(it.known.show(), r#"["a"@2]"#);
        assert_eq!(it.told["a"], Some(2));
    }
}

#[test]
fn cf_05_a_resync_behind_a_delete_raises_nothing() {
    for mut it in Pipeline::both() {
        it.stored("a@1");
        it.queue.push(delete("a@2", true));
        it.queue.push(Delta::Resync);
        it.drain();
        assert_eq!(it.known.show(), "[]");
        assert_eq!((it.told["a"], it.n_repeats), (None, 0));
    }
}

#[test]
fn cf_05_what_goes_while_a_resync_is_handed_out_stays_gone() {
    for mut it in Pipeline::both() {
        it.stored("a@1");
        it.stored("b@2");
        it.queue.push(Delta::Resync);
        it.process(1, |queue| {
            queue.push(delete("b@3", true));
            queue.push(Delta::Resync);
        });
        it.drain();
        assert_eq!(it.known.show(), r#"["a"@1]"#);
        assert_eq!(it.told["b"], None);
    }
}

#[test]
fn cf_05_a_resync_after_every_few_of_many_changes_keeps_the_order_of_each_key() {
    for mut it in Pipeline::both() {
        // Seeded by hand, so that every run is the same (xorshift).
        let mut seed = 0x9e37_79b9_u32;
        let mut random = move |below: u32| {
            seed ^= seed << 13;
            seed ^= seed >> 17;
            seed ^= seed << 5;
            seed % below
        };
        let mut there = BTreeMap::new();
        for version in 1..20_000_u32 {
            let key = format!("k{}", random(8));
            let is_there = there.entry(key.clone()).or_insert(false);
            let delta = if *is_there && random(3) == 0 {
                *is_there = false;
                delete(&format!("{key}@{version}"), true)
            } else {
                let cause = if *is_there { Cause::Modified } else { Cause::Added };
                *is_there = true;
                upsert(&format!("{key}@{version}"), cause)
            };
            let resyncs = random(5) == 0;
            let meanwhile = move |queue: &mut dyn DeltaQueue<Q, K>| {
                queue.push(delta);
                if resyncs {
                    queue.push(Delta::Resync);
                }
            };
            if random(2) == 0 {
                it.process(3, meanwhile);
            } else {
                meanwhile(&mut it.queue);
            }
        }
        it.drain();
        let expected: Vec<_> = there.into_iter().filter(|(_, is_there)| *is_there).collect();
        let stored = Store::list(&Arc::new(it.known.clone()));
        assert!(
            stored
                .iter()
                .map(|it| &it.key)
                .eq(expected.iter().map(|(key, _)| key))
        );
        for entry in stored {
            assert_eq!(
                it.told[&entry.key],
                Some(entry.stamp.version.as_str().parse().unwrap())
            );
        }
        assert!(it.n_repeats > 100, "{} repeats", it.n_repeats);
    }
}
