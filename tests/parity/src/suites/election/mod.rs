//! One candidate of an election, against client-go's.
//!
//! The operations are explained in `tests/reference/oracle/election.go`.

mod generate;
mod lease;
mod ours;

use super::Suite;
use crate::{
    difference::{Difference, Differences},
    oracle::Version,
    random::Random,
    sequence::Step,
};

/// See the module.
#[derive(Debug)]
pub(super) struct Election;

impl Suite for Election {
    fn name(&self) -> &'static str {
        "election"
    }

    fn version(&self) -> Version {
        Version::Atomic
    }

    fn share(&self) -> u64 {
        3
    }

    fn generate(&self, random: &mut Random) -> Vec<String> {
        generate::Generator::new(random).ops()
    }

    fn ours(&self, ops: &[String]) -> Vec<Step> {
        ours::play(ops)
    }

    fn translate(&self, _: &[String], answer: &[Step], met: &mut Differences) -> Vec<Step> {
        let mut leads = false;
        answer
            .iter()
            .map(|step| {
                let mut step = step.clone();
                let led = leads;
                if let Some(leading) = step.seen.get("leading") {
                    leads = !leading.is_empty();
                }
                if !led && leads {
                    renew_later(&mut step, met);
                }
                if led && !leads {
                    give_up_at_once(&mut step, met);
                }
                step
            })
            .collect()
    }
}

/// client-go renews in the moment in which it has acquired; ours a retry period later.
fn renew_later(step: &mut Step, met: &mut Differences) {
    for line in &mut step.said {
        let calls: Vec<&str> = line.split("; ").collect();
        let is_write = |call: &str| call.starts_with("create ") || call.starts_with("update ");
        let acquired = calls
            .iter()
            .position(|call| is_write(call) && call.ends_with(" -> ok"));
        if let Some(at) = acquired.filter(|at| at + 1 < calls.len()) {
            met.met(Difference::RenewsAtOnce);
            *line = calls[..=at].join("; ");
            return;
        }
    }
}

/// Where the lease is another's, client-go looks again until the renew deadline; ours leads no more.
fn give_up_at_once(step: &mut Step, met: &mut Differences) {
    let is_taken = |line: &String| {
        let last = line.rsplit("; ").next().unwrap_or_default();
        last.starts_with("get -> ") && !last.starts_with("get -> me ") && !last.ends_with("fail")
    };
    if let Some(at) = step.said.iter().position(is_taken)
        && let Some(end) = step.said.iter().position(|line| line == "ended")
        && at + 1 < end
    {
        met.met(Difference::TakenOver);
        step.said.drain(at + 1..end);
    }
}
