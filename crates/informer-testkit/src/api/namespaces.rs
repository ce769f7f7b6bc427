//! Namespaces: what is created in them, and how they end: marked, emptied, removed (kubernetes `registry/core/namespace`, and the
//! namespace controller's part).

use std::{ops::Bound, sync::Arc};

use serde_json::{Value, json};

use super::{
    ApiError, Cause, DeleteOptions, FakeApi, KindKey, Target, Written,
    objects::{self, meta, meta_mut, set},
    table::Stored,
};

/// Those that are never deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-system", "kube-public"];

/// Who empties a namespace before it goes: the controller that this model is, too.
const OURS: &str = "kubernetes";

fn key() -> KindKey {
    KindKey::new("", "namespaces")
}

pub(super) fn is_namespace(target: &Target) -> bool {
    target.key == key()
}

/// The finalizers of a namespace's own, beside those of its metadata.
pub(super) fn spec_finalizers(object: &Value) -> Vec<String> {
    let spec = object.get("spec").and_then(Value::as_object);
    spec.map_or_else(Vec::new, |spec| objects::texts(spec, "finalizers"))
}

fn is_terminating(stored: &Stored) -> bool {
    meta(&objects::parse(stored)).contains_key("deletionTimestamp")
}

/// What a new namespace has whatever its creator says.
pub(super) fn complete(object: &mut Value) {
    name_in_labels(object);
    let mut finalizers = spec_finalizers(object);
    if !finalizers.iter().any(|it| it == OURS) {
        finalizers.push(OURS.to_owned());
    }
    object["spec"] = json!({"finalizers": finalizers});
}

/// Every namespace has its name as a label.
pub(super) fn name_in_labels(object: &mut Value) {
    let fields = meta_mut(object);
    let name = objects::text(fields, "name").to_owned();
    if !fields.get("labels").is_some_and(Value::is_object) {
        set(fields, "labels", json!({}));
    }
    fields["labels"]["kubernetes.io/metadata.name"] = name.into();
}

impl FakeApi {
    /// Whether something may be created there (apiserver `admission/plugin/namespace/lifecycle`). A model without namespaces has no say.
    pub(super) fn check_lifecycle(&self, target: &Target, name: &str) -> Result<(), ApiError> {
        let Some(namespace) = &target.namespace else {
            return Ok(());
        };
        let Some(kind) = self.kinds.get(&key()) else {
            return Ok(());
        };
        match kind.table.get(namespace) {
            None => Err(ApiError::not_found(kind.main().resource(), namespace)),
            Some(stored) if is_terminating(stored) => {
                let why = format!(
                    "unable to create new content in namespace {namespace} because it is being terminated"
                );
                let cause = Cause::new(
                    "NamespaceTerminating",
                    "metadata.namespace",
                    format!("namespace {namespace} is being terminated"),
                );
                Err(ApiError::refused(target.resource(), name, &why).with_causes(vec![cause]))
            }
            Some(_) => Ok(()),
        }
    }

    /// Begins the end of a namespace. Its last state before its contents go is the answer.
    pub(super) fn delete_namespace(
        &mut self,
        target: &Target,
        current: &Arc<Stored>,
        options: &DeleteOptions,
    ) -> Result<Written, ApiError> {
        let name = current.name().to_owned();
        if IMMORTAL.contains(&&*name) {
            return Err(ApiError::refused(
                target.resource(),
                &name,
                "this namespace may not be deleted",
            ));
        }
        let mut object = objects::parse(current);
        if meta(&object).contains_key("deletionTimestamp") {
            // Already on its way, and held by somebody: else it would be gone.
            return Ok(Written::Is(current.clone()));
        }
        let now = self.wall();
        set(meta_mut(&mut object), "deletionTimestamp", now);
        object["status"]["phase"] = "Terminating".into();
        if options.dry_run {
            return Ok(Written::Would(current.clone()));
        }
        let marked = self.overwrite(target, current, object);
        self.empty_namespace(&name);
        self.end_namespace(&name);
        Ok(Written::Is(marked))
    }

    /// Deletes everything in a namespace; what has finalizers stays until they are gone.
    fn empty_namespace(&mut self, namespace: &str) {
        let prefix = format!("{namespace}/");
        let mut found = Vec::new();
        for (key, kind) in self.kinds.iter() {
            let def = kind.main();
            if def.resource.scope != informer_core::Scope::Namespaced {
                continue;
            }
            let target = Target {
                key: key.clone(),
                def: def.clone(),
                namespace: Some(namespace.to_owned()),
            };
            let objects = kind.table.scan(&prefix, Bound::Unbounded, None);
            found.extend(objects.map(|stored| (target.clone(), stored.name().to_owned())));
        }
        for (target, name) in found {
            // It was there a moment ago, and nothing else runs.
            let _deleted = self.do_delete(&target, &name, &DeleteOptions::default());
        }
    }

    /// Goes on with the end of a namespace if it has begun: once it is empty, our finalizer goes, and with the last one the namespace.
    pub(super) fn end_namespace(&mut self, name: &str) {
        let Some(kind) = self.kinds.get(&key()) else {
            return;
        };
        let target = Target {
            key: key(),
            def: kind.main().clone(),
            namespace: None,
        };
        let Some(current) = kind.table.get(name).cloned() else {
            return;
        };
        if !is_terminating(&current) || !self.is_empty_namespace(name) {
            return;
        }
        let mut object = objects::parse(&current);
        let mut finalizers = spec_finalizers(&object);
        let n_before = finalizers.len();
        finalizers.retain(|it| it != OURS);
        let is_held = !finalizers.is_empty() || !objects::texts(meta(&object), "finalizers").is_empty();
        if is_held {
            if finalizers.len() < n_before {
                object["spec"] = json!({"finalizers": finalizers});
                self.overwrite(&target, &current, object);
            }
            return;
        }
        self.remove(&target, &current, false);
    }

    fn is_empty_namespace(&self, namespace: &str) -> bool {
        let prefix = format!("{namespace}/");
        self.kinds.iter().all(|(_, kind)| {
            let mut objects = kind.table.scan(&prefix, Bound::Unbounded, None);
            objects.next().is_none()
        })
    }
}
