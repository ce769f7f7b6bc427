//! The coalescing queue on its own terms against a naive one: a list of keys with their deltas, searched from the front each time.

use std::collections::{BTreeMap, BTreeSet};

use informer_core::{Cause, Delta, Store};
use informer_deltafifo::DeltaFifo;
use proptest::{collection::vec, prelude::*};

use crate::support::{K, Known, Q, entry, parts};

#[derive(Debug, Clone)]
enum Step {
    Add(u8),
    Update(u8),
    Delete {
        key: u8,
        observed: bool,
    },
    Replace(BTreeSet<u8>),
    Resync,
    /// Takes a key. While it is in hand these steps come; then it is done, or fails.
    Process {
        meanwhile: Vec<Self>,
        fails: bool,
    },
}

fn input() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..5_u8).prop_map(Step::Add),
        4 => (0..5_u8).prop_map(Step::Update),
        3 => (0..5_u8, any::<bool>()).prop_map(|(key, observed)| Step::Delete { key, observed }),
        2 => prop::collection::btree_set(0..5_u8, 0..5).prop_map(Step::Replace),
        1 => Just(Step::Resync),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => input(),
        1 => (vec(input(), 0..3), prop::bool::weighted(0.2))
            .prop_map(|(meanwhile, fails)| Step::Process { meanwhile, fails }),
    ]
}

/// Kind and version of a delta, and whether a delete was observed.
type Seen = (&'static str, String, bool);

#[derive(Default)]
struct Model {
    queue: Vec<(String, Vec<Seen>)>,
    /// What the store will hold once what is in hand is done: key to version.
    known: BTreeMap<String, String>,
    in_hand: Option<String>,
    populated: bool,
    n_initial: usize,
}

impl Model {
    fn waits(&self, key: &str) -> bool {
        self.queue.iter().any(|(it, _)| it == key)
    }

    fn queue(&mut self, key: &str, seen: Seen) {
        if !self.waits(key) {
            self.queue.push((key.to_owned(), Vec::new()));
        }
        let deltas = &mut self.queue.iter_mut().find(|(it, _)| it == key).unwrap().1;
        match deltas.last_mut() {
            Some(last) if last.0 == "Deleted" && seen.0 == "Deleted" => {
                if !last.2 {
                    *last = seen;
                }
            }
            _ => deltas.push(seen),
        }
    }

    fn input(&mut self, step: &Step, version: &str) {
        let first = !self.populated && !matches!(step, Step::Resync);
        match step {
            Step::Add(key) => self.queue(&key.to_string(), ("Added", version.into(), true)),
            Step::Update(key) => self.queue(&key.to_string(), ("Updated", version.into(), true)),
            Step::Delete { key, observed } => {
                let key = key.to_string();
                if self.waits(&key) || self.known.contains_key(&key) {
                    self.queue(&key, ("Deleted", version.into(), *observed));
                }
            }
            Step::Replace(keys) => {
                let queued: Vec<_> = self.queue.iter().map(|(key, _)| key.clone()).collect();
                let listed = |key: &String| keys.iter().any(|it| it.to_string() == *key);
                for key in keys {
                    self.queue(&key.to_string(), ("Replaced", version.into(), true));
                }
                for key in queued.iter().filter(|key| !listed(key)) {
                    let deltas = &self.queue.iter().find(|(it, _)| it == key).unwrap().1;
                    let newest = deltas.last().unwrap().1.clone();
                    self.queue(key, ("Deleted", newest, false));
                }
                for (key, version) in self.known.clone() {
                    if !listed(&key) && !queued.contains(&key) {
                        self.queue(&key, ("Deleted", version, false));
                    }
                }
                if first {
                    self.n_initial = self.queue.len();
                }
            }
            Step::Resync => {
                for (key, version) in self.known.clone() {
                    if !self.waits(&key) && self.in_hand.as_ref() != Some(&key) {
                        self.queue(&key, ("Sync", version, true));
                    }
                }
            }
            Step::Process { .. } => unreachable!("only inputs while a key is in hand"),
        }
        self.populated |= first;
    }

    fn synced(&self) -> bool {
        self.populated && self.n_initial == 0
    }
}

fn push(fifo: &mut DeltaFifo<Q, K>, step: &Step, version: &str) {
    let text = |key: &u8| format!("{key}@{version}");
    match step {
        Step::Add(key) => fifo.add(entry(&text(key))),
        Step::Update(key) => fifo.update(entry(&text(key))),
        Step::Delete { key, observed } => {
            let (key, stamp) = parts(&text(key));
            fifo.delete(key, stamp, None, *observed);
        }
        Step::Replace(keys) => fifo.replace(keys.iter().map(|key| entry(&text(key))).collect(), Vec::new()),
        Step::Resync => fifo.resync(),
        Step::Process { .. } => unreachable!("only inputs while a key is in hand"),
    }
}

fn seen(delta: &Delta<Q, K>) -> Seen {
    match delta {
        Delta::Upsert(entry, cause) => {
            let kind = match cause {
                Cause::Added => "Added",
                Cause::Modified => "Updated",
                Cause::Listed => "Replaced",
                Cause::Sync => "Sync",
            };
            (kind, entry.stamp.version.to_string(), true)
        }
        Delta::Delete { stamp, observed, .. } => ("Deleted", stamp.version.to_string(), *observed),
        other => panic!("{other:?} in the deltas of a key"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn does_what_a_naive_one_does(steps in vec(step(), 0..48)) {
        let known = Known::default();
        let mut fifo: DeltaFifo<Q, K> = DeltaFifo::new(known.shared());
        let mut model = Model::default();
        let mut version = 0;
        let mut next = || {
            version += 1;
            version.to_string()
        };
        for step in &steps {
            let Step::Process { meanwhile, fails } = step else {
                let version = next();
                push(&mut fifo, step, &version);
                model.input(step, &version);
                continue;
            };
            let initial = !model.synced();
            let Some(popped) = fifo.pop() else {
                prop_assert!(model.queue.is_empty());
                continue;
            };
            let (key, deltas) = model.queue.remove(0);
            prop_assert_eq!(popped.initial, initial);
            model.n_initial = model.n_initial.saturating_sub(1);
            prop_assert_eq!(&popped.key, &key);
            prop_assert_eq!(popped.deltas.iter().map(seen).collect::<Vec<_>>(), deltas.clone());
            // The model's store has it at once, as under client-go's lock.
            let before = model.known.clone();
            match deltas.last().unwrap() {
                ("Deleted", ..) => { model.known.remove(&key); }
                (_, version, _) => { model.known.insert(key.clone(), version.clone()); }
            }
            model.in_hand = Some(key.clone());
            for step in meanwhile {
                let version = next();
                push(&mut fifo, step, &version);
                model.input(step, &version);
            }
            model.in_hand = None;
            if *fails {
                model.known = before;
                if !model.waits(&key) {
                    model.queue.push((key, deltas));
                }
                fifo.requeue(popped);
            } else {
                for delta in &popped.deltas {
                    match delta {
                        Delta::Upsert(entry, _) => known.put(entry.clone()),
                        other => known.apply(other),
                    }
                }
                fifo.done(&popped.key);
            }
            prop_assert_eq!(known.list().len(), model.known.len());
            prop_assert_eq!(fifo.has_synced(), model.synced());
            prop_assert_eq!(fifo.len(), model.queue.len());
        }
    }
}
