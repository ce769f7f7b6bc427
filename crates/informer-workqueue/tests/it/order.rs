//! Orders: a user's own, and priorities that age.

use std::time::Instant;

use informer_workqueue::{AddOptions, Config, Machine, Order, Priority};

use crate::support::{epoch, ms};

/// The last that came is the first that goes.
struct Stack(Vec<u32>);

impl Order<u32> for Stack {
    fn push(&mut self, _: Instant, item: u32, _: i32) {
        self.0.push(item);
    }

    fn touch(&mut self, _: Instant, item: &u32, _: i32) {
        self.0.retain(|it| it != item);
        self.0.push(*item);
    }

    fn pop(&mut self, _: Instant) -> Option<u32> {
        self.0.pop()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

#[test]
fn an_own_order_is_followed_and_hears_of_adds_again() {
    let mut machine = Machine::new(Config::default().order(Stack(Vec::new())));
    let now = epoch();
    for item in [1, 2, 3, 1] {
        machine.add(now, item, AddOptions::default());
    }
    let taken: Vec<_> = std::iter::from_fn(|| machine.take(now))
        .map(|it| it.item)
        .collect();
    assert_eq!(taken, [1, 3, 2]);
}

/// controller-runtime issue 3496: five keys at 0 that are always busy, ten at −100, and the ten were never served.
#[test]
fn nothing_starves_with_aging() {
    let served = |order: Priority<u32>| {
        let mut machine = Machine::new(Config::default().order(order));
        let mut now = epoch();
        (0..10).for_each(|item| {
            machine.add(now, 100 + item, AddOptions::default().priority(-100));
        });
        let mut low = 0;
        for turn in 0..10_000 {
            machine.add(now, turn % 5, AddOptions::default());
            machine.add(now, (turn + 1) % 5, AddOptions::default());
            let taken = machine.take(now).unwrap();
            low += u32::from(taken.item >= 100);
            now += ms(2);
            machine.done(
                now,
                taken.ticket,
                taken.priority,
                informer_workqueue::Outcome::Forget,
            );
        }
        low
    };
    assert_eq!(served(Priority::strict()), 0);
    assert_eq!(served(Priority::default()), 10);
}

#[test]
fn extreme_priorities_are_ordered() {
    let mut machine = Machine::new(Config::default().order(Priority::aging(std::time::Duration::MAX)));
    let now = epoch();
    machine.add(now, "low", AddOptions::default().priority(i32::MIN));
    machine.add(now, "high", AddOptions::default().priority(i32::MAX));
    assert_eq!(machine.take(now).unwrap().item, "high");
    assert_eq!(machine.take(now).unwrap().item, "low");
}
