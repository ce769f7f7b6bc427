//! Custom resources come and go with their CustomResourceDefinition.

use informer_core::{Resource, Scope};
use serde_json::{Value, json};

use super::{
    Cause, FakeApi, KindKey, Target,
    def::{Printed, ResourceDef, SelectableField},
    objects::{self, meta_mut, set},
    print::JsonPath,
};

/// Whoever takes the objects away before the definition goes: the controller that this model is, too.
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

pub(super) fn is_definition(target: &Target) -> bool {
    target.key == KindKey::new("apiextensions.k8s.io", "customresourcedefinitions")
}

/// What a new definition has whatever its creator says (apiextensions `SetDefaults_CustomResourceDefinitionSpec`).
pub(super) fn complete(target: &Target, object: &mut Value) {
    if !is_definition(target) {
        return;
    }
    let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut) else {
        return;
    };
    spec.entry("conversion")
        .or_insert_with(|| json!({"strategy": "None"}));
    let Some(names) = spec.get_mut("names").and_then(Value::as_object_mut) else {
        return;
    };
    let kind = names.get("kind").and_then(Value::as_str).unwrap_or("").to_owned();
    names
        .entry("listKind")
        .or_insert_with(|| format!("{kind}List").into());
    names
        .entry("singular")
        .or_insert_with(|| kind.to_lowercase().into());
}

/// What is wrong with a definition, of what can be told without a schema.
pub(super) fn problems(target: &Target, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    if !is_definition(target) {
        return causes;
    }
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or("");
    let (plural, group) = (text("/spec/names/plural"), text("/spec/group"));
    let name = text("/metadata/name");
    if name != format!("{plural}.{group}") {
        causes.push(Cause::invalid(
            "metadata.name",
            format!("{name:?}"),
            "must be spec.names.plural+\".\"+spec.group",
        ));
    }
    let versions = object.pointer("/spec/versions").and_then(Value::as_array);
    let stored = versions
        .into_iter()
        .flatten()
        .filter(|it| it["storage"] == Value::Bool(true));
    if stored.count() != 1 {
        let found = object.pointer("/spec/versions").unwrap_or(&Value::Null);
        causes.push(Cause::invalid(
            "spec.versions",
            found,
            "must have exactly one version marked as storage version",
        ));
    }
    causes
}

/// The columns of a version: the age where it names none (apiextensions `apihelpers.GetColumnsForVersion`).
fn printed(version: &Value) -> Vec<Printed> {
    let columns = version.get("additionalPrinterColumns").and_then(Value::as_array);
    let column = |column: &Value| {
        let text = |field: &str| column.get(field).and_then(Value::as_str).unwrap_or("");
        Printed {
            name: text("name").to_owned(),
            kind: text("type").to_owned(),
            format: text("format").to_owned(),
            priority: column.get("priority").and_then(Value::as_i64).unwrap_or(0),
            path: JsonPath::parse(text("jsonPath")),
        }
    };
    let age = || Printed {
        name: "Age".to_owned(),
        kind: "date".to_owned(),
        format: String::new(),
        priority: 0,
        path: JsonPath::parse(".metadata.creationTimestamp"),
    };
    match columns {
        Some(columns) if !columns.is_empty() => columns.iter().map(column).collect(),
        _ => vec![age()],
    }
}

/// What a definition defines: one entry for each version, the storage version first.
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
        def.served = flag(version, "served");
        def.unconditional_update = false;
        def.schema = version
            .pointer("/schema/openAPIV3Schema")
            .cloned()
            .map(std::sync::Arc::new);
        def.status = version.pointer("/subresources/status").is_some();
        def.printed = printed(version);
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
        set(meta_mut(&mut crd), "finalizers", json!([CLEANUP]));
        self.overwrite(target, &current, crd);
    }

    /// Ends a definition: its kind goes, and with it our finalizer.
    pub(super) fn end_definition(&mut self, target: &Target, name: &str) {
        let Ok(current) = self.find(target, name).cloned() else {
            return;
        };
        let mut object = objects::parse(&current);
        if let Some(def) = definitions(&object).as_deref().and_then(<[_]>::first) {
            self.remove_kind(&KindKey::of(&def.resource));
        }
        let mut finalizers = objects::texts(objects::meta(&object), "finalizers");
        finalizers.retain(|it| it != CLEANUP);
        let is_held = !finalizers.is_empty();
        set(meta_mut(&mut object), "finalizers", finalizers);
        if is_held {
            self.overwrite(target, &current, object);
        } else {
            self.remove(target, &current, false);
        }
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
            self.remove(&target, &stored, false);
        }
        self.end_watches_of(key);
        self.kinds.remove(key);
        self.kind_removed_at = self.revision;
        self.touch();
    }
}
