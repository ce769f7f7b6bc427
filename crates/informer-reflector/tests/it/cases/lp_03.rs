//! LP-03: degenerate list bodies.

use informer_core::FailureClass;
use informer_reflector::{Phase, Problem};

use crate::rig::{Answer, Rig, end, item, whole};

#[test]
fn lp_03_an_empty_list_is_a_list() {
    let mut rig = Rig::new();
    rig.source.list(whole("", "7"));
    rig.start();
    rig.assert_taken(&["Replace@7 []"]);
    rig.assert_requests(&["list -/500/", "watch 7"]);
}

#[test]
fn lp_03_a_list_without_a_version_is_an_error_and_never_live() {
    let mut rig = Rig::new();
    for _ in 0..100 {
        rig.source.list(Answer::Open(vec![item("a@1"), end("")]));
    }
    rig.start();
    assert_eq!(rig.status().get().phase, Phase::BackingOff);
    assert_eq!(
        rig.last_error().problem(),
        Problem::List(FailureClass::Unsupported)
    );
    assert_eq!(
        rig.errors(),
        ["foos: list failed: the list has no resource version, so this resource cannot be watched"]
    );
    rig.pass(600.0);
    rig.assert_taken(&[]);
    assert!(!rig.status().get().synced);
    let requests = rig.source.requests();
    assert!(requests.iter().all(|request| request.starts_with("list")));
    assert!(requests.len() <= 25, "{} lists in ten minutes", requests.len());
}
