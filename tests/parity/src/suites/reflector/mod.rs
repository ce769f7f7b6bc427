//! The reflector over a client over a server of a few lines, against client-go's over its REST client, in virtual time: the same requests,
//! each with its query, in the same order, after the same waits, and the same objects at the same version in the end.
//!
//! The operations are explained in `tests/reference/oracle/reflector.go`, the answers in `tests/reference/oracle/server.go`.

mod answer;
mod generate;
mod ours;
mod server;
mod state;
mod translate;

use super::Suite;
use crate::{difference::Differences, oracle::Version, random::Random, sequence::Step};

/// See the module.
#[derive(Debug)]
pub(super) struct Reflector;

impl Suite for Reflector {
    fn name(&self) -> &'static str {
        "reflector"
    }

    fn version(&self) -> Version {
        Version::Atomic
    }

    fn share(&self) -> u64 {
        10
    }

    fn generate(&self, random: &mut Random) -> Vec<String> {
        generate::Generator::new(random).ops()
    }

    fn ours(&self, ops: &[String]) -> Vec<Step> {
        ours::play(ops)
    }

    fn translate(&self, ops: &[String], answer: &[Step], met: &mut Differences) -> Vec<Step> {
        let mut told = translate::Told::new(ops);
        let steps = ops.iter().zip(answer);
        steps.map(|(op, step)| told.translate(op, step, met)).collect()
    }
}
