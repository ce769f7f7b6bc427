//! Resources: their paths and names.

use informer_core::{Resource, Scope};

#[test]
fn paths_follow_group_and_scope() {
    let pods = Resource::namespaced("", "v1", "pods", "Pod");
    assert_eq!(pods.path(None), "/api/v1/pods");
    assert_eq!(pods.path(Some("shop")), "/api/v1/namespaces/shop/pods");
    let deployments = Resource::namespaced("apps", "v1", "deployments", "Deployment");
    assert_eq!(
        deployments.path(Some("shop")),
        "/apis/apps/v1/namespaces/shop/deployments"
    );
    let nodes = Resource::cluster("", "v1", "nodes", "Node");
    assert_eq!(
        (nodes.path(Some("shop")).as_str(), nodes.scope),
        ("/api/v1/nodes", Scope::Cluster)
    );
}

#[test]
fn prints_as_kubectl_names_it() {
    let pods = Resource::namespaced("", "v1", "pods", "Pod");
    let deployments = Resource::namespaced("apps", "v1", "deployments", "Deployment");
    assert_eq!(
        (pods.to_string(), pods.api_version()),
        ("pods".into(), "v1".into())
    );
    assert_eq!(
        (deployments.to_string(), deployments.api_version()),
        ("deployments.apps".into(), "apps/v1".into())
    );
}
