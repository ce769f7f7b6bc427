//! Random operations against a model that is too simple to be wrong.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use informer_workqueue::{
    AddOptions, Config, DelayedCopy, ItemExponential, Machine, Metrics, Outcome, Priority, Shutdown, Ticket,
};
use proptest::{collection::vec, prelude::*};

use crate::support::{epoch, ms};

#[derive(Debug, Clone)]
enum Op {
    Add(u8, AddOptions),
    Take,
    /// The n-th of those in work, or of those that ended.
    Done(usize, Outcome),
    DoneAgain(usize, Outcome),
    Advance(u64),
    TimeOut,
    Forget(u8),
    Cancel(u8),
    Reschedule(u8, u64),
    ShutDown(Shutdown),
}

fn op() -> impl Strategy<Value = Op> {
    let after = prop_oneof![Just(None), (0..40_u64).prop_map(|it| Some(ms(it)))];
    let how = (after, any::<bool>(), -1..=1).prop_map(|(after, rate_limited, priority)| {
        let mut how = AddOptions::default().priority(priority);
        how.after = after;
        how.rate_limited = rate_limited;
        how
    });
    let outcome = prop_oneof![
        Just(Outcome::Done),
        Just(Outcome::Forget),
        Just(Outcome::Retry),
        (0..20_u64).prop_map(|it| Outcome::RetryAfter(ms(it))),
    ];
    let shutdown = prop_oneof![
        Just(Shutdown::Now),
        Just(Shutdown::InHand),
        any::<bool>().prop_map(|queued| Shutdown::Drain { queued })
    ];
    prop_oneof![
        12 => (0..5_u8, how).prop_map(|(item, how)| Op::Add(item, how)),
        10 => Just(Op::Take),
        8 => (0..4_usize, outcome.clone()).prop_map(|(n, outcome)| Op::Done(n, outcome)),
        1 => (0..4_usize, outcome).prop_map(|(n, outcome)| Op::DoneAgain(n, outcome)),
        8 => (0..15_u64).prop_map(Op::Advance),
        2 => Just(Op::TimeOut),
        1 => (0..5_u8).prop_map(Op::Forget),
        2 => (0..5_u8).prop_map(Op::Cancel),
        3 => (0..5_u8, 0..40_u64).prop_map(|(item, delay)| Op::Reschedule(item, delay)),
        1 => shutdown.prop_map(Op::ShutDown),
    ]
}

/// Lists that are searched from end to end.
struct Model {
    absorb: bool,
    now: Instant,
    /// In order of arrival. An item in work that was added again is marked, and arrives when it is done.
    ready: Vec<(u8, i32)>,
    again: Vec<(u8, i32)>,
    delayed: Vec<(Instant, u8, i32)>,
    running: Vec<(u8, i32)>,
    failures: BTreeMap<u8, u32>,
    closing: Option<Shutdown>,
}

impl Model {
    fn limit(&mut self, item: u8) -> Duration {
        let failures = self.failures.entry(item).or_default();
        *failures += 1;
        ms(5 << (*failures - 1).min(20)).min(ms(1_000_000))
    }

    fn add(&mut self, item: u8, how: AddOptions) {
        self.promote();
        if self.closing.is_some() {
            return;
        }
        let limit = how.rate_limited.then(|| self.limit(item));
        let delay = match (how.after, limit) {
            (None, None) => Duration::ZERO,
            (Some(one), Some(other)) => one.min(other),
            (Some(one), None) | (None, Some(one)) => one,
        };
        if delay.is_zero() {
            self.make_ready(item, how.priority);
            return;
        }
        let waits = |list: &[(u8, i32)]| list.iter().any(|it| it.0 == item);
        if self.absorb && (waits(&self.ready) || waits(&self.again)) {
            self.make_ready(item, how.priority);
            return;
        }
        let mut entry = (self.now + delay, item, how.priority);
        if let Some(at) = self.delayed.iter().position(|it| it.1 == item) {
            entry.2 = entry.2.max(self.delayed[at].2);
            if self.delayed[at].0 <= entry.0 {
                self.delayed[at].2 = entry.2;
                return;
            }
            self.delayed.remove(at);
        }
        self.delayed.push(entry);
        self.delayed.sort_by_key(|it| it.0);
    }

