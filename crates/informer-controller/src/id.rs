//! Names of reconciles.

use std::fmt;

use informer_backoff::SplitMix64;

/// Names one reconcile among those of all controllers (controller-runtime `ReconcileIDFromContext`): in the log lines of the call as
/// `reconcileID`, and in [`Attempt::reconcile_id`](crate::Attempt::reconcile_id). Written like a random UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ReconcileId(u128);

impl ReconcileId {
    /// Its bits, those of version and variant among them.
    #[must_use]
    pub const fn as_u128(self) -> u128 {
        self.0
    }
}

impl fmt::Display for ReconcileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.0;
        write!(
            f,
            "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
            id >> 96,
            (id >> 80) & 0xffff,
            (id >> 64) & 0xffff,
            (id >> 48) & 0xffff,
            id & 0xffff_ffff_ffff
        )
    }
}

/// The names of one controller's reconciles: the same seed and name give the same, another name gives others.
pub(crate) struct Ids(SplitMix64);

impl Ids {
    pub(crate) fn new(seed: u64, controller: &str) -> Self {
        let mix = |seed: u64, byte: u8| SplitMix64::new(seed ^ u64::from(byte)).next_u64();
        Self(SplitMix64::new(controller.bytes().fold(seed, mix)))
    }

    pub(crate) fn next_id(&mut self) -> ReconcileId {
        const VERSION: u128 = 0xf << 76;
        const VARIANT: u128 = 0b11 << 62;
        let random = u128::from(self.0.next_u64()) << 64 | u128::from(self.0.next_u64());
        ReconcileId(random & !VERSION & !VARIANT | 4 << 76 | 0b10 << 62)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Ids;

    #[test]
    fn names_are_uuids_and_differ_by_controller_and_by_call() {
        let mut all = BTreeSet::new();
        for name in ["one", "two"] {
            let (mut ids, mut again) = (Ids::new(7, name), Ids::new(7, name));
            for _ in 0..1000 {
                let id = ids.next_id();
                assert_eq!(id, again.next_id());
                let text = id.to_string();
                assert_eq!(text.len(), 36);
                assert_eq!(&text[14..15], "4", "{text}");
                assert!(matches!(&text[19..20], "8" | "9" | "a" | "b"), "{text}");
                all.insert(text);
            }
        }
        assert_eq!(all.len(), 2000);
    }
}
