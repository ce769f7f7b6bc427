//! The kind registry: each way, and what does not fit.

use informer_client::{DynamicMeta, DynamicObject, Kinds};
use informer_core::{Resource, Scope};
use k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod};

struct Gadget;
struct SlimPod;

fn gadgets() -> Resource {
    Resource::namespaced("example.org", "v1", "gadgets", "Gadget")
}

#[test]
fn types_and_kinds_are_found_each_way() {
    let kinds = Kinds::kubernetes();
    let deployments = kinds.of::<Deployment>().unwrap();
    assert_eq!(deployments.to_string(), "deployments.apps");
    assert_eq!(
        kinds.by_api_version("apps/v1", "Deployment").unwrap(),
        deployments
    );
    assert_eq!(kinds.by_group_kind("apps", "Deployment").unwrap(), deployments);
    assert_eq!(kinds.by_plural("apps", "v1", "deployments").unwrap(), deployments);
    assert_eq!(kinds.by_api_version("v1", "Node").unwrap().scope, Scope::Cluster);
    let types = kinds.types_of(&deployments);
    assert!(types.len() == 1 && types[0].ends_with("Deployment"), "{types:?}");
    assert!(
        kinds
            .meta::<Deployment>()
            .is_some_and(|meta| meta.fields().owners)
    );
}

#[test]
fn own_types_and_kinds_without_a_type_are_added_at_any_time() {
    let kinds = Kinds::new();
    let shared = kinds.clone();
    kinds
        .register::<Gadget>(gadgets())
        .unwrap()
        .register_dynamic(Resource::cluster("example.org", "v1", "widgets", "Widget"))
        .unwrap();
    assert_eq!(shared.of::<Gadget>().unwrap(), gadgets());
    assert_eq!(
        &*shared.by_api_version("example.org/v1", "Widget").unwrap().plural,
        "widgets"
    );
    assert!(shared.meta::<Gadget>().is_none());
    // The same again changes nothing, and a second form of a kind is welcome.
    kinds.register::<Gadget>(gadgets()).unwrap();
    kinds.register_typed::<Pod>().unwrap();
    assert!(kinds.is_whole::<Pod>() && !kinds.is_whole::<Gadget>());
    kinds.register::<SlimPod>(kinds.of::<Pod>().unwrap()).unwrap();
    assert_eq!(kinds.of::<SlimPod>().unwrap(), kinds.of::<Pod>().unwrap());
    assert_eq!(kinds.types_of(&kinds.of::<Pod>().unwrap()).len(), 2);
    assert_eq!(kinds.all().len(), 3);
    kinds
        .register_with::<DynamicObject>(gadgets(), DynamicMeta)
        .unwrap();
    assert!(kinds.meta::<DynamicObject>().is_some());
}

#[test]
fn the_version_that_was_added_first_stands_for_group_and_kind() {
    let kinds = Kinds::new();
    kinds.register_dynamic(gadgets()).unwrap();
    let newer = Resource::namespaced("example.org", "v2", "gadgets", "Gadget");
    kinds.register_dynamic(newer.clone()).unwrap();
    assert_eq!(kinds.by_group_kind("example.org", "Gadget").unwrap(), gadgets());
    assert_eq!(kinds.by_api_version("example.org/v2", "Gadget").unwrap(), newer);
}

#[test]
fn what_is_missing_is_named_beside_what_is_there() {
    let kinds = Kinds::new();
    assert_eq!(
        kinds.by_api_version("v1", "Pod").unwrap_err().to_string(),
        "v1 Pod is not registered: there are no kinds"
    );
    kinds.register::<Gadget>(gadgets()).unwrap();
    let error = kinds.of::<Pod>().unwrap_err();
    assert_eq!(error.known(), [gadgets()]);
    assert!(
        error
            .to_string()
            .ends_with("Pod is not registered: there are example.org/v1 Gadget"),
        "{error}"
    );
    let error = Kinds::kubernetes()
        .by_group_kind("example.org", "Gadget")
        .unwrap_err();
    assert!(error.to_string().ends_with(" more"), "{error}");
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let kinds = Kinds::new();
    kinds.register::<Gadget>(gadgets()).unwrap();
    let other = Resource::namespaced("example.org", "v1", "widgets", "Widget");
    let error = kinds.register::<Gadget>(other).unwrap_err();
    assert!(
        error.to_string().contains("Gadget is example.org/v1 Gadget"),
        "{error}"
    );
    let cluster_wide = Resource::cluster("example.org", "v1", "gadgets", "Gadget");
    let error = kinds.register_dynamic(cluster_wide).unwrap_err();
    assert!(
        error.to_string().starts_with("there is example.org/v1 Gadget"),
        "{error}"
    );
    assert_eq!(kinds.all(), [gadgets()]);
}
