//! CM-02: a kind is removed, and put back.

use std::time::Duration;

use case_tests::{Fake, Mode, takes_all};
use informer_core::{FailureClass, Resource, Store as _};
use informer_reflector::Phase;
use serde_json::{Value, json};

fn definitions() -> Resource {
    Resource::cluster(
        "apiextensions.k8s.io",
        "v1",
        "customresourcedefinitions",
        "CustomResourceDefinition",
    )
}

fn widgets() -> Resource {
    Resource::namespaced("example.com", "v1", "widgets", "Widget")
}

fn definition(version: &str) -> Value {
    json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
            "versions": [{"name": version, "served": true, "storage": true}],
        },
    })
}

fn world() -> Fake {
    let world = Fake::new();
    world.api.with(|api| {
        api.create(&definitions(), definition("v1")).unwrap();
        for name in ["a", "b", "c"] {
            api.create(&widgets(), json!({"metadata": {"name": name}}))
                .unwrap();
        }
    });
    world
}

#[test]
fn cm_02_a_kind_that_goes_and_returns_is_followed_without_a_restart() {
    for mode in Mode::ALL {
        let mut world = world();
        let reflected = world.reflect(&widgets(), None, mode, 1);
        world.pass(Duration::from_secs(1));
        assert_eq!(reflected.changes(), ["add a", "add b", "add c"]);

        world
            .api
            .with(|api| api.delete(&definitions(), None, "widgets.example.com").unwrap());
        world.pass(Duration::from_secs(90));
        let status = reflected.now();
        let trouble = status.trouble().expect("the kind is gone");
        assert_eq!(trouble.class(), Some(FailureClass::NotFound));
        assert_eq!(status.phase, Phase::BackingOff);
        let attempts: Vec<Duration> = world
            .requests("widgets")
            .iter()
            .filter(|it| takes_all(it))
            .map(|it| it.at)
            .collect();
        assert!(attempts.len() < 20, "{attempts:?}");
        let last_gaps = attempts.windows(2).map(|pair| pair[1] - pair[0]);
        let longest = last_gaps.max().unwrap_or_default();
        assert!(longest >= Duration::from_secs(10), "{attempts:?}");

        world.api.with(|api| {
            api.create(&definitions(), definition("v1")).unwrap();
            api.create(&widgets(), json!({"metadata": {"name": "d"}}))
                .unwrap();
        });
        world.until(Duration::from_secs(90), "the new object", || {
            reflected.store.len() == 1 && reflected.now().phase == Phase::Watching
        });
        let mut changes = reflected.changes();
        changes.sort();
        // Each end is told: as it happened, or at the latest when the kind is back.
        let gone = |name: &str| {
            changes.contains(&format!("delete {name}")) || changes.contains(&format!("vanish {name}"))
        };
        assert!(gone("a") && gone("b") && gone("c"), "{changes:?}");
        assert!(
            changes.contains(&"add d".to_owned()) && changes.len() == 4,
            "{changes:?}"
        );
        assert!(reflected.now().trouble().is_none());
    }
}

#[test]
fn cm_02_a_kind_that_is_gone_costs_nothing_once_its_reflector_is_dropped() {
    let mut world = world();
    let reflected = world.reflect(&widgets(), None, Mode::List, 1);
    world.pass(Duration::from_secs(1));
    // It comes back, without the version.
    world.api.with(|api| {
        api.delete(&definitions(), None, "widgets.example.com").unwrap();
        api.create(&definitions(), definition("v2")).unwrap();
    });
    world.pass(Duration::from_secs(60));
    assert_eq!(
        reflected
            .now()
            .trouble()
            .and_then(informer_reflector::LastError::class),
        Some(FailureClass::NotFound)
    );
    world.drop_reflector(&reflected);
    let _ = world.requests("widgets");
    world.pass(Duration::from_secs(600));
    assert!(world.requests("widgets").is_empty());
    assert_eq!(reflected.now().phase, Phase::Stopped);
}
