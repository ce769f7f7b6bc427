//! LE-04: odd contents of a lease. client-go b4217e149, 3c7c00d2d, 0011bf6b0, d46fe4053, 93a8bb4af.

use informer_leaderelection::{Elector, InvalidOptions, Lease, MemoryLock, Options};
use serde_json::json;

use crate::rig::{LEASE, NAMESPACE, World, options, rest, secs};

#[tokio::test(start_paused = true)]
async fn le_04_the_duration_of_the_holder_counts() {
    let world = World::new();
    world.put_spec(json!({"holderIdentity": "b", "leaseDurationSeconds": 60}));
    let a = world.run(options("a"));
    a.leadership.elected().await.unwrap();
    assert!(
        world.now() >= secs(60) && world.now() < secs(65),
        "{:?}",
        world.now()
    );
}

#[tokio::test(start_paused = true)]
async fn le_04_a_lease_deleted_under_its_leader_is_created_again() {
    let world = World::new();
    let a = world.run(options("a"));
    let term = a.leadership.elected().await.unwrap();
    let b = world.run(options("b"));
    rest(secs(5)).await;
    world.delete_lease();
    rest(secs(60)).await;
    assert_eq!(a.leadership.term(), Some(term), "it leads on, in the same term");
    assert_eq!(world.spec().holder_identity.as_deref(), Some("a"));
    assert!(world.reigns("b").is_empty() && !b.leadership.is_leader());
}

#[tokio::test(start_paused = true)]
async fn le_04_of_two_that_create_at_once_one_wins() {
    let world = World::new();
    let (a, b) = (world.run(options("a")), world.run(options("b")));
    rest(secs(1)).await;
    assert_ne!(a.leadership.is_leader(), b.leadership.is_leader());
    rest(secs(60)).await;
    world.assert_no_overlap(&["a", "b"]);
    assert_eq!(world.reigns("a").len() + world.reigns("b").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn le_04_a_lease_that_says_little_is_free() {
    let specs = [
        None,
        Some(json!(null)),
        Some(json!({})),
        Some(
            json!({"holderIdentity": null, "leaseDurationSeconds": null, "renewTime": null, "acquireTime": null}),
        ),
        Some(json!({"holderIdentity": "", "leaseDurationSeconds": 15})),
        Some(json!({"holderIdentity": "b", "leaseTransitions": -3})),
    ];
    for spec in specs {
        let world = World::new();
        world.api.with(|api| {
            let mut lease = json!({"metadata": {"name": LEASE, "namespace": NAMESPACE}});
            if let Some(spec) = &spec {
                lease["spec"] = spec.clone();
            }
            api.create(&Lease::resource(), lease).unwrap();
        });
        let a = world.run(options("a"));
        let term = a.leadership.elected().await.unwrap();
        assert_eq!((world.now(), term.transitions), (secs(0), 1), "{spec:?}");
        rest(secs(30)).await;
        assert!(a.leadership.is_leader(), "{spec:?}");
    }
}

#[test]
fn le_04_options_without_sense_are_refused() {
    let refused = |change: fn(&mut Options)| {
        let mut options = options("a");
        change(&mut options);
        Elector::new(MemoryLock::new(), options).map(|_| ()).unwrap_err()
    };
    assert_eq!(refused(|it| it.identity = "".into()), InvalidOptions::NoIdentity);
    assert_eq!(
        refused(|it| it.renew_deadline = secs(15)),
        InvalidOptions::LeaseNotLongerThanRenewDeadline
    );
    assert_eq!(
        refused(|it| it.renew_deadline = secs(16)),
        InvalidOptions::LeaseNotLongerThanRenewDeadline
    );
}
