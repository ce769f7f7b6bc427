//! Discovery: which groups, versions and resources are served, in the old form and the aggregated one.

use informer_core::Scope;
use serde_json::{Value, json};

use super::{FakeApi, ResourceDef};

/// Custom resources are listed by another hand.
const CUSTOM_VERBS: [&str; 8] = [
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "create",
    "update",
    "watch",
];
const VERBS: [&str; 8] = [
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];
const STATUS_VERBS: [&str; 3] = ["get", "patch", "update"];

/// A group and its versions, the preferred one first.
struct Group<'a> {
    name: &'a str,
    versions: Vec<&'a str>,
}

impl FakeApi {
    /// The document at a discovery path; `None` when there is none.
    pub(crate) fn discovery(&self, path: &[&str], aggregated: bool) -> Option<Value> {
        match path {
            ["api"] if aggregated => Some(self.aggregated(true)),
            ["apis"] if aggregated => Some(self.aggregated(false)),
            ["api"] => Some(json!({
                "kind": "APIVersions",
                "versions": ["v1"],
                "serverAddressByClientCIDRs": [],
            })),
            ["apis"] => Some(json!({
                "kind": "APIGroupList",
                "apiVersion": "v1",
                "groups": self.groups(false).iter().map(group_json).collect::<Vec<_>>(),
            })),
            ["apis", name] => {
                let groups = self.groups(false);
                let group = groups.iter().find(|group| group.name == *name)?;
                let mut document = group_json(group);
                document["kind"] = "APIGroup".into();
                document["apiVersion"] = "v1".into();
                Some(document)
            }
            ["api", version] => self.resource_list("", version),
            ["apis", group, version] => self.resource_list(group, version),
            ["version"] => Some(version()),
            ["openapi", "v3", rest @ ..] => self.openapi(rest),
            _ => None,
        }
    }

    fn groups(&self, core: bool) -> Vec<Group<'_>> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        let mine = |def: &&ResourceDef| def.resource.group.is_empty() == core;
        for def in self.kinds.defs().filter(mine) {
            let version = &*def.resource.version;
            match groups.iter_mut().find(|group| group.name == &*def.resource.group) {
                Some(group) if group.versions.contains(&version) => {}
                Some(group) => group.versions.push(version),
                None => groups.push(Group {
                    name: &def.resource.group,
                    versions: vec![version],
                }),
            }
        }
        groups
    }

    fn defs_of<'a>(&'a self, group: &'a str, version: &'a str) -> impl Iterator<Item = &'a ResourceDef> {
        self.kinds
            .defs()
            .filter(move |def| &*def.resource.group == group && &*def.resource.version == version)
    }

    fn resource_list(&self, group: &str, version: &str) -> Option<Value> {
        let mut resources = Vec::new();
        for def in self.defs_of(group, version) {
            let namespaced = def.resource.scope == Scope::Namespaced;
            let mut resource = json!({
                "name": &*def.resource.plural,
                "singularName": def.singular,
                "namespaced": namespaced,
                "kind": &*def.resource.kind,
                "verbs": if def.custom { CUSTOM_VERBS } else { VERBS },
            });
            if !def.short_names.is_empty() {
                resource["shortNames"] = json!(def.short_names);
            }
            if !def.categories.is_empty() {
                resource["categories"] = json!(def.categories);
            }
            resources.push(resource);
            if def.scale {
                resources.push(json!({
                    "name": format!("{}/scale", def.resource.plural),
                    "singularName": "",
                    "namespaced": namespaced,
                    "group": "autoscaling",
                    "version": "v1",
                    "kind": "Scale",
                    "verbs": STATUS_VERBS,
                }));
            }
            if def.status {
                resources.push(json!({
                    "name": format!("{}/status", def.resource.plural),
                    "singularName": "",
                    "namespaced": namespaced,
                    "kind": &*def.resource.kind,
                    "verbs": STATUS_VERBS,
                }));
            }
        }
        let group_version = if group.is_empty() {
            version.to_owned()
        } else {
            format!("{group}/{version}")
        };
        (!resources.is_empty()).then(|| {
            json!({
                "kind": "APIResourceList",
                "apiVersion": "v1",
                "groupVersion": group_version,
                "resources": resources,
            })
        })
    }

    /// `apidiscovery.k8s.io/v2`: everything in one document.
    fn aggregated(&self, core: bool) -> Value {
        let items: Vec<Value> = self
            .groups(core)
            .iter()
            .map(|group| {
                let versions: Vec<Value> = group
                    .versions
                    .iter()
                    .map(|version| {
                        let resources: Vec<Value> = self
                            .defs_of(group.name, version)
                            .map(aggregated_resource)
                            .collect();
                        json!({"version": version, "resources": resources, "freshness": "Current"})
                    })
                    .collect();
                let metadata = if group.name.is_empty() {
                    json!({})
                } else {
                    json!({"name": group.name})
                };
                json!({"metadata": metadata, "versions": versions})
            })
            .collect();
        json!({
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": items,
        })
    }
}

fn aggregated_resource(def: &ResourceDef) -> Value {
    let kind = json!({
        "group": &*def.resource.group,
        "version": &*def.resource.version,
        "kind": &*def.resource.kind,
    });
    let mut resource = json!({
        "resource": &*def.resource.plural,
        "responseKind": kind,
        "scope": if def.resource.scope == Scope::Namespaced { "Namespaced" } else { "Cluster" },
        "singularResource": def.singular,
        "verbs": if def.custom { CUSTOM_VERBS } else { VERBS },
    });
    if !def.short_names.is_empty() {
        resource["shortNames"] = json!(def.short_names);
    }
    if !def.categories.is_empty() {
        resource["categories"] = json!(def.categories);
    }
    let mut subresources = Vec::new();
    if def.scale {
        let scale = json!({"group": "autoscaling", "version": "v1", "kind": "Scale"});
        subresources.push(json!({"subresource": "scale", "responseKind": scale, "verbs": STATUS_VERBS}));
    }
    if def.status {
        subresources.push(json!({"subresource": "status", "responseKind": kind, "verbs": STATUS_VERBS}));
    }
    if !subresources.is_empty() {
        resource["subresources"] = subresources.into();
    }
    resource
}

fn group_json(group: &Group<'_>) -> Value {
    let versions: Vec<Value> = group
        .versions
        .iter()
        .map(|version| json!({"groupVersion": format!("{}/{version}", group.name), "version": version}))
        .collect();
    json!({
        "name": group.name,
        "versions": versions,
        "preferredVersion": versions.first(),
    })
}

fn version() -> Value {
    json!({
        "major": "1",
        "minor": "37",
        "gitVersion": "v1.37.2+informer",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "2026-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    })
}
