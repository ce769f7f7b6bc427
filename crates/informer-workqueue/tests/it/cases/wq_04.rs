//! A shared bucket and a flood of equal items.

use std::time::Duration;

use informer_workqueue::{AddOptions, Bucket, Config, Machine, Outcome};

use crate::support::{epoch, ms};

/// Five a second, and one key that is added ten times a second for a minute.
#[test]
fn wq_04_duplicates_take_no_tokens() {
    let mut machine = Machine::new(Config::default().limiter(Bucket::new(5.0, 1)));
    let start = epoch();
    let (mut flooded, mut other) = (Vec::new(), Vec::new());
    for step in 0..6000_u64 {
        let now = start + ms(step * 10);
        if step % 10 == 0 {
            machine.add(now, "flood", AddOptions::rate_limited());
        }
        if step % 500 == 0 {
            machine.add(now, "other", AddOptions::rate_limited());
        }
        while let Some(taken) = machine.take(now) {
            let times = if taken.item == "flood" {
                &mut flooded
            } else {
                &mut other
            };
            times.push(now);
            machine.done(now, taken.ticket, 0, Outcome::Done);
        }
    }
    let gaps = flooded.windows(2).map(|pair| pair[1] - pair[0]);
    let longest = gaps.max().unwrap();
    assert!(longest <= ms(600), "the gaps grow: {longest:?}");
    assert!(flooded.len() > 250, "{}", flooded.len());
    assert_eq!(other.len(), 12);
    for (n, at) in (0_u32..).zip(&other) {
        let late = at.duration_since(start + ms(5000) * n);
        assert!(late < Duration::from_secs(2), "the other key waited {late:?}");
    }
}
