//! Candidates of a coordinated election, with a server that is played by the test.

use informer_core::{Clock as _, TokioClock};
use informer_leaderelection::{
    Candidacy, CandidacyOptions, End, LeaseCandidate, LeaseCandidateSpec, Loss, MicroTime,
};
use informer_testkit::ResourceDef;
use serde_json::json;

use crate::rig::{LEASE, NAMESPACE, World, options, rest, secs, spawn};

fn candidate(world: &World) -> Option<LeaseCandidateSpec> {
    let found = world
        .api
        .with(|api| api.get(&LeaseCandidate::resource(), Some(NAMESPACE), "a").ok())?;
    Some(serde_json::from_value(found["spec"].clone()).unwrap())
}

fn stands(world: &World) -> tokio::task::JoinHandle<()> {
    world
        .api
        .with(|api| api.register(ResourceDef::new(LeaseCandidate::resource())));
    let options = CandidacyOptions {
        name: "a".into(),
        lease: LEASE.into(),
        binary_version: "1.30.0".into(),
        emulation_version: "1.30.0".into(),
        strategy: "OldestEmulationVersion".into(),
    };
    let start = TokioClock.now();
    let wall =
        move || MicroTime::from_micros(1 + i64::try_from((TokioClock.now() - start).as_micros()).unwrap());
    spawn(
        Candidacy::new(&world.client(), NAMESPACE, options)
            .wall_clock(wall)
            .run(),
    )
}

/// client-go `TestLeaseCandidateCreation` and `TestLeaseCandidateAck`.
#[tokio::test(start_paused = true)]
async fn a_candidacy_is_created_and_answers_when_asked() {
    let world = World::new();
    let run = stands(&world);
    rest(secs(5)).await;
    let created = candidate(&world).unwrap();
    assert_eq!(
        (created.lease_name.as_str(), created.binary_version.as_str()),
        (LEASE, "1.30.0")
    );
    assert_eq!(created.strategy, "OldestEmulationVersion");

    world.api.with(|api| {
        let mut object = api
            .get(&LeaseCandidate::resource(), Some(NAMESPACE), "a")
            .unwrap();
        object["spec"]["pingTime"] = json!(MicroTime::from_micros(4_000_000));
        api.update(&LeaseCandidate::resource(), object).unwrap();
    });
    rest(secs(1)).await;
    let answered = candidate(&world).unwrap();
    assert!(answered.renew_time > created.renew_time && answered.renew_time > answered.ping_time);
    rest(secs(1)).await;
    assert_eq!(candidate(&world).unwrap(), answered, "asked once, answered once");

    // By itself every five minutes, and again when somebody deletes it.
    rest(secs(301)).await;
    assert!(candidate(&world).unwrap().renew_time > answered.renew_time);
    world
        .api
        .with(|api| api.delete(&LeaseCandidate::resource(), Some(NAMESPACE), "a"))
        .unwrap();
    rest(secs(1)).await;
    assert!(candidate(&world).is_some());
    run.abort();
}

#[tokio::test(start_paused = true)]
async fn the_server_gives_the_lease_and_takes_it_back() {
    let world = World::new();
    let mut options = options("a");
    options.coordinated = true;
    let a = world.run(options);
    rest(secs(30)).await;
    assert_eq!(world.lease(), None, "candidates never create it");
    let given = json!({"holderIdentity": "a", "leaseDurationSeconds": 15, "leaseTransitions": 2, "strategy": "OldestEmulationVersion"});
    world.put_spec(given);
    let term = a.leadership.elected().await.unwrap();
    assert_eq!(term.transitions, 2);
    rest(secs(60)).await;
    assert!(a.leadership.is_leader());
    let mut spec = serde_json::to_value(world.spec()).unwrap();
    assert_eq!(spec["strategy"], "OldestEmulationVersion");
    spec["preferredHolder"] = json!("b");
    world.put_spec(spec);
    assert_eq!(a.end().await, End::Lost(Loss::EndOfTerm));
    assert_eq!(
        world.spec().holder_identity.as_deref(),
        Some("a"),
        "left to the server"
    );
}
