//! What holds of any bytes as a kubeconfig. The fuzz target and the test that replays its corpus share it.

use std::{error::Error, path::Path, sync::Arc};

use informer_kubeconfig::{Config, Kubeconfig, MemoryEnvironment, Overrides};

/// It is read or refused with a sentence, and so is what is made of it.
pub(super) fn parse(data: &[u8]) {
    let path = Path::new("/home/somebody/.kube/config");
    let config = match Kubeconfig::parse(data, path) {
        Ok(config) => config,
        Err(error) => return assert_says_something(&error),
    };
    let description = config.describe();
    assert!(
        description
            .contexts
            .iter()
            .map(|context| &*context.name)
            .eq(config.context_names())
    );
    assert!(description.to_string().starts_with("file: "));
    let mut merged = config.clone();
    merged.merge(config.clone());
    assert_eq!(merged.current_context(), config.current_context());
    assert!(merged.context_names().eq(config.context_names()));
    let environment = Arc::new(MemoryEnvironment::new().file(path, data));
    match Config::from_kubeconfig(&config, environment, &Overrides::default()) {
        Ok(config) => {
            assert!(!config.server().is_empty() && !config.namespace().is_empty());
            assert!(config.describe().to_string().contains("namespace: "));
        }
        Err(error) => assert_says_something(&error),
    }
}

fn assert_says_something(error: &dyn Error) {
    let mut level = Some(error);
    while let Some(error) = level {
        assert!(!error.to_string().trim().is_empty());
        level = error.source();
    }
}
