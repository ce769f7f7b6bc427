//! What holds for all options and all random numbers.

use std::time::{Duration, Instant};

use informer_backoff::{Backoff, Options};
use proptest::prelude::*;

fn options() -> impl Strategy<Value = Options> {
    (0_u64..10_000, 0.0_f64..10.0, 0.0_f64..3.0, 0_u64..100_000).prop_map(|(initial, factor, jitter, cap)| {
        let mut options = Options::default();
        options.initial = Duration::from_millis(initial);
        options.factor = factor;
        options.jitter = jitter;
        options.cap = Duration::from_millis(cap);
        options
    })
}

#[expect(clippy::disallowed_methods, reason = "any instant will do to count from")]
fn epoch() -> Instant {
    Instant::now()
}

proptest! {
    /// Each delay lies between its base and the base with the whole jitter, and bases neither shrink nor pass the cap.
    #[test]
    fn delays_stay_in_their_bounds(options in options(), randoms in prop::collection::vec(any::<u64>(), 1..40)) {
        let now = epoch();
        let mut jittered = Backoff::new(options.clone());
        let mut bare = options.clone();
        bare.jitter = 0.0;
        let mut bare = Backoff::new(bare);
        let mut last = Duration::ZERO;
        for random in randoms {
            let (delay, base) = (jittered.next(now, random), bare.next(now, random));
            prop_assert!(base >= last && base <= options.cap);
            prop_assert!(delay >= base);
            prop_assert!(delay <= base + base.mul_f64(options.jitter) + Duration::from_nanos(2));
            last = base;
        }
    }

    /// Whatever is told in whatever order, also with a time that goes backward, it starts over only after enough health.
    #[test]
    fn starts_over_only_after_health(steps in prop::collection::vec((0_u8..3, 0_u64..200), 0..60)) {
        let start = epoch();
        let mut backoff = Backoff::new(Options::default());
        let mut healthy: Option<u64> = None;
        let mut attempts = 0;
        for (what, at) in steps {
            let now = start + Duration::from_secs(at);
            if what == 0 {
                backoff.on_healthy(now);
                healthy.get_or_insert(at);
                continue;
            }
            if healthy.take().is_some_and(|since| at.saturating_sub(since) >= 120) {
                attempts = 0;
            }
            if what == 1 {
                backoff.on_failure(now);
            } else {
                backoff.next(now, 0);
                attempts += 1;
            }
            prop_assert_eq!(backoff.attempts(), attempts);
        }
    }
}
