//! Leases on the wire.

use informer_core::ResourceVersion;
use informer_leaderelection::{Failure, LeaseLock, Lock as _, MicroTime, Record};
use serde_json::json;

use crate::rig::{LEASE, NAMESPACE, World};

fn record(holder: &str) -> Record {
    Record {
        holder: holder.into(),
        duration_seconds: 15,
        acquired: Some(MicroTime::from_micros(1_764_437_529_000_000)),
        renewed: Some(MicroTime::from_micros(1_764_437_530_000_001)),
        transitions: 3,
        ..Record::default()
    }
}

#[tokio::test]
async fn a_lease_is_written_as_client_go_writes_it() {
    let world = World::new();
    let lock = LeaseLock::new(&world.client(), NAMESPACE, LEASE).labels([("app", "demo")]);
    assert_eq!(lock.describe(), "default/election");
    assert_eq!(lock.get().await.unwrap(), None);
    lock.create(record("a")).await.unwrap();
    let lease = world.lease().unwrap();
    let spec = json!({
        "holderIdentity": "a",
        "leaseDurationSeconds": 15,
        "acquireTime": "2025-11-29T17:32:09.000000Z",
        "renewTime": "2025-11-29T17:32:10.000001Z",
        "leaseTransitions": 3,
    });
    assert_eq!(lease["spec"], spec);
    assert_eq!(lease["apiVersion"], "coordination.k8s.io/v1");
    assert_eq!(lease["kind"], "Lease");
    assert_eq!(lease["metadata"]["labels"], json!({"app": "demo"}));
    assert_eq!(lock.get().await.unwrap().unwrap().record, record("a"));
}

#[tokio::test]
async fn what_else_the_lease_carries_is_kept() {
    let world = World::new();
    world.api.with(|api| {
        let lease = json!({
            "metadata": {
                "name": LEASE, "namespace": NAMESPACE,
                "labels": {"team": "x", "app": "old"}, "annotations": {"why": "because"},
                "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": "u"}],
            },
            "spec": {"holderIdentity": "b", "strategy": "OldestEmulationVersion", "preferredHolder": "c", "later": {"x": 1}},
        });
        api.create(&informer_leaderelection::Lease::resource(), lease).unwrap();
    });
    let lock = LeaseLock::new(&world.client(), NAMESPACE, LEASE).labels([("app", "demo")]);
    let found = lock.get().await.unwrap().unwrap();
    assert_eq!(found.record.preferred_holder.as_deref(), Some("c"));
    let mut new = record("a");
    new.strategy = found.record.strategy.clone();
    lock.update(new, found.version).await.unwrap();
    let lease = world.lease().unwrap();
    assert_eq!(lease["metadata"]["labels"], json!({"team": "x", "app": "demo"}));
    assert_eq!(lease["metadata"]["annotations"], json!({"why": "because"}));
    assert_eq!(lease["metadata"]["ownerReferences"][0]["name"], "p");
    assert_eq!(lease["spec"]["later"], json!({"x": 1}));
    assert_eq!(lease["spec"]["strategy"], "OldestEmulationVersion");
    assert_eq!(lease["spec"].get("preferredHolder"), None);
}

#[tokio::test]
async fn each_write_carries_the_version_that_was_read() {
    let world = World::new();
    let lock = LeaseLock::new(&world.client(), NAMESPACE, LEASE);
    let first = lock.create(record("a")).await.unwrap();
    let second = lock.update(record("c"), first.version.clone()).await.unwrap();
    let third = lock
        .update(record("a"), second.version)
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    let stale = lock.update(record("b"), first.version).await.unwrap_err();
    assert_eq!(stale.failure(), Failure::Conflict);
    assert_eq!(
        lock.create(record("b")).await.unwrap_err().failure(),
        Failure::Conflict
    );
    let blind = lock
        .update(record("b"), ResourceVersion::none())
        .await
        .unwrap_err();
    assert_eq!(blind.failure(), Failure::Other);
    assert_eq!(lock.get().await.unwrap(), Some(third));
    world.delete_lease();
    let gone = lock
        .update(record("a"), ResourceVersion::new("1"))
        .await
        .unwrap_err();
    assert_eq!(gone.failure(), Failure::Other);
}

#[test]
fn times_are_written_with_six_digits_and_read_with_any() {
    let read = |text: &str| text.parse::<MicroTime>().map(|time| time.to_string());
    let same = "2026-11-29T17:32:09.123456Z";
    assert_eq!(read(same).as_deref(), Ok(same));
    assert_eq!(
        read("2026-11-29T17:32:09Z").as_deref(),
        Ok("2026-11-29T17:32:09.000000Z")
    );
    assert_eq!(
        read("2026-11-29T18:32:09.5+01:00").as_deref(),
        Ok("2026-11-29T17:32:09.500000Z")
    );
    assert_eq!(read("2026-11-29T17:32:09.123456789Z").as_deref(), Ok(same));
    assert!(read("yesterday").is_err() && read("").is_err());
    let time = MicroTime::from_micros(1);
    assert_eq!(
        serde_json::to_value(time).unwrap(),
        json!("1970-01-01T00:00:00.000001Z")
    );
    assert_eq!(
        serde_json::from_value::<MicroTime>(json!("1970-01-01T00:00:00.000001Z")).unwrap(),
        time
    );
    assert_eq!(MicroTime::from(std::time::SystemTime::UNIX_EPOCH).as_micros(), 0);
    assert!(MicroTime::from_micros(i64::MAX).to_string().starts_with("9999-"));
    assert!(
        MicroTime::from_micros(i64::MIN)
            .to_string()
            .starts_with("0000-01-01T")
    );
}

#[test]
fn a_renewal_always_changes_the_record() {
    let wall = MicroTime::from_micros(7);
    let mut record = Record::default();
    record.stamp(wall);
    assert_eq!((record.acquired, record.renewed), (Some(wall), Some(wall)));
    record.stamp(wall);
    assert_eq!(
        (record.acquired, record.renewed),
        (Some(wall), Some(MicroTime::from_micros(8)))
    );
    // A clock that was set back is believed.
    record.stamp(MicroTime::from_micros(2));
    assert_eq!(record.renewed, Some(MicroTime::from_micros(2)));
}
