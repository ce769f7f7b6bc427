//! The queue in order against a naive list.

use std::collections::VecDeque;

use informer_core::{Batch, Cause, Delta, DeltaQueue, DeltaSink};
use informer_deltafifo::{InOrder, Options};
use proptest::{collection::vec, prelude::*};

use crate::support::{K, Q, delete, is_ready, list, upsert};

#[derive(Debug, Clone)]
enum Step {
    Upsert(u8),
    Delete(u8),
    List,
    Resync,
    Bookmark,
    /// Takes a batch and settles it; bits say which of it failed.
    Process {
        max: usize,
        failed: u8,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..4_u8).prop_map(Step::Upsert),
        2 => (0..4_u8).prop_map(Step::Delete),
        1 => Just(Step::List),
        1 => Just(Step::Resync),
        1 => Just(Step::Bookmark),
        6 => (1..6_usize, any::<u8>(), any::<bool>()).prop_map(|(max, failed, fails)| Step::Process {
            max,
            failed: if fails { failed } else { 0 },
        }),
    ]
}

/// What is queued: its text, its key, whether it is of the initial population and not counted yet.
#[derive(Debug, Clone)]
struct Waits {
    text: String,
    key: Option<u8>,
    counts: bool,
}

#[derive(Default)]
struct Model {
    items: VecDeque<Waits>,
    populated: bool,
    synced: bool,
}

impl Model {
    fn push(&mut self, text: String, key: Option<u8>, is_list: bool) {
        let first = !self.populated && (key.is_some() || is_list);
        self.items.push_back(Waits {
            text,
            key,
            counts: false,
        });
        if first {
            self.populated = true;
            self.synced = !is_list;
            if is_list {
                self.items.iter_mut().for_each(|it| it.counts = true);
            }
        }
    }

    fn n_counting(&self) -> usize {
        self.items.iter().filter(|it| it.counts).count()
    }

    fn pop(&mut self, max: usize) -> (Vec<Waits>, bool) {
        let initial = !self.populated || self.n_counting() > 0;
        let mut batch: Vec<Waits> = Vec::new();
        while batch.len() < max.min(4) {
            let Some(next) = self.items.front() else { break };
            // Nothing that came after the initial population goes with it.
            let ends_initial = initial && self.populated && self.n_counting() == 0;
            let again = batch.iter().any(|it| it.key == next.key);
            if ends_initial || again || (next.key.is_none() && !batch.is_empty()) {
                break;
            }
            let alone = next.key.is_none();
            batch.extend(self.items.pop_front());
            if alone {
                break;
            }
        }
        (batch, initial)
    }

    fn settle(&mut self, failed: Vec<Waits>) {
        let waiting = self.items.clone();
        let waits = |what: &str| waiting.iter().any(|it| it.text.starts_with(what));
        for mut it in failed.into_iter().rev() {
            let moot = match it.key {
                Some(_) => waiting.iter().any(|other| other.key == it.key) || waits("Replace"),
                None if it.text.starts_with("Replace") => waits("Replace"),
                None if it.text.starts_with("Bookmark") => waits("Replace") || waits("Bookmark"),
                None => waits("Resync"),
            };
            it.counts = self.populated && !self.synced && it.text.starts_with("Replace");
            if !moot {
                self.items.push_front(it);
            }
        }
        self.synced |= self.populated && self.n_counting() == 0;
    }
}

fn texts(items: &[Waits]) -> Vec<&str> {
    items.iter().map(|it| it.text.as_str()).collect()
}

fn is_failed(at: usize, failed: u8) -> bool {
    failed >> (at % 8) & 1 == 1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn does_what_a_list_does(steps in vec(step(), 0..48)) {
        let mut queue: InOrder<Q, K> = InOrder::new(Options::new(4, 8));
        let mut model = Model::default();
        for (n, step) in steps.into_iter().enumerate() {
            let (delta, key, is_list) = match step {
                Step::Upsert(key) => (upsert(&format!("{key}@{n}"), Cause::Modified), Some(key), false),
                Step::Delete(key) => (delete(&format!("{key}@{n}"), true), Some(key), false),
                Step::List => (list(["0@1"], &n.to_string()), None, true),
                Step::Resync => (Delta::Resync, None, false),
                Step::Bookmark => (Delta::Bookmark { at: n.to_string().as_str().into(), may_rewind: false }, None, false),
                Step::Process { max, failed } => {
                    let mut batch = Batch::default();
                    let n_popped = queue.pop_into(&mut batch, max);
                    let (expected, initial) = model.pop(max);
                    prop_assert_eq!(n_popped, expected.len());
                    let shown: Vec<_> = batch.deltas.iter().map(|it| format!("{it:?}")).collect();
                    prop_assert_eq!(&shown, &texts(&expected));
                    prop_assert!(batch.in_order);
                    if n_popped == 0 {
                        prop_assert!(queue.is_empty(), "nothing came, though something waits");
                        continue;
                    }
                    prop_assert_eq!(batch.initial, initial);
                    let kept = |at: &usize| is_failed(*at, failed);
                    let failed_deltas = batch.deltas.into_iter().enumerate().filter(|(at, _)| kept(at));
                    queue.settle(failed_deltas.map(|(_, it)| it).collect());
                    let failed_model = expected.into_iter().enumerate().filter(|(at, _)| kept(at));
                    model.settle(failed_model.map(|(_, it)| it).collect());
                    prop_assert_eq!(queue.has_synced(), model.synced);
                    continue;
                }
            };
            model.push(format!("{delta:?}"), key, is_list);
            queue.push(delta);
            prop_assert_eq!(queue.len(), model.items.len());
            prop_assert_eq!(queue.has_synced(), model.synced);
            prop_assert_eq!(is_ready(&mut queue), model.items.len() < 8);
        }
    }
}
