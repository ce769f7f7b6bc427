//! The registry of built-in kinds against what a server says of itself.

use informer_client::{ApiResource, Discovery, Kinds};

use crate::support::{admin, shared};

/// Of a group that comes with Kubernetes, in a version that stays, and such as an informer can follow.
fn is_stable(kind: &&ApiResource) -> bool {
    let resource = &kind.resource;
    let is_built_in = !resource.group.contains('.') || resource.group.ends_with(".k8s.io");
    let is_stable = !resource.version.contains("alpha") && !resource.version.contains("beta");
    is_built_in && is_stable && kind.has_verb("list") && kind.has_verb("watch")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_stable_kind_that_the_server_serves_is_registered() {
    let client = admin(shared().await);
    let discovery = Discovery::fetch(&client).await.unwrap();
    let stable: Vec<_> = discovery.kinds().iter().filter(is_stable).collect();
    assert!(stable.len() > 50, "{}", stable.len());
    let kinds = Kinds::kubernetes();
    let mut missing = Vec::new();
    for kind in stable {
        let wanted = &kind.resource;
        // Of one that is there in several versions, the preferred one is enough.
        match kinds.by_group_kind(&wanted.group, &wanted.kind) {
            Ok(found) => {
                assert_eq!(
                    (&found.plural, found.scope),
                    (&wanted.plural, wanted.scope),
                    "{wanted}"
                );
            }
            Err(_) => missing.push(format!("{} {}", wanted.api_version(), wanted.kind)),
        }
    }
    assert!(missing.is_empty(), "not registered: {missing:?}");
}
