//! kube-rs case A3: a marker at the begin of each attempt reset the backoff, and a failing LIST was asked for 504 times in ten minutes.

use informer_core::FailureClass;

use crate::rig::{Answer, Rig, error};

/// Requests in 600 s, and the gaps between attempts in tenths of a second.
fn fails_for_ten_minutes(mut rig: Rig, class: FailureClass) -> Vec<u32> {
    for _ in 0..100 {
        rig.source
            .list(Answer::Fail(error(class)))
            .watch(Answer::Fail(error(class)));
    }
    rig.start();
    let (mut gaps, mut gap, mut seen) = (Vec::new(), 0, rig.source.requests().len());
    for _ in 0..6000 {
        rig.advance(0.1);
        gap += 1;
        let now = rig.source.requests().len();
        if now > seen {
            seen = now;
            gaps.push(gap);
            gap = 0;
        }
    }
    gaps
}

#[test]
fn kube_03_a_list_that_always_fails_is_asked_for_ever_more_rarely() {
    for class in [
        FailureClass::Internal,
        FailureClass::Transient,
        FailureClass::Refused,
    ] {
        for streaming in [false, true] {
            let rig = if streaming { Rig::streaming() } else { Rig::new() };
            let gaps = fails_for_ten_minutes(rig, class);
            assert!(gaps.len() < 25, "{class}: {gaps:?}");
            assert!(gaps.is_sorted(), "{class}: {gaps:?}");
            assert_eq!(gaps.last(), Some(&300), "{class}: {gaps:?}");
        }
    }
}

/// With the chance that spreads them.
#[test]
fn kube_03_also_with_jitter() {
    for seed in 0..20 {
        let mut rig = Rig::new();
        rig.options.backoff.jitter = 1.0;
        rig.options.seed = Some(seed);
        let gaps = fails_for_ten_minutes(rig, FailureClass::Internal);
        assert!((12..25).contains(&gaps.len()), "{gaps:?}");
    }
}
