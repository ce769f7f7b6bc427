//! The coalescing queue in a whole: a server whose watch is cut, a consumer that fails now and then, and what must hold of it all.

use std::collections::{BTreeMap, BTreeSet};

use informer_core::{Cause, Delta, DeltaQueue, DeltaSink, Store};
use informer_deltafifo::{Coalescing, Options};
use proptest::{collection::vec, prelude::*};

use crate::support::{K, Known, Q, delete, entry, parts, pop, upsert};

#[derive(Debug, Clone)]
enum Step {
    /// The server writes a key.
    Write {
        key: u8,
        how: How,
    },
    /// The watch is cut: what the server does from now on is missed until it lists.
    Cut,
    List,
    Resync,
    Bookmark,
    Pop {
        max: usize,
    },
    /// Settles what was popped; bits say which of it failed.
    Settle {
        failed: u8,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Put,
    /// Takes it away, or puts it where it is not there.
    Take,
    /// Puts what cannot be read.
    Break,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => (0..4_u8, how()).prop_map(|(key, how)| Step::Write { key, how }),
        1 => Just(Step::Cut),
        2 => Just(Step::List),
        1 => Just(Step::Resync),
        1 => Just(Step::Bookmark),
        5 => (1..5_usize).prop_map(|max| Step::Pop { max }),
        5 => (any::<u8>(), prop::bool::weighted(0.1))
            .prop_map(|(failed, fails)| Step::Settle { failed: if fails { failed } else { 0 } }),
    ]
}

fn how() -> impl Strategy<Value = How> {
    prop_oneof![6 => Just(How::Put), 3 => Just(How::Take), 1 => Just(How::Break)]
}

/// The server: what every key was at every revision.
#[derive(Default)]
struct Server {
    revision: u64,
    now: BTreeMap<String, u64>,
    /// Keys that cannot be read now, and those that ever could not.
    broken: BTreeSet<String>,
    ever_broken: BTreeSet<String>,
    /// Key to (revision, version or absent), oldest first.
    history: BTreeMap<String, Vec<(u64, Option<u64>)>>,
}

impl Server {
    fn write(&mut self, key: u8, how: How) -> Delta<Q, K> {
        let key = key.to_string();
        self.revision += 1;
        let text = format!("{key}@{}", self.revision);
        self.broken.remove(&key);
        if how == How::Break {
            self.now.insert(key.clone(), self.revision);
            self.broken.insert(key.clone());
            self.ever_broken.insert(key.clone());
            return Delta::Unreadable {
                key,
                stamp: parts(&text).1,
            };
        }
        let take = how == How::Take;
        let old = if take {
            self.now.remove(&key)
        } else {
            self.now.insert(key.clone(), self.revision)
        };
        let gone = take && old.is_some();
        if take && !gone {
            self.now.insert(key.clone(), self.revision);
        }
        let now = self.now.get(&key).copied();
        self.history.entry(key).or_default().push((self.revision, now));
        match (gone, old) {
            (true, _) => delete(&text, true),
            (_, Some(_)) => upsert(&text, Cause::Modified),
            (_, None) => upsert(&text, Cause::Added),
        }
    }

    fn readable(&self) -> impl Iterator<Item = (&String, &u64)> {
        self.now.iter().filter(|(key, _)| !self.broken.contains(*key))
    }

    fn list(&self) -> Delta<Q, K> {
        Delta::Replace {
            items: self
                .readable()
                .map(|(key, version)| entry(&format!("{key}@{version}")))
                .collect(),
            unreadable: self.broken.iter().cloned().collect(),
            at: self.revision.to_string().as_str().into(),
            may_rewind: false,
        }
    }

    /// Whether this state of a key is that of `revision`, or a later one.
    fn is_from(&self, revision: u64, key: &str, state: Option<u64>) -> bool {
        let empty = Vec::new();
        let history = self.history.get(key).unwrap_or(&empty);
        let at_revision = history
            .iter()
            .rfind(|(at, _)| *at <= revision)
            .and_then(|it| it.1);
        at_revision == state || history.iter().any(|(at, it)| *at > revision && *it == state)
    }
}

/// The consumer: commits to the store, and checks each batch.
struct Consumer {
    queue: Coalescing<Q, K>,
    known: Known,
    in_hand: Option<Vec<Delta<Q, K>>>,
    /// Keys of whose changes one failed: until the next list nothing is promised of them.
    failed: BTreeSet<String>,
    left_initial: bool,
}

