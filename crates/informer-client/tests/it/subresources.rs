//! T32: subresources.

use informer_client::{DeleteOptions, TokenOptions, WriteOptions};
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{Pod, ServiceAccount},
};
use serde_json::{Value, json};

use crate::{
    access::live,
    scripted::{Scripted, ok, run},
};

#[tokio::test(start_paused = true)]
async fn t32_scale_and_status_at_the_model() {
    let (_, client) = live();
    let deployments = client.client().typed::<Deployment>().in_namespace("default");
    let spec = json!({"replicas": 2, "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}}});
    let object = json!({"metadata": {"name": "web", "namespace": "default"}, "spec": spec});
    deployments
        .create(&object, &WriteOptions::default())
        .await
        .unwrap();
    assert_eq!(deployments.scale("web").await.unwrap().wanted, 2);
    let scale = deployments
        .set_scale("web", 5, &WriteOptions::default())
        .await
        .unwrap();
    let web = deployments.get("web").await.unwrap();
    assert_eq!(
        (scale.wanted, scale.version.as_str()),
        (5, web.identity.stamp.version.as_str())
    );
    assert_eq!(web.object.spec.replicas, Some(5));
    let status: Value = deployments.get_subresource("web", "status").await.unwrap();
    assert_eq!(status["metadata"]["name"], "web");
}

#[test]
fn t32_eviction_binding_and_token() {
    let success = r#"{"kind":"Status","status":"Success","code":201}"#;
    let token =
        r#"{"kind":"TokenRequest","status":{"token":"secret","expirationTimestamp":"2026-01-01T00:00:00Z"}}"#;
    let (log, client) = Scripted::new([ok(success), ok(success), ok(token), ok(r#"{"status":{}}"#)]);
    let pods = client.typed::<Pod>().in_namespace("ns");
    run(pods.evict("a", &DeleteOptions::default().grace_period(5))).unwrap();
    run(pods.bind("a", "n1", &WriteOptions::default().dry_run())).unwrap();
    let accounts = client.typed::<ServiceAccount>().in_namespace("ns");
    let options = TokenOptions::default().audience("vault").expires_in(600);
    let token = run(accounts.token("default", &options)).unwrap();
    assert_eq!(token.token, "secret");
    assert!(!format!("{token:?}").contains("secret"));
    assert!(run(accounts.token("default", &TokenOptions::default())).is_err());
    assert_eq!(
        log.requests()[..3],
        [
            r#"POST /api/v1/namespaces/ns/pods/a/eviction {"apiVersion":"policy/v1","deleteOptions":{"gracePeriodSeconds":5},"kind":"Eviction","metadata":{"name":"a","namespace":"ns"}}"#,
            r#"POST /api/v1/namespaces/ns/pods/a/binding?dryRun=All {"apiVersion":"v1","kind":"Binding","metadata":{"name":"a","namespace":"ns"},"target":{"apiVersion":"v1","kind":"Node","name":"n1"}}"#,
            r#"POST /api/v1/namespaces/ns/serviceaccounts/default/token {"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"audiences":["vault"],"expirationSeconds":600}}"#,
        ]
    );
}
