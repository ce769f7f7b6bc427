//! An object that is longer than the limit is refused loudly, and fetched once the limit or the object is mended.

use std::time::Duration;

use case_tests::{Fake, Mode};
use informer_client::Selectors;
use informer_core::{FailureClass, Resource, Store as _};
use informer_reflector::{Options, Phase};
use serde_json::json;

fn config_map(size: usize) -> serde_json::Value {
    json!({"metadata": {"name": "big"}, "data": {"x": "x".repeat(size)}})
}

#[test]
fn an_object_beyond_the_limit_is_an_error_with_its_number() {
    let config_maps = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
    for mode in Mode::ALL {
        let mut world = Fake::new();
        world.api.with(|api| {
            api.create(&config_maps, json!({"metadata": {"name": "small"}}))
                .unwrap()
        });
        let source = world
            .api_of(&config_maps)
            .source(Selectors::all())
            .frame_limit(10_000);
        let mut options = Options::named("limited");
        options.start = mode.start();
        options.seed = Some(1);
        let reflected = world.reflect_from(source, options);
        world.pass(Duration::from_secs(1));
        assert_eq!(reflected.store.len(), 1);

        // It comes by the watch, and then, since the watch cannot go on, by the list.
        world
            .api
            .with(|api| api.put(&config_maps, config_map(20_000)).unwrap());
        world.pass(Duration::from_secs(60));
        let status = reflected.now();
        assert_eq!(status.phase, Phase::BackingOff);
        let trouble = status.trouble().expect("it cannot be read");
        assert_eq!(trouble.class(), Some(FailureClass::Fatal));
        assert!(
            trouble.message.contains("longer than the limit of 10000 bytes"),
            "{trouble}"
        );
        assert!(!reflected.errors().is_empty());
        assert_eq!(reflected.store.len(), 1, "what was there stays");
        let rounds = world.requests("configmaps").len();
        assert!(rounds < 40, "{rounds} requests in a minute");

        world
            .api
            .with(|api| api.put(&config_maps, config_map(5_000)).unwrap());
        world.until(Duration::from_secs(90), "the mended object", || {
            reflected.store.len() == 2 && reflected.now().trouble().is_none()
        });
    }
}