impl Consumer {
    fn pop(&mut self, max: usize) {
        if self.in_hand.is_some() {
            return;
        }
        let Some(batch) = pop(&mut self.queue, max) else {
            assert!(self.queue.is_empty(), "nothing came, though something waits");
            return;
        };
        assert!(!batch.in_order && batch.deltas.len() <= max);
        let keys: Vec<_> = batch.deltas.iter().filter_map(Delta::key).collect();
        let distinct: BTreeSet<_> = keys.iter().collect();
        assert_eq!(keys.len(), distinct.len(), "a key twice in {:?}", batch.deltas);
        assert!(
            keys.len() == batch.deltas.len() || batch.deltas.len() == 1,
            "not alone"
        );
        assert!(
            !batch
                .deltas
                .iter()
                .any(|it| matches!(it, Delta::Replace { .. } | Delta::Resync))
        );
        assert!(!(batch.initial && self.left_initial), "initial after later");
        self.left_initial |= !batch.initial;
        self.in_hand = Some(batch.deltas);
    }

    fn settle(&mut self, server: &Server, failed: u8) {
        let Some(deltas) = self.in_hand.take() else {
            return;
        };
        let mut back = Vec::new();
        for (at, delta) in deltas.into_iter().enumerate() {
            if failed >> (at % 8) & 1 == 1 {
                self.failed.extend(delta.key().cloned());
                back.push(delta);
                continue;
            }
            self.commit(server, &delta);
        }
        self.queue.settle(back);
    }

    fn commit(&self, server: &Server, delta: &Delta<Q, K>) {
        if let Delta::Upsert(it, Cause::Sync) = delta {
            // A resync is never of another state than the stored one.
            let stored = self.known.get(&it.key).map(|it| it.stamp);
            assert!(
                stored.as_ref() == Some(&it.stamp) || self.failed.contains(&it.key),
                "{delta:?}, stored {stored:?}"
            );
        }
        if let (Delta::Upsert(new, cause), false) = (delta, matches!(delta, Delta::Upsert(_, Cause::Sync)))
            && let Some(old) = self.known.get(&new.key)
        {
            let order = new.stamp.version.compare(&old.stamp.version).unwrap();
            assert!(
                order.is_gt() || (*cause == Cause::Listed && order.is_eq()),
                "{old:?} went back to {new:?}"
            );
        }
        self.known.apply(delta);
        if let Delta::Bookmark { at, .. } = delta {
            self.check(server, at.as_str().parse().unwrap());
        }
    }

    /// A bookmark says that the store holds every key as it was at that version, or later; of what could not be read an older state.
    fn check(&self, server: &Server, at: u64) {
        let is_sure = |key: &&String| !self.failed.contains(*key) && !server.ever_broken.contains(*key);
        for key in server.history.keys().filter(is_sure) {
            let state = self
                .known
                .get(key)
                .map(|it| it.stamp.version.as_str().parse().unwrap());
            assert!(
                server.is_from(at, key, state),
                "{key} is {state:?} at bookmark {at}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn follows_the_server(steps in vec(step(), 0..64)) {
        let known = Known::default();
        let queue = Coalescing::new(known.shared(), Options::new(4, 8));
        let mut consumer = Consumer { queue, known, in_hand: None, failed: BTreeSet::new(), left_initial: false };
        let mut server = Server::default();
        let mut watching = false;
        for step in steps {
            match step {
                Step::Write { key, how } => {
                    let event = server.write(key, how);
                    if watching {
                        consumer.queue.push(event);
                    }
                }
                Step::Cut => watching = false,
                Step::List => {
                    watching = true;
                    consumer.queue.push(server.list());
                }
                Step::Resync => consumer.queue.push(Delta::Resync),
                Step::Bookmark if watching && server.revision > 0 => {
                    let at = server.revision.to_string().as_str().into();
                    consumer.queue.push(Delta::Bookmark { at, may_rewind: false });
                }
                Step::Bookmark => {}
                Step::Pop { max } => consumer.pop(max),
                Step::Settle { failed } => consumer.settle(&server, failed),
            }
        }
        // The server is left alone, the watch is mended, and nothing fails any more.
        consumer.queue.push(server.list());
        consumer.settle(&server, 0);
        while !consumer.queue.is_empty() {
            consumer.pop(3);
            consumer.settle(&server, 0);
        }
        prop_assert!(consumer.queue.has_synced());
        let entries = consumer.known.list();
        let (stale, read): (Vec<_>, Vec<_>) = entries.iter().partition(|it| server.broken.contains(&it.key));
        let stored: Vec<_> = read.iter().map(|it| format!("{it:?}")).collect();
        let expected: Vec<_> = server.readable().map(|(key, version)| format!("{key:?}@{version}")).collect();
        prop_assert_eq!(stored, expected);
        // What cannot be read is there all the same: in an older state, or by its name.
        let unread: BTreeSet<_> = stale.iter().map(|it| it.key.clone()).chain(consumer.known.unread()).collect();
        prop_assert_eq!(unread, server.broken);
    }
}
