//! The limiters, with client-go's numbers.

use std::time::Duration;

use informer_workqueue::{
    Bucket, FastSlow, ItemExponential, MaxOf, MaxWait, RateLimiter, default_controller_limiter,
    default_item_limiter,
};

use crate::support::{epoch, ms, secs};

fn delays<L: RateLimiter<&'static str>>(limiter: &mut L, item: &'static str, n: usize) -> Vec<u64> {
    let now = epoch();
    (0..n)
        .map(|_| u64::try_from(limiter.delay(now, &item).as_millis()).unwrap())
        .collect()
}

/// client-go `TestItemExponentialFailureRateLimiter`.
#[test]
fn exponential_doubles_per_item_and_forgets() {
    let mut limiter = ItemExponential::new(ms(1), secs(1));
    assert_eq!(delays(&mut limiter, "one", 5), [1, 2, 4, 8, 16]);
    assert_eq!(limiter.failures(&"one"), 5);
    assert_eq!(delays(&mut limiter, "two", 2), [1, 2]);
    assert_eq!(limiter.failures(&"two"), 2);
    limiter.forget(&"one");
    assert_eq!(limiter.failures(&"one"), 0);
    assert_eq!(delays(&mut limiter, "one", 1), [1]);
}

/// client-go `TestItemExponentialFailureRateLimiterOverFlow`.
#[test]
fn exponential_never_overflows() {
    let mut limiter = ItemExponential::new(ms(1), secs(1000));
    for _ in 0..5 {
        limiter.delay(epoch(), &"one");
    }
    assert_eq!(limiter.delay(epoch(), &"one"), ms(32));
    for _ in 0..1000 {
        limiter.delay(epoch(), &"over");
    }
    assert_eq!(limiter.delay(epoch(), &"over"), secs(1000));

    let mut limiter = ItemExponential::new(secs(60), secs(1000 * 60));
    for _ in 0..2 {
        limiter.delay(epoch(), &"two");
    }
    assert_eq!(limiter.delay(epoch(), &"two"), secs(240));
    for _ in 0..1000 {
        limiter.delay(epoch(), &"over");
    }
    assert_eq!(limiter.delay(epoch(), &"over"), secs(60_000));

    // A small base does not overflow early.
    let mut limiter = ItemExponential::new(Duration::from_nanos(1), secs(1000));
    let all: Vec<_> = (0..42).map(|_| limiter.delay(epoch(), &"small")).collect();
    assert_eq!(all[38], Duration::from_nanos(1 << 38));
    assert_eq!(all[39..], [Duration::from_nanos(1 << 39), secs(1000), secs(1000)]);

    let mut limiter = ItemExponential::new(Duration::ZERO, Duration::MAX);
    for _ in 0..100 {
        assert_eq!(limiter.delay(epoch(), &"none"), Duration::ZERO);
    }
}

#[test]
fn defaults_have_upstreams_numbers() {
    assert_eq!(
        delays(&mut ItemExponential::default(), "x", 20)[15..],
        [163_840, 327_680, 655_360, 1_000_000, 1_000_000]
    );
    assert_eq!(delays(&mut default_item_limiter(), "x", 3), [1, 2, 4]);

    // The exponential part is the larger one until the bucket is empty, after a hundred.
    let mut limiter = default_controller_limiter();
    let now = epoch();
    for n in 0..100_u32 {
        assert_eq!(limiter.delay(now, &n), ms(5));
    }
    assert_eq!(limiter.delay(now, &100), ms(100));
    assert_eq!(limiter.delay(now, &101), ms(200));
    assert_eq!(limiter.failures(&101), 1);
}

/// client-go `TestItemFastSlowRateLimiter`.
#[test]
fn fast_slow_counts_per_item() {
    let mut limiter = FastSlow::new(ms(5), secs(10), 3);
    assert_eq!(delays(&mut limiter, "one", 5), [5, 5, 5, 10_000, 10_000]);
    assert_eq!(delays(&mut limiter, "two", 2), [5, 5]);
    assert_eq!((limiter.failures(&"one"), limiter.failures(&"two")), (5, 2));
    limiter.forget(&"one");
    assert_eq!(limiter.failures(&"one"), 0);
    assert_eq!(delays(&mut limiter, "one", 1), [5]);
}

/// client-go `TestMaxOfRateLimiter`.
#[test]
fn max_of_asks_all() {
    let mut limiter = MaxOf::new()
        .and(FastSlow::new(ms(5), secs(3), 3))
        .and(ItemExponential::new(ms(1), secs(1)));
    assert_eq!(delays(&mut limiter, "one", 5), [5, 5, 5, 3000, 3000]);
    assert_eq!(limiter.failures(&"one"), 5);
    limiter.forget(&"one");
    assert_eq!(limiter.failures(&"one"), 0);
    assert_eq!(delays(&mut MaxOf::new(), "none", 1), [0]);
}

/// client-go `TestWithMaxWaitRateLimiter`.
#[test]
fn max_wait_caps() {
    let mut limiter = MaxWait::new(FastSlow::new(ms(5), secs(1000), 3), ms(900));
    assert_eq!(delays(&mut limiter, "one", 5), [5, 5, 5, 900, 900]);
    assert_eq!(limiter.failures(&"one"), 5);
}

#[test]
fn bucket_is_shared_and_refills() {
    let mut limiter = Bucket::new(10.0, 2);
    let now = epoch();
    let mut delay = |after: u64, item: u32| limiter.delay(now + ms(after), &item).as_millis();
    assert_eq!(
        (delay(0, 1), delay(0, 2), delay(0, 3), delay(0, 4)),
        (0, 0, 100, 200)
    );
    // Half a second later the two promised tokens are paid and two more are there.
    assert_eq!((delay(500, 5), delay(500, 6), delay(500, 7)), (0, 0, 100));
    // It never holds more than the burst.
    assert_eq!((delay(9000, 8), delay(9000, 9), delay(9000, 10)), (0, 0, 100));
}

#[test]
fn bucket_at_its_limits() {
    let now = epoch();
    let forever = Duration::from_nanos(i64::MAX.unsigned_abs());
    for (per_second, burst, second) in [
        (f64::INFINITY, 1, Duration::ZERO),
        (0.0, 1, forever),
        (-1.0, 1, forever),
    ] {
        let mut limiter = Bucket::new(per_second, burst);
        assert_eq!(limiter.delay(now, &1), Duration::ZERO);
        assert_eq!(limiter.delay(now, &2), second, "{per_second}");
    }
    assert_eq!(Bucket::new(1.0, 0).delay(now, &1), forever);
}
