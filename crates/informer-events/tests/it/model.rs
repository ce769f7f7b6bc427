//! Random floods and random failures against a naive server: no count is lost.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use informer_events::{Fate, Grouping, Machine, Options, Refusal, Verb, Write};
use proptest::prelude::*;

use crate::support::{epoch, event, secs};

#[derive(Debug, Clone)]
enum Op {
    Event { reason: u8, times: u8 },
    Advance(u16),
    Send,
    Answer { index: u8, how: u8 },
    Expire,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (0_u8..4, 1_u8..5).prop_map(|(reason, times)| Op::Event { reason, times }),
        2 => (1_u16..900).prop_map(Op::Advance),
        4 => Just(Op::Send),
        4 => (any::<u8>(), 0_u8..8).prop_map(|(index, how)| Op::Answer { index, how }),
        1 => Just(Op::Expire),
    ]
}

/// The server keeps the count of each event.
struct World {
    machine: Machine,
    now: Instant,
    kept: BTreeMap<String, u32>,
    /// What the server forgot, with the count it had.
    expired: BTreeMap<String, u32>,
    under_way: Vec<Write>,
    recorded: u64,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut options = Options::default();
        options.burst = u32::MAX;
        options.refill_every = Duration::ZERO;
        options.max_tries = u32::MAX;
        options.combine_at = 3;
        Self {
            machine: Machine::new(options, seed),
            now: epoch(),
            kept: BTreeMap::new(),
            expired: BTreeMap::new(),
            under_way: Vec::new(),
            recorded: 0,
        }
    }

    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Event { reason, times } => {
                for _ in 0..times {
                    let event = event("web", &format!("R{}", reason / 2), &format!("{reason}"));
                    let fate = self.machine.handle_event(self.now, event);
                    assert!(matches!(fate, Fate::Queued | Fate::Counted), "{fate:?}");
                    self.recorded += 1;
                }
            }
            Op::Advance(by) => {
                self.now += secs(by.into());
                self.machine.handle_timeout(self.now);
                let due = self.machine.poll_timeout();
                assert!(due.is_none_or(|due| due > self.now));
            }
            Op::Send => self.send(),
            Op::Answer { index, how } => self.answer(index.into(), how),
            Op::Expire => self.expired.append(&mut std::mem::take(&mut self.kept)),
        }
        let names: BTreeSet<_> = self
            .under_way
            .iter()
            .map(|write| write.event.metadata.name.clone())
            .collect();
        assert_eq!(names.len(), self.under_way.len(), "two writes of one event");
    }

    fn send(&mut self) {
        while let Some(write) = self.machine.poll_write() {
            self.under_way.push(write);
        }
        assert!(self.under_way.len() <= 4);
    }

    /// The server does it or not, and answers or not.
    fn answer(&mut self, index: usize, how: u8) {
        if self.under_way.is_empty() {
            return;
        }
        let write = self.under_way.swap_remove(index % self.under_way.len());
        let lost = Err(Refusal::Unavailable { retry_after: None });
        let result = match how {
            0 | 1 => lost,
            2 => {
                let _done = self.serve(&write);
                lost
            }
            _ => self.serve(&write),
        };
        assert!(self.machine.handle_written(self.now, write.id, result).is_some());
    }

    fn serve(&mut self, write: &Write) -> Result<(), Refusal> {
        let name = &write.event.metadata.name;
        let count = write.event.count();
        match (write.verb, self.kept.get_mut(name)) {
            (Verb::Create, Some(_)) => Err(Refusal::Exists),
            (Verb::Patch, None) => Err(Refusal::Gone),
            (Verb::Patch, Some(kept)) => {
                assert!(*kept <= count, "a count went backward");
                *kept = count;
                Ok(())
            }
            (Verb::Create, None) => {
                self.kept.insert(name.clone(), count);
                Ok(())
            }
        }
    }

    /// Stops it, with a server that does what it is asked.
    fn drain(&mut self) {
        self.machine.stop();
        for _ in 0..10_000 {
            self.send();
            while let Some(write) = self.under_way.pop() {
                let result = self.serve(&write);
                self.machine.handle_written(self.now, write.id, result);
            }
            if self.machine.n_writes() == 0 {
                return;
            }
            self.now += secs(20);
            self.machine.handle_timeout(self.now);
        }
        panic!("it does not end: {} writes are left", self.machine.n_writes());
    }
}

proptest! {
    #[test]
    fn no_count_is_lost(ops in proptest::collection::vec(op(), 0..200), seed: u64) {
        let mut world = World::new(seed);
        for op in &ops {
            world.apply(op);
        }
        world.drain();
        // What the server forgot and nobody wrote again counts as it was.
        for (name, count) in std::mem::take(&mut world.expired) {
            world.kept.entry(name).or_insert(count);
        }
        let kept: u64 = world.kept.values().map(|count| u64::from(*count)).sum();
        prop_assert_eq!(kept, world.recorded);
        prop_assert_eq!(world.machine.stats().dropped(), 0);
    }

    /// Whatever comes in, what goes out is bounded by the spam filter, and memory by its options.
    #[test]
    fn bounds_hold(
        ops in proptest::collection::vec((0_u8..40, 0_u8..6, 0_u16..200), 0..400),
        notes: bool,
    ) {
        let mut options = Options::default();
        options.memory = 16;
        options.queue = 8;
        if notes {
            options.grouping = Grouping::Notes;
        }
        let mut machine = Machine::new(options, 1);
        let start = epoch();
        let mut now = start;
        for (reason, note, wait) in ops {
            now += secs(wait.into());
            machine.handle_timeout(now);
            machine.handle_event(now, event("web", &format!("R{reason}"), &format!("{note}")));
            prop_assert!(machine.n_series() <= 16);
            prop_assert!(machine.n_writes() <= 16 + 8);
        }
        let stats = machine.stats();
        let refilled = (now - start).as_secs() / 300;
        prop_assert!(stats.queued <= 25 + refilled, "{stats:?}");
    }
}