    fn make_ready(&mut self, item: u8, mut priority: i32) {
        if self.absorb
            && let Some(at) = self.delayed.iter().position(|it| it.1 == item)
        {
            priority = priority.max(self.delayed.remove(at).2);
        }
        if let Some(at) = self.ready.iter().position(|it| it.0 == item) {
            if priority > self.ready[at].1 {
                self.ready.remove(at);
                self.ready.push((item, priority));
            }
        } else if let Some(marked) = self.again.iter_mut().find(|it| it.0 == item) {
            marked.1 = marked.1.max(priority);
        } else if self.running.iter().any(|it| it.0 == item) {
            self.again.push((item, priority));
        } else {
            self.ready.push((item, priority));
        }
    }

    /// What is due is ready before anything that comes later. Whether anything came to the ready ones.
    fn promote(&mut self) -> bool {
        let before = self.ready.len();
        while self.delayed.first().is_some_and(|it| it.0 <= self.now) {
            let (_, item, priority) = self.delayed.remove(0);
            self.make_ready(item, priority);
        }
        self.ready.len() > before
    }

    fn take(&mut self) -> Option<(u8, i32, u32)> {
        self.promote();
        let best = self.ready.iter().map(|it| it.1).max()?;
        let at = self.ready.iter().position(|it| it.1 == best)?;
        let (item, priority) = self.ready.remove(at);
        self.running.push((item, priority));
        Some((item, priority, self.failures.get(&item).copied().unwrap_or(0)))
    }

    fn done(&mut self, n: usize, outcome: Outcome) {
        self.promote();
        let (item, priority) = self.running.remove(n);
        if let Some(at) = self.again.iter().position(|it| it.0 == item) {
            let marked = self.again.remove(at);
            self.ready.push(marked);
        }
        match outcome {
            Outcome::Forget => drop(self.failures.remove(&item)),
            Outcome::Retry => self.add(item, AddOptions::rate_limited().priority(priority)),
            Outcome::RetryAfter(delay) => {
                self.failures.remove(&item);
                self.add(item, AddOptions::after(delay).priority(priority));
            }
            _ => {}
        }
    }

    fn cancel(&mut self, item: u8) -> bool {
        let before = self.delayed.len();
        self.delayed.retain(|it| it.1 != item);
        self.delayed.len() < before
    }

    fn reschedule(&mut self, item: u8, delay: Duration) -> bool {
        let Some(at) = self.delayed.iter().position(|it| it.1 == item) else {
            return false;
        };
        let (_, _, priority) = self.delayed.remove(at);
        if delay.is_zero() {
            self.make_ready(item, priority);
        } else {
            self.delayed.push((self.now + delay, item, priority));
            self.delayed.sort_by_key(|it| it.0);
        }
        true
    }

    /// How many wait at each priority.
    fn levels(&self) -> BTreeMap<i32, usize> {
        let mut levels = BTreeMap::new();
        for (_, priority) in self.ready.iter().chain(&self.again) {
            *levels.entry(*priority).or_default() += 1;
        }
        levels
    }

    fn shut_down(&mut self, how: Shutdown) -> Vec<u8> {
        let hardness = |how| match how {
            Shutdown::Drain { queued: true } => 0,
            Shutdown::InHand => 1,
            Shutdown::Drain { queued: false } => 2,
            Shutdown::Now => 3,
        };
        if self
            .closing
            .is_some_and(|closing| hardness(closing) >= hardness(how))
        {
            return Vec::new();
        }
        self.promote();
        self.closing = Some(how);
        let mut waiting: Vec<u8> = Vec::new();
        let mut ready = self.ready.clone();
        ready.sort_by_key(|it| -it.1);
        waiting.extend(ready.iter().map(|it| it.0));
        let again = |it: &&(u8, i32)| self.again.iter().any(|again| again.0 == it.0);
        waiting.extend(self.running.iter().filter(again).map(|it| it.0));
        let late = std::mem::take(&mut self.delayed).into_iter().map(|it| it.1);
        let late: Vec<u8> = late.filter(|it| !waiting.contains(it)).collect();
        if hardness(how) <= 1 {
            return late;
        }
        self.ready.clear();
        self.again.clear();
        waiting.extend(late);
        waiting
    }

    fn is_drained(&self) -> bool {
        match self.closing {
            None => false,
            Some(Shutdown::Now) => true,
            Some(Shutdown::InHand) => self.running.is_empty(),
            Some(_) => self.ready.is_empty() && self.running.is_empty(),
        }
    }
}

