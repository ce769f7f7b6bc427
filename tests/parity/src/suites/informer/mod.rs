//! The shared informer over a fake source, against client-go's over its own, in virtual time.
//!
//! The operations are explained in `tests/reference/oracle/common/informer.go`.

mod bench;
mod generate;
mod lines;
mod ours;
mod pump;
mod source;
mod translate;

pub(super) use self::pump::Pump;
use super::Suite;
use crate::{difference::Differences, oracle::Version, random::Random, sequence::Step};

/// See the module.
#[derive(Debug)]
pub(super) struct Informer(pub(super) Version);

impl Informer {
    /// The old one promises the order per key alone.
    fn per_key(&self) -> bool {
        self.0 == Version::Old
    }
}

impl Suite for Informer {
    fn name(&self) -> &'static str {
        match self.0 {
            Version::Atomic => "informer",
            Version::Spread => "informer-spread",
            Version::Old => "informer-old",
        }
    }

    fn version(&self) -> Version {
        self.0
    }

    fn share(&self) -> u64 {
        match self.0 {
            Version::Atomic => 17,
            Version::Spread | Version::Old => 7,
        }
    }

    fn generate(&self, random: &mut Random) -> Vec<String> {
        generate::Generator::new(random).ops()
    }

    fn ours(&self, ops: &[String]) -> Vec<Step> {
        ours::play(self.0, ops)
    }

    fn translate(&self, ops: &[String], answer: &[Step], met: &mut Differences) -> Vec<Step> {
        // Where the informer resyncs nothing is listed twice, so that what is told again is a resync.
        let resyncs = bench::setting(ops, "new").is_some();
        let mut told = translate::Told::new(resyncs, self.per_key());
        answer.iter().map(|step| told.translate(step, met)).collect()
    }
}
