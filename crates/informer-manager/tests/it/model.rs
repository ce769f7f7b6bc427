//! The machine under random inputs: what must hold whatever happens, in whatever order.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use informer_core::{Clock, TokioClock};
use informer_manager::{
    Group,
    machine::{Action, Grace, Id, Input, Late, Machine, Options},
};

/// A generator that is the same on every machine (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }
}

/// What the driver would know.
struct World {
    dice: Dice,
    now: Instant,
    machine: Machine,
    groups: BTreeMap<Id, Group>,
    running: BTreeSet<Id>,
    asked: BTreeSet<Id>,
    election: bool,
    campaigning: bool,
    leading: bool,
    resigned: bool,
    stopping: bool,
    finished: bool,
}

impl World {
    fn new(seed: u64, start: Instant) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        let election = dice.roll(2) == 0;
        let grace = match dice.roll(4) {
            0 => Grace::Forever,
            1 => Grace::For(Duration::ZERO),
            _ => Grace::For(Duration::from_secs(30)),
        };
        let options = Options {
            grace,
            ready_within: (dice.roll(3) > 0).then(|| Duration::from_secs(120)),
            late: if dice.roll(2) == 0 { Late::GoOn } else { Late::Fail },
            election,
        };
        Self {
            dice,
            now: start,
            machine: Machine::new(options),
            groups: BTreeMap::new(),
            running: BTreeSet::new(),
            asked: BTreeSet::new(),
            election,
            campaigning: false,
            leading: false,
            resigned: false,
            stopping: false,
            finished: false,
        }
    }

    fn any(&mut self, ids: &BTreeSet<Id>) -> Option<Id> {
        let n = self.dice.roll(ids.len().max(1) as u64);
        ids.iter().nth(usize::try_from(n).unwrap()).copied()
    }

    fn step(&mut self) {
        let now = self.now;
        let running = self.running.clone();
        match self.dice.roll(12) {
            0 | 1 => {
                let group = Group::START[usize::try_from(self.dice.roll(7)).unwrap()];
                if let Ok(id) = self.machine.add(group) {
                    assert!(!self.stopping, "nothing is added while it stops");
                    self.groups.insert(id, group);
                }
            }
            2 => self.machine.handle_input(now, Input::Start),
            3..=5 => {
                if let Some(id) = self.any(&running) {
                    self.machine.handle_input(now, Input::Ready(id));
                }
            }
            6 => self.end_one(),
            7 if self.campaigning => self.machine.handle_input(now, Input::Elected),
            8 => {
                let past = Duration::from_secs(self.dice.roll(40));
                self.now += past;
                let now = self.now;
                self.machine.handle_timeout(now);
            }
            9 if self.dice.roll(6) == 0 => {
                if let Some(id) = self.any(&running) {
                    self.machine.remove(now, id);
                }
            }
            10 if self.dice.roll(12) == 0 => self.machine.handle_input(now, Input::Lost),
            11 if self.dice.roll(8) == 0 => self.machine.handle_input(now, Input::Stop),
            _ => {}
        }
        self.drain();
    }

    fn end_one(&mut self) {
        let running = self.running.clone();
        if let Some(id) = self.any(&running) {
            self.running.remove(&id);
            let failed = self.dice.roll(10) == 0;
            self.machine.handle_input(self.now, Input::Ended { id, failed });
        }
    }

    fn drain(&mut self) {
        while let Some(action) = self.machine.poll_action() {
            assert!(!self.finished, "nothing comes after the end");
            match action {
                Action::Launch(id) => self.launched(id),
                Action::Stop(id) => {
                    assert!(self.running.contains(&id) && self.asked.insert(id), "asked once")
                }
                Action::Cut(id) => assert!(self.running.contains(&id)),
                Action::Campaign => {
                    assert!(self.election && !self.campaigning);
                    self.campaigning = true;
                }
                Action::Lead => {
                    assert!(!self.leading && !self.stopping && (self.campaigning || !self.election));
                    self.leading = true;
                }
                Action::Follow => assert!(std::mem::take(&mut self.leading)),
                Action::Resign => {
                    let leads = |id: &&Id| self.groups[*id].leads();
                    assert_eq!(
                        self.running.iter().filter(leads).count(),
                        0,
                        "the lease is still needed"
                    );
                    assert!(self.campaigning && !self.leading && !self.resigned);
                    self.resigned = true;
                }
                Action::Stopping(_) => {
                    assert!(!self.stopping, "it stops once");
                    self.stopping = true;
                }
                Action::CutElection => assert!(self.campaigning),
                Action::Late(_) => {}
                Action::Finish => self.finished = true,
            }
        }
    }

    fn launched(&mut self, id: Id) {
        assert!(!self.stopping, "nothing starts while it stops");
        let group = self.groups[&id];
        assert!(group != Group::LeaderElection || self.leading, "it does not lead");
        assert!(self.running.insert(id), "launched once");
    }

    /// Everything ends that can, and time passes: it must come to its end.
    fn finish(&mut self) {
        self.machine.handle_input(self.now, Input::Stop);
        self.drain();
        for _ in 0..1000 {
            if self.finished {
                return;
            }
            if self.resigned && self.dice.roll(2) == 0 {
                self.machine
                    .handle_input(self.now, Input::ElectionEnded { failed: false });
                self.drain();
            }
            self.end_one();
            if self.running.is_empty()
                && let Some(at) = self.machine.poll_timeout()
            {
                self.now = self.now.max(at);
                self.machine.handle_timeout(self.now);
            }
            self.drain();
        }
        panic!("it does not end: {:?}", self.machine);
    }
}

#[test]
fn what_holds_whatever_happens() {
    let start = TokioClock.now();
    for seed in 1..20_000 {
        let mut world = World::new(seed, start);
        for _ in 0..40 {
            world.step();
        }
        world.finish();
        assert!(!world.leading, "seed {seed}");
    }
}
