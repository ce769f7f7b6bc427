//! What identifies a kind: kube's ways to say it, and ours.

use informer_client::KnownScope;
use informer_core::{Resource, Scope};
use kube::core::ApiResource;

/// The kind of a type that knows its scope: a type of k8s-openapi, or one that `kube::CustomResource` was derived for.
#[must_use]
pub fn resource_of<K>(dynamic: &K::DynamicType) -> Resource
where
    K: kube::Resource,
    K::Scope: KnownScope,
{
    resource_with::<K>(dynamic, K::Scope::SCOPE)
}

/// The kind of a type whose scope is known to the caller: a `DynamicObject` with its `ApiResource`, as discovery finds it.
#[must_use]
pub fn resource_with<K: kube::Resource>(dynamic: &K::DynamicType, scope: Scope) -> Resource {
    Resource {
        group: (&*K::group(dynamic)).into(),
        version: (&*K::version(dynamic)).into(),
        plural: (&*K::plural(dynamic)).into(),
        kind: (&*K::kind(dynamic)).into(),
        scope,
    }
}

/// The same in kube's form, which has no scope.
#[must_use]
pub fn api_resource(resource: &Resource) -> ApiResource {
    ApiResource {
        group: resource.group.to_string(),
        version: resource.version.to_string(),
        api_version: resource.api_version(),
        kind: resource.kind.to_string(),
        plural: resource.plural.to_string(),
    }
}
