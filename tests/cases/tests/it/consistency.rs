//! Streaming lists of the API server model are what its lists of the same version are.

use std::time::Duration;

use case_tests::{Fake, Mode};
use informer_client::Selectors;
use informer_core::Resource;
use informer_reflector::{ConsistencyDetector, Options};
use serde_json::json;

#[test]
fn a_streamed_start_equals_a_list_of_its_version() {
    let config_maps = Resource::namespaced("", "v1", "configmaps", "ConfigMap");
    let mut world = Fake::new();
    let source = world.api_of(&config_maps).source(Selectors::all());
    let detector = ConsistencyDetector::new(source).fingerprint(|object| format!("{object:?}"));
    let report = detector.report();
    let mut options = Options::named("checked");
    options.start = Mode::Streaming.start();
    options.seed = Some(1);
    let reflected = world.reflect_from(detector, options);
    for round in 0..5 {
        world.api.with(|api| {
            for n in 0..40 {
                let name = format!("m{}", (n * 7 + round) % 50);
                let object = json!({"metadata": {"name": name}, "data": {"round": round.to_string()}});
                api.put(&config_maps, object).unwrap();
            }
            let gone = format!("m{}", round * 7 % 50);
            api.delete(&config_maps, Some("default"), &gone).unwrap();
            // The next watch finds its version gone, and the state is streamed anew.
            api.cut_connections();
            api.compact(api.revision());
        });
        world.pass(Duration::from_secs(120));
        assert_eq!(reflected.now().relists, round);
    }
    report.assert_consistent();
    assert_eq!(report.checked(), 5);
    assert!(report.skipped().is_empty(), "{:?}", report.skipped());
}
