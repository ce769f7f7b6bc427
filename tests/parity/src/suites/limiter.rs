//! The rate limiters, against client-go's.
//!
//! The operations are explained in `tests/reference/oracle/limiter.go`.

use std::{collections::BTreeSet, time::Duration};

use informer_core::{Clock as _, TokioClock};
use informer_workqueue::{Bucket, FastSlow, ItemExponential, MaxOf, MaxWait, RateLimiter};

use super::Suite;
use crate::{
    difference::Differences,
    oracle::Version,
    random::Random,
    sequence::{Op, Step, play},
    view::View,
};

/// A limiter of any kind.
pub(super) type Limiter = Box<dyn RateLimiter<String>>;

/// See the module.
#[derive(Debug)]
pub(super) struct Limiters;

impl Suite for Limiters {
    fn name(&self) -> &'static str {
        "limiter"
    }

    fn version(&self) -> Version {
        Version::Atomic
    }

    fn share(&self) -> u64 {
        3
    }

    fn generate(&self, random: &mut Random) -> Vec<String> {
        let n = random.below(60) + 5;
        let limiter = any_limiter(random, true);
        // Of an item that waits for its token ours takes no second one: where there are tokens, no item comes twice.
        let once = limiter.contains("bucket");
        let mut ops = vec![format!("limiter {limiter}")];
        for at in 0..n {
            let item = if once {
                format!("i{at}")
            } else {
                any_item(random).to_owned()
            };
            ops.push(
                match random.weighted(&[(12, "when"), (2, "forget"), (4, "wait")]) {
                    "wait" => format!("wait {}", random.below(700)),
                    verb => format!("{verb} {item}"),
                },
            );
        }
        ops
    }

    fn ours(&self, ops: &[String]) -> Vec<Step> {
        let mut limiter = limiter("exp 5 1000000 | bucket 10 100");
        let mut now = TokioClock.now();
        let mut items = BTreeSet::new();
        play(ops, |op, said, view| {
            let item = op.arg().to_owned();
            match op.verb {
                "limiter" => limiter = self::limiter(op.rest),
                "when" => {
                    said.push(said_delay(limiter.delay(now, &item)));
                    items.insert(item);
                }
                "forget" => limiter.forget(&item),
                "wait" => now += milliseconds(op.arg()),
                other => panic!("no operation {other:?}"),
            }
            look_at_failures(view, &items, |item| limiter.failures(item));
        })
    }

    fn translate(&self, _: &[String], answer: &[Step], _: &mut Differences) -> Vec<Step> {
        answer.to_vec()
    }
}

/// To the microsecond: below that the two compute with other roundings.
fn said_delay(delay: Duration) -> String {
    const NEVER: Duration = Duration::from_nanos(i64::MAX as u64);
    if delay >= NEVER {
        return "never".to_owned();
    }
    ((delay.as_nanos() + 500) / 1000).to_string()
}

/// How often each item failed, as far as the limiter counts.
pub(super) fn look_at_failures(view: &mut View, items: &BTreeSet<String>, failures: impl Fn(&String) -> u32) {
    for item in items {
        let n = failures(item);
        if n > 0 {
            view.put(format!("failures {item}"), n);
        }
    }
}

/// The limiter of this text.
pub(super) fn limiter(text: &str) -> Limiter {
    let mut limiters: Vec<Limiter> = Vec::new();
    let mut cap = None;
    for part in text.split('|').map(Op::read) {
        let args: Vec<&str> = part.args().collect();
        match (part.verb, &args[..]) {
            ("exp", [base, max]) => limiters.push(Box::new(ItemExponential::new(
                milliseconds(base),
                milliseconds(max),
            ))),
            ("fastslow", [fast, slow, n]) => limiters.push(Box::new(FastSlow::new(
                milliseconds(fast),
                milliseconds(slow),
                n.parse().expect("a number"),
            ))),
            ("bucket", [rate, burst]) => limiters.push(Box::new(Bucket::new(
                rate.parse().expect("a number"),
                burst.parse().expect("a number"),
            ))),
            ("cap", [max]) => cap = Some(milliseconds(max)),
            _ => panic!("no limiter {text:?}"),
        }
    }
    let whole: Limiter = if limiters.len() == 1 {
        limiters.remove(0)
    } else {
        Box::new(limiters.into_iter().fold(MaxOf::new(), MaxOf::and))
    };
    match cap {
        Some(cap) => Box::new(MaxWait::new(whole, cap)),
        None => whole,
    }
}

/// The text of a limiter, perhaps one with tokens.
pub(super) fn any_limiter(random: &mut Random, with_bucket: bool) -> String {
    const BASES: [&str; 4] = ["1", "5", "37", "0"];
    const MAXIMA: [&str; 4] = ["200", "1000000", "9000000000", "3"];
    let kinds: &[&str] = if with_bucket {
        &["exp", "fastslow", "bucket"]
    } else {
        &["exp", "fastslow"]
    };
    let n = random.weighted(&[(4, 1), (2, 2), (1, 3)]);
    let mut parts: Vec<String> = (0..n)
        .map(|_| match random.word(kinds) {
            "exp" => format!("exp {} {}", random.pick(&BASES), random.pick(&MAXIMA)),
            "fastslow" => format!(
                "fastslow {} {} {}",
                random.below(20),
                random.below(5_000),
                random.below(4)
            ),
            _ => format!(
                "bucket {} {}",
                random.pick(&["1", "4", "10", "50"]),
                random.below(6)
            ),
        })
        .collect();
    if random.once_in(4) {
        parts.push(format!("cap {}", random.below(2_000)));
    }
    parts.join(" | ")
}

/// One of a few.
pub(super) fn any_item(random: &mut Random) -> &'static str {
    random.word(&["a", "b", "c", "d", "e"])
}

/// A time from its text.
pub(super) fn milliseconds(text: &str) -> Duration {
    Duration::from_millis(text.parse().expect("a number of milliseconds"))
}
