//! Resyncs beside the watch.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use informer_reflector::{Phase, Problem};

use crate::rig::{Answer, Rig, expired, whole};

fn every(seconds: u64) -> Rig {
    let mut rig = Rig::new();
    rig.options.resync_period = Some(Duration::from_secs(seconds));
    rig.source.list(whole("a@1", "1")).watch(Answer::Open(vec![]));
    rig
}

/// client-go `TestReflectorResync`.
#[test]
fn resyncs_beside_the_watch() {
    let mut rig = every(30);
    rig.start();
    rig.pass(65.0);
    rig.assert_taken(&["Replace@1 [a@1]", "Resync", "Resync"]);
}

#[test]
fn zero_means_never() {
    let mut rig = every(0);
    rig.start();
    rig.pass(100.0);
    rig.assert_taken(&["Replace@1 [a@1]"]);
}

/// client-go `Reflector.ShouldResync`: asked each time, and the time to the next counts from there in any case.
#[test]
fn a_hook_says_whether_it_is_wanted() {
    let mut rig = every(30);
    let (wanted, asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (answer, count) = (wanted.clone(), asked.clone());
    rig.should_resync = Some(Box::new(move || {
        count.fetch_add(1, Ordering::SeqCst);
        answer.load(Ordering::SeqCst)
    }));
    rig.start();
    rig.pass(65.0);
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    rig.assert_taken(&["Replace@1 [a@1]"]);
    wanted.store(true, Ordering::SeqCst);
    rig.pass(30.0);
    rig.assert_taken(&["Replace@1 [a@1]", "Resync"]);
}

/// client-go `TestReflectorResync`, where the second resync returns an error: `ListAndWatch` ends and begins anew.
#[test]
fn a_failed_resync_ends_the_watch() {
    let mut rig = every(30);
    rig.source.list(whole("a@1", "1")).watch(Answer::Open(vec![]));
    rig.sink.fail_resync(true);
    rig.start();
    rig.pass(30.1);
    assert_eq!(rig.source.open(), 0, "the watch is closed");
    let error = rig.last_error();
    assert_eq!(error.problem(), Problem::Resync);
    assert_eq!(error.to_string(), "foos: resync failed: the copy is damaged");
    assert_eq!(rig.status().get().phase, Phase::BackingOff);
    rig.sink.fail_resync(false);
    rig.pass(31.0);
    rig.assert_requests(&["list -/500/", "watch 1", "list 1/0/", "watch 1"]);
    rig.assert_taken(&["Replace@1 [a@1]", "Replace@1 [a@1]", "Resync"]);
    assert_eq!(rig.status().get().failures, 0);
}

#[test]
fn a_hook_that_panics_is_a_failed_resync() {
    let mut rig = every(30);
    rig.should_resync = Some(Box::new(|| panic!("a bad hook")));
    rig.start();
    rig.pass(30.1);
    assert_eq!(
        rig.errors(),
        ["foos: resync failed: the resync hook panicked: a bad hook"]
    );
}

/// However often the watch fails, there is one timer, and it counts from the last watch.
#[test]
fn attempts_leave_no_timers_behind() {
    let mut rig = every(30);
    for at in 2..6 {
        rig.source
            .watch(Answer::Open(vec![expired()]))
            .list(whole("a@1", &at.to_string()));
    }
    rig.source.list(whole("a@1", "9"));
    rig.start();
    rig.send([expired()]);
    rig.pass(40.0);
    let before = rig.sink.taken().iter().filter(|delta| *delta == "Resync").count();
    assert_eq!(before, 0, "{:?}", rig.sink.taken());
    rig.pass(30.0);
    let after = rig.sink.taken().iter().filter(|delta| *delta == "Resync").count();
    assert_eq!(after, 1, "{:?}", rig.sink.taken());
}
