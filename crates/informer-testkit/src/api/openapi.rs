//! OpenAPI v3, as far as clients look at it to find out what a server understands: the resources and the parameters of their patches. There
//! are no schemas: objects are not validated.

use informer_core::Scope;
use serde_json::{Map, Value, json};

use super::{FakeApi, ResourceDef};

/// What `kubectl` asks for before it leaves validation to the server.
const PARAMETERS: [&str; 4] = ["dryRun", "fieldManager", "fieldValidation", "force"];
/// Not strategic merge: without schemas, clients had better use what they know of the types themselves.
const BODIES: [&str; 3] = [
    "application/apply-patch+yaml",
    "application/json-patch+json",
    "application/merge-patch+json",
];

impl FakeApi {
    /// The document at a path below `/openapi/v3`; `None` when there is none.
    pub(crate) fn openapi(&self, path: &[&str]) -> Option<Value> {
        match path {
            [] => Some(self.openapi_root()),
            ["api", version] => self.openapi_of("", version),
            ["apis", group, version] => self.openapi_of(group, version),
            _ => None,
        }
    }

    fn openapi_root(&self) -> Value {
        let mut paths = Map::new();
        for def in self.kinds.defs() {
            let path = prefix(def);
            // Clients keep a document as long as its hash is this.
            let url = format!("/openapi/v3/{path}?hash={}", self.kinds.len());
            paths.insert(path, json!({"serverRelativeURL": url}));
        }
        json!({"paths": paths})
    }

    fn openapi_of(&self, group: &str, version: &str) -> Option<Value> {
        let mut defs = self.kinds.defs();
        let mine = |def: &&ResourceDef| &*def.resource.group == group && &*def.resource.version == version;
        let mut paths = Map::new();
        for def in defs.by_ref().filter(mine) {
            let namespace = match def.resource.scope {
                Scope::Namespaced => "namespaces/{namespace}/",
                Scope::Cluster => "",
            };
            let path = format!("/{}/{namespace}{}/{{name}}", prefix(def), def.resource.plural);
            paths.insert(path, json!({"patch": patch(def)}));
        }
        (!paths.is_empty()).then(|| {
            json!({
                "openapi": "3.0.0",
                "info": {"title": "Kubernetes", "version": "v1.37.2"},
                "paths": paths,
                "components": {"schemas": {}},
            })
        })
    }
}

fn prefix(def: &ResourceDef) -> String {
    let resource = &def.resource;
    if resource.group.is_empty() {
        format!("api/{}", resource.version)
    } else {
        format!("apis/{}/{}", resource.group, resource.version)
    }
}

fn patch(def: &ResourceDef) -> Value {
    let parameter = |name: &str| json!({"name": name, "in": "query", "schema": {"type": "string"}});
    let body = |name: &str| (name.to_owned(), json!({"schema": {"type": "object"}}));
    let resource = &def.resource;
    json!({
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": {
            "group": &*resource.group,
            "version": &*resource.version,
            "kind": &*resource.kind,
        },
        "parameters": PARAMETERS.map(parameter),
        "requestBody": {"content": BODIES.map(body).into_iter().collect::<Map<_, _>>()},
        "responses": {"200": {"description": "OK"}},
    })
}
