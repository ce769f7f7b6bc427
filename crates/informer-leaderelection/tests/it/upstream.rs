//! client-go's own tests of leader election that are not told by a trace. Those that are name their origin in the trace's first line.

use std::time::Duration;

use informer_leaderelection::{
    Elector, HealthAdaptor, InvalidOptions, LeaseSpec, MemoryLock, Mishap, Options, Record,
};

use crate::rig::{World, options, rest, secs};

/// `TestLeaderElectionConfigValidation`, and what `NewLeaderElector` refuses besides.
#[test]
fn options_are_checked() {
    let mut options = Options::new("baz");
    options.renew_deadline = secs(2);
    options.retry_period = secs(1);
    assert_eq!(options.validate(), Ok(()));
    let refused = |change: fn(&mut Options)| {
        let mut options = Options::new("baz");
        change(&mut options);
        options.validate().unwrap_err()
    };
    assert_eq!(refused(|it| it.identity = "".into()), InvalidOptions::NoIdentity);
    assert_eq!(
        refused(|it| it.lease_duration = secs(10)),
        InvalidOptions::LeaseNotLongerThanRenewDeadline
    );
    let not_longer = InvalidOptions::RenewDeadlineNotLongerThanRetryPeriod;
    assert_eq!(
        refused(|it| it.renew_deadline = Duration::from_millis(2_400)),
        not_longer
    );
    assert_eq!(
        refused(|it| it.retry_period = secs(0)),
        InvalidOptions::NoRetryPeriod
    );
    assert_eq!(
        refused(|it| it.call_timeout = Some(secs(0))),
        InvalidOptions::NoCallTimeout
    );
    assert_eq!(
        refused(|it| it.lease_duration = secs(1 << 31)),
        InvalidOptions::LeaseTooLong
    );
    assert_eq!(InvalidOptions::NoIdentity.to_string(), "the identity is empty");
}

/// `TestLeaseSpecToLeaderElectionRecordRoundTrip`.
#[test]
fn specs_and_records_are_told_by_each_other() {
    let spec = LeaseSpec {
        holder_identity: Some("foo".into()),
        lease_duration_seconds: Some(10),
        lease_transitions: Some(1),
        acquire_time: Some("2026-11-29T17:32:09.123456Z".parse().unwrap()),
        renew_time: Some("2026-11-29T17:32:10.000001Z".parse().unwrap()),
        ..LeaseSpec::default()
    };
    let record = Record::from(&spec);
    assert_eq!(LeaseSpec::from(&record), spec);
    assert_eq!(Record::from(&LeaseSpec::from(&record)), record);
}

/// `TestLeaderElectionHealthChecker`: its five rows; the one of a leader whose lease is long over is among the tests of the elector.
#[tokio::test(start_paused = true)]
async fn health_is_bad_only_for_a_leader_whose_lease_is_over() {
    let health = HealthAdaptor::new(secs(20));
    assert_eq!(health.check(), Ok(()));
    let world = World::new();
    let a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    health.set(a.leadership.clone());
    assert_eq!(health.check(), Ok(()));
    let b = world.run(options("b"));
    rest(secs(3600)).await;
    assert_eq!(health.check(), Ok(()));
    assert_eq!(
        b.leadership.check(secs(20)),
        Ok(()),
        "a candidate that does not lead is healthy"
    );
}

/// `TestReleaseOnCancellation_Leases`, "release acquired lock on cancellation of get": every renewal fails by the fast path, and the read that
/// follows hangs while the run is asked to stop.
#[tokio::test(start_paused = true)]
async fn a_read_that_hangs_while_stopping_does_not_prevent_the_release() {
    let lock = MemoryLock::new();
    let mut options = options("baz");
    options.renew_deadline = secs(3);
    options.retry_period = secs(1);
    for mishap in [Mishap::Fine, Mishap::Fine, Mishap::Fail, Mishap::Hang] {
        lock.then(mishap);
    }
    let elector = Elector::new(lock.clone(), options).unwrap();
    elector.run(rest(Duration::from_millis(1_500))).await;
    assert_eq!(
        lock.take_requests(),
        ["get", "create", "update", "get", "get", "update"]
    );
    assert!(lock.stored().unwrap().record.is_free());
}

/// `TestFastPathLeaderElection`, both rows, by the requests on the wire.
#[tokio::test(start_paused = true)]
async fn renewals_read_only_after_a_failure() {
    for (mishaps, requests) in [
        (vec![], vec!["get", "create", "update", "update"]),
        (
            vec![Mishap::Fine, Mishap::Fine, Mishap::Fine, Mishap::Conflict],
            vec!["get", "create", "update", "update", "get", "update"],
        ),
    ] {
        let lock = MemoryLock::new();
        mishaps.into_iter().for_each(|mishap| lock.then(mishap));
        let mut options = options("baz");
        options.renew_deadline = secs(2);
        options.retry_period = secs(1);
        options.release_on_cancel = false;
        let elector = Elector::new(lock.clone(), options).unwrap();
        elector.run(rest(Duration::from_millis(2_500))).await;
        assert_eq!(lock.take_requests(), requests);
    }
}
