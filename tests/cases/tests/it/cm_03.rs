//! CM-03: a namespace that does not exist, comes, goes, and comes again.

use std::time::Duration;

use case_tests::{Fake, Mode, takes_all};
use informer_core::{Resource, Store as _};
use informer_reflector::Phase;
use serde_json::json;

#[test]
fn cm_03_a_namespace_that_is_not_there_is_empty() {
    let config_maps = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
    for mode in Mode::ALL {
        let mut world = Fake::new();
        let reflected = world.reflect(&config_maps, Some("ghost"), mode, 1);
        world.pass(Duration::from_secs(1));
        let status = reflected.now();
        assert_eq!((status.synced, status.phase), (true, Phase::Watching));
        assert!(reflected.store.is_empty());

        for _ in 0..2 {
            world.api.with(|api| {
                let object = json!({"metadata": {"name": "a", "namespace": "ghost"}});
                api.create(&config_maps, object).unwrap();
            });
            world.pass(Duration::from_secs(1));
            // What the namespace controller does when the namespace goes.
            world
                .api
                .with(|api| api.delete(&config_maps, Some("ghost"), "a").unwrap());
            world.pass(Duration::from_secs(1));
        }
        assert_eq!(reflected.changes(), ["add a", "delete a", "add a", "delete a"]);
        let taken = world
            .requests("configmaps")
            .iter()
            .filter(|it| takes_all(it))
            .count();
        assert_eq!(taken, 1);
        assert!(reflected.errors().is_empty());
    }
}
