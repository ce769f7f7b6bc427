//! The generator.

use std::time::Duration;

use informer_backoff::SplitMix64;

/// The first numbers of the published reference for seed 1234567.
#[test]
fn gives_the_reference_sequence() {
    let mut random = SplitMix64::new(1_234_567);
    let numbers: Vec<u64> = (0..5).map(|_| random.next_u64()).collect();
    assert_eq!(
        numbers,
        [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821
        ]
    );
}

#[test]
fn spreads_over_the_whole_range() {
    let mut random = SplitMix64::new(1);
    let (shortest, longest) = (Duration::from_secs(300), Duration::from_secs(600));
    let drawn: Vec<Duration> = (0..1000)
        .map(|_| random.next_between(shortest, longest))
        .collect();
    assert!(drawn.iter().all(|it| (shortest..longest).contains(it)));
    assert!(drawn.iter().any(|it| *it < Duration::from_secs(310)));
    assert!(drawn.iter().any(|it| *it > Duration::from_secs(590)));
}

#[test]
fn an_empty_range_is_its_start() {
    let mut random = SplitMix64::new(1);
    let one = Duration::from_secs(1);
    assert_eq!(random.next_between(one, Duration::ZERO), one);
    assert_eq!(random.next_between(Duration::MAX, Duration::MAX), Duration::MAX);
}
