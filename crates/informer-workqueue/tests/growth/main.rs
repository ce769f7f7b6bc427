//! Ten million operations, and no growth. In a process of its own, since it looks at what the process holds.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::time::{Duration, Instant};

use informer_workqueue::{AddOptions, Config, DelayedCopy, ItemExponential, Machine, Outcome, Priority};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Kilobytes that the process holds.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4
}

/// Keys come and go for ever; those that were forgotten are not held. Every kind of input is among the operations.
#[test]
fn ten_million_operations_hold_no_more_than_one_million() {
    let config = Config::default()
        .limiter(ItemExponential::default())
        .order(Priority::default())
        .delayed_copy(DelayedCopy::Absorb);
    let mut machine: Machine<u64> = Machine::new(config);
    let mut random = 3_u64;
    let mut below = move |n: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % n
    };
    #[expect(
        clippy::disallowed_methods,
        reason = "an instant can only be made from the clock"
    )]
    let mut now = Instant::now();
    let mut operations = 0_u64;
    let mut fresh = 0_u64;
    let mut after_a_million = 0;
    while operations < 10_000_000 {
        for _ in 0..4 {
            // A window over ever new keys.
            fresh += 1;
            let key = fresh / 2 + below(64);
            let how = match below(4) {
                0 => AddOptions::after(ms(below(20))),
                1 => AddOptions::rate_limited(),
                _ => AddOptions::default().priority(-100),
            };
            machine.add(now, key, how);
            machine.cancel(&(key + 1));
            operations += 2;
        }
        now += ms(10);
        while let Some(taken) = machine.take(now) {
            let outcome = if taken.failures < 2 {
                Outcome::Retry
            } else {
                Outcome::Forget
            };
            machine.done(now, taken.ticket, taken.priority, outcome);
            operations += 2;
        }
        if after_a_million == 0 && operations > 1_000_000 {
            after_a_million = resident();
        }
    }
    let stats = machine.stats(now);
    assert!(stats.ready + stats.delayed < 1000, "{stats:?}");
    let grown = resident().saturating_sub(after_a_million);
    assert!(
        grown < 16 * 1024,
        "{grown} KB more than after a million operations"
    );
}
