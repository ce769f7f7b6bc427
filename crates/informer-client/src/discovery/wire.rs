//! The documents of discovery: aggregated (`apidiscovery.k8s.io/v2`) and one by one.

use informer_core::Resource;
use serde::Deserialize;

use super::ApiResource;

/// The answer to `/api` or `/apis`, in any of its forms.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind")]
pub(super) enum Root {
    /// Everything at once.
    #[serde(rename = "APIGroupDiscoveryList")]
    Aggregated {
        #[serde(default)]
        items: Vec<Group>,
    },
    /// The versions of the core group.
    #[serde(rename = "APIVersions")]
    Versions {
        #[serde(default)]
        versions: Vec<String>,
    },
    /// The groups and their versions.
    #[serde(rename = "APIGroupList")]
    Groups {
        #[serde(default)]
        groups: Vec<GroupSummary>,
    },
}

#[derive(Debug, Deserialize)]
pub(super) struct Group {
    #[serde(default)]
    pub(super) metadata: GroupMeta,
    #[serde(default)]
    pub(super) versions: Vec<Version>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct GroupMeta {
    /// Empty for the core group.
    #[serde(default)]
    pub(super) name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Version {
    pub(super) version: String,
    #[serde(default)]
    pub(super) resources: Vec<VersionResource>,
    #[serde(default)]
    pub(super) freshness: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct VersionResource {
    resource: String,
    #[serde(default)]
    response_kind: Option<ResponseKind>,
    scope: String,
    #[serde(default)]
    singular_resource: String,
    #[serde(default)]
    verbs: Vec<String>,
    #[serde(default)]
    short_names: Vec<String>,
    #[serde(default)]
    categories: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct ResponseKind {
    kind: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GroupSummary {
    pub(super) name: String,
    #[serde(default)]
    versions: Vec<VersionSummary>,
    #[serde(default)]
    preferred_version: Option<VersionSummary>,
}

#[derive(Debug, Deserialize)]
pub(super) struct VersionSummary {
    version: String,
}

/// The answer to `/api/v1` or `/apis/GROUP/VERSION`.
#[derive(Debug, Deserialize)]
pub(super) struct ResourceList {
    #[serde(default)]
    pub(super) resources: Vec<ListedResource>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedResource {
    name: String,
    #[serde(default)]
    singular_name: String,
    namespaced: bool,
    kind: String,
    #[serde(default)]
    verbs: Vec<String>,
    #[serde(default)]
    short_names: Vec<String>,
    #[serde(default)]
    categories: Vec<String>,
}

impl GroupSummary {
    /// The versions, the preferred one first.
    pub(super) fn versions(&self) -> impl Iterator<Item = &str> {
        let preferred = self.preferred_version.as_ref().map(|it| &*it.version);
        let others = self.versions.iter().map(|it| &*it.version);
        preferred
            .into_iter()
            .chain(others.filter(move |&version| Some(version) != preferred))
    }
}

impl VersionResource {
    /// `None` for what has no kind of its own.
    pub(super) fn into_kind(self, group: &str, version: &str) -> Option<ApiResource> {
        let kind = self.response_kind?.kind;
        Some(ApiResource {
            resource: resource(group, version, &self.resource, &kind, self.scope == "Namespaced"),
            singular: singular(self.singular_resource, &kind),
            short_names: self.short_names,
            verbs: self.verbs,
            categories: self.categories,
        })
    }
}

impl ListedResource {
    /// `None` for subresources, which this form lists beside the others.
    pub(super) fn into_kind(self, group: &str, version: &str) -> Option<ApiResource> {
        if self.name.contains('/') {
            return None;
        }
        Some(ApiResource {
            resource: resource(group, version, &self.name, &self.kind, self.namespaced),
            singular: singular(self.singular_name, &self.kind),
            short_names: self.short_names,
            verbs: self.verbs,
            categories: self.categories,
        })
    }
}

fn resource(group: &str, version: &str, plural: &str, kind: &str, is_namespaced: bool) -> Resource {
    if is_namespaced {
        Resource::namespaced(group, version, plural, kind)
    } else {
        Resource::cluster(group, version, plural, kind)
    }
}

/// Old servers leave the singular name empty.
fn singular(name: String, kind: &str) -> String {
    if name.is_empty() {
        kind.to_lowercase()
    } else {
        name
    }
}
