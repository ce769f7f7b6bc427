//! Exec plug-ins, measured.

use std::time::{Duration, SystemTime};

use informer_kubeconfig::{PluginCall, PluginMetrics as _};
use informer_prometheus::Registry;

use crate::scrape::Scrape;

const DAY: Duration = Duration::from_secs(24 * 3600);

#[test]
fn runs_are_counted_by_code_and_outcome() {
    let registry = Registry::new();
    for call in [
        PluginCall::Good,
        PluginCall::Good,
        PluginCall::Failed { code: Some(3) },
        PluginCall::Failed { code: None },
        PluginCall::NotFound,
        PluginCall::NotStarted,
    ] {
        registry.called(call);
    }
    let scrape = Scrape::of(&registry);
    for (code, status, expected) in [
        ("0", "no_error", 2.0),
        ("3", "plugin_execution_error", 1.0),
        ("-1", "plugin_execution_error", 1.0),
        ("1", "plugin_not_found_error", 1.0),
        ("1", "client_internal_error", 1.0),
    ] {
        let labels = format!("code={code} call_status={status}");
        assert_eq!(
            scrape.value("rest_client_exec_plugin_call_total", &labels),
            Some(expected),
            "{labels}"
        );
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "certificates expire by the clock on the wall"
)]
#[test]
fn the_first_certificate_to_expire_counts_and_a_replaced_one_tells_its_age() {
    let registry = Registry::new();
    let ttl = || {
        Scrape::of(&registry)
            .value("rest_client_exec_plugin_ttl_seconds", "")
            .unwrap()
    };
    assert_eq!(ttl(), f64::INFINITY);
    let now = SystemTime::now();
    registry.renewed("a", Some(now + 3 * DAY), None);
    registry.renewed("b", Some(now + DAY), None);
    let day = DAY.as_secs_f64();
    assert!((0.0..=day).contains(&ttl()), "{}", ttl());
    registry.renewed("b", Some(now - DAY), Some(2 * DAY));
    assert!(ttl() <= -day, "{}", ttl());
    registry.gone("b");
    assert!((2.0 * day..=3.0 * day).contains(&ttl()), "{}", ttl());
    registry.renewed("a", None, Some(DAY));
    assert_eq!(ttl(), f64::INFINITY);
    let scrape = Scrape::of(&registry);
    let age = "rest_client_exec_plugin_certificate_rotation_age";
    assert_eq!(scrape.value(&format!("{age}_count"), ""), Some(2.0));
    assert_eq!(scrape.value(&format!("{age}_sum"), ""), Some(3.0 * day));
}
