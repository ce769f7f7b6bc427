//! CM-01: no permission to list, or to watch.

use std::time::Duration;

use case_tests::{Fake, Mode, takes_all};
use informer_core::{FailureClass, Resource, Store as _};
use informer_reflector::Phase;
use informer_testkit::{ApiError, Fault, On};
use serde_json::json;

fn config_maps() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

fn world() -> Fake {
    let world = Fake::new();
    world.api.with(|api| {
        api.create(&config_maps(), json!({"metadata": {"name": "a"}}))
            .unwrap();
    });
    world
}

fn forbid(world: &Fake, on: On, verb: &str) {
    let refused = ApiError::forbidden(&config_maps(), verb, "somebody");
    world.api.with(|api| {
        api.faults()
            .always(on.of("configmaps"), Fault::Status(refused))
            .n_rules()
    });
}

#[test]
fn cm_01_wait_ends_with_the_cause_and_other_kinds_are_well() {
    for mode in Mode::ALL {
        let mut world = world();
        forbid(&world, On::any(), "list");
        let maps = world.reflect(&config_maps(), None, mode, 1);
        let secrets = Resource::namespaced("", "v1", "secrets", "Secret");
        let others = world.reflect(&secrets, None, mode, 2);
        let mut status = maps.status.clone();
        let refused = world
            .wait(async move { status.wait_synced(Duration::from_secs(3)).await })
            .unwrap_err();
        assert_eq!(refused.class(), Some(FailureClass::Forbidden));
        let text = refused.to_string();
        for part in [
            "configmaps (ConfigMap) is not in sync after 3s",
            "forbidden",
            "somebody",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(
            others.now().synced,
            "a healthy kind does not wait for a forbidden one"
        );
        world.pass(Duration::from_secs(7));
        let attempts = world.requests("configmaps");
        let lists = attempts.iter().filter(|it| takes_all(it)).count();
        let rounds = if mode == Mode::List { lists } else { lists / 2 };
        assert!(rounds < 5, "{rounds} in the first ten seconds");

        // Granted after twenty seconds.
        world.pass(Duration::from_secs(10));
        world.api.with(|api| api.faults().clear());
        world.until(Duration::from_secs(60), "in sync", || maps.now().synced);
        assert_eq!(maps.changes(), ["add a"]);
        assert!(maps.now().trouble().is_none());
    }
}

#[test]
fn cm_01_a_forbidden_watch_leaves_the_list_readable_and_says_so() {
    let mut world = world();
    forbid(&world, On::watch(), "watch");
    let maps = world.reflect(&config_maps(), None, Mode::List, 1);
    world.pass(Duration::from_secs(10));
    assert_eq!(maps.store.len(), 1, "what was listed is shown");
    let status = maps.now();
    assert_eq!((status.phase, status.synced), (Phase::BackingOff, true));
    let trouble = status.trouble().expect("it does not watch");
    assert_eq!(trouble.class(), Some(FailureClass::Forbidden));
    assert!(trouble.to_string().starts_with("watch at version"), "{trouble}");
    assert!(status.behind_since.is_some());
    let lists = world
        .requests("configmaps")
        .iter()
        .filter(|it| takes_all(it))
        .count();
    assert!(lists < 5, "{lists} lists in the first ten seconds");

    world.api.with(|api| api.faults().clear());
    world.until(Duration::from_secs(60), "watching", || {
        maps.now().trouble().is_none() && maps.now().phase == Phase::Watching
    });
    world.api.with(|api| {
        api.create(&config_maps(), json!({"metadata": {"name": "b"}}))
            .unwrap()
    });
    world.pass(Duration::from_secs(1));
    assert_eq!(maps.changes(), ["add a", "add b"]);
    assert_eq!(maps.now().lag(world.clock_now()), Some(Duration::ZERO));
}
