//! Custom resources come and go with their CustomResourceDefinition.

use informer_core::{Resource, Scope};
use serde_json::{Value, json};

use super::{
    FakeApi, KindKey, Target,
    def::{ResourceDef, SelectableField},
    objects,
};

fn is_definition(target: &Target) -> bool {
    target.key == KindKey::new("apiextensions.k8s.io", "customresourcedefinitions")
}

/// What a definition defines: one entry for each version that is served, the storage version first.
fn definitions(crd: &Value) -> Option<Vec<ResourceDef>> {
    let spec = crd.get("spec")?;
    let names = spec.get("names")?;
    let name = |field: &str| names.get(field).and_then(Value::as_str);
    let list = |field: &str| -> Vec<&str> {
        let items = names.get(field).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(Value::as_str).collect()
    };
    let (group, plural, kind) = (spec.get("group")?.as_str()?, name("plural")?, name("kind")?);
    let mut versions: Vec<&Value> = spec.get("versions")?.as_array()?.iter().collect();
    let flag = |version: &Value, field: &str| version.get(field).and_then(Value::as_bool) == Some(true);
    versions.retain(|version| flag(version, "served"));
    versions.sort_by_key(|version| !flag(version, "storage"));
    let mut defs = Vec::new();
    for version in versions {
        let resource = Resource {
            scope: match spec.get("scope").and_then(Value::as_str) {
                Some("Cluster") => Scope::Cluster,
                _ => Scope::Namespaced,
            },
            ..Resource::namespaced(group, version.get("name")?.as_str()?, plural, kind)
        };
        let mut def = ResourceDef::new(resource)
            .short_names(list("shortNames"))
            .categories(list("categories"))
            .with_generation();
        if let Some(singular) = name("singular") {
            def = def.singular(singular);
        }
        def.custom = true;
        def.unconditional_update = false;
        def.status = version.pointer("/subresources/status").is_some();
        let fields = version.get("selectableFields").and_then(Value::as_array);
        for path in fields
            .into_iter()
            .flatten()
            .filter_map(|it| it.get("jsonPath")?.as_str())
        {
            let path = path.trim_start_matches('.');
            def.selectable.push(SelectableField::new(path, path, ""));
        }
        defs.push(def);
    }
    Some(defs)
}

impl FakeApi {
    /// What follows from a write: a definition is served, and its status says so in a second write, as its controller does.
    pub(super) fn after_write(&mut self, target: &Target, name: &str) {
        if !is_definition(target) {
            return;
        }
        let Ok(current) = self.find(target, name).cloned() else {
            return;
        };
        let mut crd = objects::parse(&current);
        let Some(defs) = definitions(&crd) else { return };
        let Some(key) = defs.first().map(|def| KindKey::of(&def.resource)) else {
            return;
        };
        if self.kinds.get(&key).is_some() {
            self.kinds.replace_versions(&key, defs);
            self.touch();
        } else {
            defs.into_iter().for_each(|def| self.register(def));
        }
        if crd.pointer("/status/conditions").is_some() {
            return;
        }
        let now = self.wall();
        let condition = |kind: &str, reason: &str, message: &str| json!({"type": kind, "status": "True", "reason": reason, "message": message, "lastTransitionTime": now});
        let stored: Vec<Value> = crd
            .pointer("/spec/versions")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter(|version| version.get("storage") == Some(&Value::Bool(true)))
            .filter_map(|version| version.get("name").cloned())
            .collect();
        crd["status"] = json!({
            "acceptedNames": crd.pointer("/spec/names"),
            "conditions": [
                condition("NamesAccepted", "NoConflicts", "no conflicts found"),
                condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
            ],
            "storedVersions": stored,
        });
        self.overwrite(target, &current, crd);
    }

    /// What goes before a removal: what a definition defined is deleted and not served any more.
    pub(super) fn before_remove(&mut self, target: &Target, last: &Value) {
        if !is_definition(target) {
            return;
        }
        if let Some(def) = definitions(last).as_deref().and_then(<[_]>::first) {
            self.remove_kind(&KindKey::of(&def.resource));
        }
    }

    /// Deletes the objects of a kind whatever their finalizers, lets its watches say so and end, and forgets the kind.
    pub(super) fn remove_kind(&mut self, key: &KindKey) {
        let Some(kind) = self.kinds.get(key) else { return };
        let def = kind.main().clone();
        let objects: Vec<_> = kind
            .table
            .scan("", std::ops::Bound::Unbounded, None)
            .cloned()
            .collect();
        for stored in objects {
            let target = Target {
                key: key.clone(),
                def: def.clone(),
                namespace: stored.namespace().map(str::to_owned),
            };
            let last = objects::parse(&stored);
            self.remove(&target, &stored, last, false);
        }
        self.end_watches_of(key);
        self.kinds.remove(key);
        self.touch();
    }
}