/// The last depths that were told.
#[derive(Debug, Default)]
struct Depths(Mutex<(usize, BTreeMap<i32, usize>)>);

impl Metrics for Depths {
    fn depth(&self, depth: usize) {
        self.0.lock().unwrap().0 = depth;
    }

    fn depth_at(&self, priority: i32, depth: usize) {
        let levels = &mut self.0.lock().unwrap().1;
        levels.insert(priority, depth);
        levels.retain(|_, depth| *depth > 0);
    }
}

fn check(absorb: bool, ops: &[Op]) -> Result<(), TestCaseError> {
    let copy = if absorb {
        DelayedCopy::Absorb
    } else {
        DelayedCopy::Keep
    };
    let depths = Arc::new(Depths::default());
    let config = Config::default()
        .limiter(ItemExponential::default())
        .order(Priority::strict())
        .metrics(depths.clone())
        .delayed_copy(copy);
    let mut machine = Machine::new(config);
    let mut model = Model {
        absorb,
        now: epoch(),
        ready: Vec::new(),
        again: Vec::new(),
        delayed: Vec::new(),
        running: Vec::new(),
        failures: BTreeMap::new(),
        closing: None,
    };
    let mut tickets: Vec<(Ticket, i32)> = Vec::new();
    let mut ended: Vec<Ticket> = Vec::new();
    for op in ops {
        match op {
            Op::Add(item, how) => {
                machine.add(model.now, *item, *how);
                model.add(*item, *how);
            }
            Op::Take => {
                let taken = machine.take(model.now);
                let seen = taken.as_ref().map(|it| (it.item, it.priority, it.failures));
                prop_assert_eq!(seen, model.take());
                tickets.extend(taken.map(|it| (it.ticket, it.priority)));
            }
            Op::Done(n, outcome) if *n < tickets.len() => {
                let (ticket, priority) = tickets.remove(*n);
                machine.done(model.now, ticket, priority, *outcome);
                model.done(*n, *outcome);
                ended.push(ticket);
            }
            Op::DoneAgain(n, outcome) if *n < ended.len() => {
                let was_due = machine.done(model.now, ended[*n], 7, *outcome);
                prop_assert_eq!(was_due, model.promote());
            }
            Op::Done(..) | Op::DoneAgain(..) => {}
            Op::Advance(by) => model.now += ms(*by),
            Op::TimeOut => {
                let was_due = machine.handle_timeout(model.now);
                prop_assert_eq!(was_due, model.promote());
            }
            Op::Forget(item) => {
                machine.forget(item);
                model.failures.remove(item);
            }
            Op::Cancel(item) => prop_assert_eq!(machine.cancel(item), model.cancel(*item)),
            Op::Reschedule(item, delay) => {
                let found = machine.reschedule(model.now, item, ms(*delay)).is_some();
                prop_assert_eq!(found, model.reschedule(*item, ms(*delay)));
            }
            Op::ShutDown(how) => {
                prop_assert_eq!(machine.shut_down(model.now, *how), model.shut_down(*how));
            }
        }
        let stats = machine.stats(model.now);
        prop_assert_eq!(
            (stats.ready, stats.delayed, stats.running),
            (model.ready.len(), model.delayed.len(), model.running.len())
        );
        prop_assert_eq!(machine.poll_timeout(), model.delayed.first().map(|it| it.0));
        {
            let told = depths.0.lock().unwrap();
            prop_assert_eq!(told.0, model.ready.len() + model.again.len());
            prop_assert_eq!(&told.1, &model.levels());
        }
        for item in 0..5 {
            let due = model.delayed.iter().find(|it| it.1 == item).map(|it| it.0);
            prop_assert_eq!(machine.due(&item), due);
        }
        let running: Vec<u8> = machine.running().copied().collect();
        prop_assert_eq!(running, model.running.iter().map(|it| it.0).collect::<Vec<_>>());
        prop_assert_eq!(machine.is_drained(), model.is_drained());
        let closed = model.closing.is_some() && model.ready.is_empty() && model.again.is_empty();
        prop_assert_eq!(machine.is_closed(), closed);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn does_what_the_model_does_when_it_keeps_delayed_copies(ops in vec(op(), 1..40)) {
        check(false, &ops)?;
    }

    #[test]
    fn does_what_the_model_does_when_it_absorbs_them(ops in vec(op(), 1..40)) {
        check(true, &ops)?;
    }
}
