//! What the objects of a store weigh: estimated from a few of them, when somebody asks.

use std::{ops::ControlFlow, sync::Arc};

use informer_core::Store;

/// Tells what an object weighs, in bytes.
pub(crate) type Weigh<K> = Arc<dyn Fn(&K) -> u64 + Send + Sync>;

/// So many objects are weighed.
const SAMPLE: usize = 64;

/// The weight of a sample that is spread evenly over the keys, for as many objects as there are. All of them where they are few.
pub(crate) fn estimate<Q, K>(store: &dyn Store<Q, K>, weigh: &(dyn Fn(&K) -> u64 + Send + Sync)) -> u64 {
    let snapshot = store.snapshot();
    let n = snapshot.len();
    let step = n.div_ceil(SAMPLE).max(1);
    let (mut at, mut weighed, mut sum) = (0, 0_u64, 0_u64);
    snapshot.scan(None, &mut |entry| {
        if at % step == 0 {
            weighed += 1;
            sum += weigh(&entry.object);
        }
        at += 1;
        ControlFlow::Continue(())
    });
    let all = u128::from(sum) * n as u128 / u128::from(weighed.max(1));
    u64::try_from(all).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use informer_core::{Batch, Cause, Delta, Entry, ObjectKey, Stamp, StoreWriter as _};
    use informer_store::{Indexers, indexed};

    use super::*;

    fn of(weights: &[u64]) -> (u64, usize) {
        let (mut writer, reader) = indexed(Indexers::new()).unwrap();
        let deltas = weights.iter().enumerate().map(|(n, weight)| {
            let key = ObjectKey::cluster(&format!("{n:06}"));
            Delta::Upsert(
                Entry::new(key, Stamp::new("1", ""), Arc::new(*weight)),
                Cause::Added,
            )
        });
        let mut batch = Batch {
            deltas: deltas.collect(),
            ..Batch::default()
        };
        writer.commit(&mut batch, &mut Vec::new()).unwrap();
        let asked = std::sync::atomic::AtomicUsize::new(0);
        let bytes = estimate(&reader, &|weight: &u64| {
            asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            *weight
        });
        (bytes, asked.into_inner())
    }

    #[test]
    fn few_objects_are_weighed_and_many_estimated() {
        assert_eq!(of(&[]), (0, 0));
        assert_eq!(of(&[3, 4, 5]), (12, 3));
        let (bytes, asked) = of(&[100; 10_000]);
        assert_eq!(bytes, 1_000_000);
        assert!(asked <= SAMPLE, "{asked}");
        // Heavy ones at the end of the keys count as well as light ones at the beginning.
        let mut uneven = vec![10; 5_000];
        uneven.extend([1_000; 5_000]);
        let (bytes, _) = of(&uneven);
        assert!(bytes.abs_diff(5_050_000) < 300_000, "{bytes}");
    }
}
