//! Server-side apply: what a manager of fields wants, merged into the object; conflicts where another manager has other values.
//!
//! Left out: schemas, and so defaults and types; bodies in YAML; managers of before the first apply are one, `before-first-apply`; who leaves
//! a list without keys out does not give up parts of it, since it is one value.

use std::{collections::BTreeMap, fmt::Write as _};

use informer_core::Resource;
use serde_json::{Map, Value};

use super::{
    ApiError, Cause, FakeApi, Part, Patch, Target, WriteOptions, Written,
    managed::{self, APPLY, Entry, Path, UPDATE},
    objects::{self, meta, meta_mut, set, text},
    render,
    schema::{ListKind, Node, Place},
    update::check_uid,
    validate,
    write::{check_namespace, set_status},
};

impl FakeApi {
    /// Applies what a manager of fields wants of an object, which is made when it is not there (server-side apply).
    ///
    /// Fields that the manager applied before and does not any more are removed, unless somebody else has them, too. With `force`, fields
    /// that others have with other values are taken from them.
    ///
    /// # Errors
    /// 409 with a cause for each conflict; as [`create`](Self::create) and [`update`](Self::update).
    pub fn apply(
        &mut self,
        resource: &Resource,
        object: Value,
        manager: &str,
        force: bool,
    ) -> Result<Value, ApiError> {
        let namespace = text(meta(&object), "namespace");
        let namespace = if namespace.is_empty() {
            "default"
        } else {
            namespace
        };
        let target = self.kinds.target(resource, Some(namespace))?;
        let name = text(meta(&object), "name").to_owned();
        let options = WriteOptions {
            manager: manager.to_owned(),
            ..WriteOptions::default()
        };
        let patch = Patch::Apply { object, force };
        let written = self.do_patch(&target, &name, &patch, Part::Main, &options)?;
        Ok(render::value(&target.def, written.state()))
    }

    pub(super) fn do_apply(
        &mut self,
        target: &Target,
        name: &str,
        config: &Value,
        force: bool,
        part: Part,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        let config = configuration(target, name, config, part, options)?;
        let root = Node::root(&target.def);
        let mut mine = Entry::new(target, &options.manager, APPLY, part, &self.wall());
        mine.paths = managed::fields_of(&config, root);
        let Ok(current) = self.find(target, name).cloned() else {
            return self.apply_new(target, config, mine, part, options);
        };
        self.check_version(target, &current, &config)?;
        let live = objects::parse(&current);
        check_uid(target, &config, &live)?;
        let mut managers = managed::entries(&live);
        if managers.is_empty() {
            let mut before = Entry::new(target, "before-first-apply", UPDATE, Part::Main, &mine.time);
            before.paths = managed::fields_of(&live, root);
            managers.push(before);
        }
        let (own, mut others): (Vec<Entry>, Vec<Entry>) =
            managers.into_iter().partition(|entry| entry.is_same(&mine));
        let mut merged = live.clone();
        merge_top(&mut merged, &config, root);
        let conflicts = conflicts(&merged, &live, &mine, &others, root);
        if !conflicts.is_empty() && !force {
            return Err(conflict_error(&conflicts));
        }
        for (entry, path) in &conflicts {
            for it in others.iter_mut().filter(|it| it.is_same(entry)) {
                it.paths.remove(path);
            }
        }
        let prior = own.first().map(|entry| entry.paths.clone()).unwrap_or_default();
        // An item as a whole comes before its fields.
        for path in prior.iter().filter(|path| !mine.paths.contains(*path)) {
            if !is_held(path, &mine, &others) {
                managed::remove(&mut merged, path, None, root);
            }
        }
        others.iter_mut().for_each(|entry| {
            entry
                .paths
                .retain(|path| managed::find(&merged, path, root).is_some())
        });
        if prior == mine.paths && without_managers(&merged) == without_managers(&live) {
            // The same again: not even the time of the entry changes.
            mine.time = own.first().map(|entry| entry.time.clone()).unwrap_or_default();
        }
        others.push(mine);
        managed::set_entries(&mut merged, others);
        let status = merged.get("status").cloned();
        self.replace(target, &current, merged, status, options)
    }

    fn apply_new(
        &mut self,
        target: &Target,
        mut config: Value,
        mine: Entry,
        part: Part,
        options: &WriteOptions,
    ) -> Result<Written, ApiError> {
        let name = text(meta(&config), "name").to_owned();
        if part != Part::Main {
            return Err(ApiError::not_found(target.resource(), &name));
        }
        let uid = text(meta(&config), "uid");
        if !uid.is_empty() {
            let why = format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            );
            return Err(ApiError::conflict(target.resource(), &name, &why));
        }
        if options.strict {
            self.check_lifecycle(target, &name)?;
        }
        managed::set_entries(&mut config, vec![mine]);
        let status = config.get("status").cloned();
        self.insert(target, config, status, options)
    }
}

/// The configuration without what cannot be applied, once it is found sound.
fn configuration(
    target: &Target,
    name: &str,
    config: &Value,
    part: Part,
    options: &WriteOptions,
) -> Result<Value, ApiError> {
    if options.manager.is_empty() {
        let cause = Cause::required("fieldManager", "is required for apply patch");
        return Err(ApiError::invalid("meta.k8s.io", "PatchOptions", "", vec![cause]));
    }
    check_type(target, config, options.strict)?;
    let mut config = config.clone();
    check_namespace(target, &mut config)?;
    if meta(&config).contains_key("managedFields") {
        return Err(ApiError::bad_request("metadata.managedFields must be nil"));
    }
    let given = text(meta(&config), "name");
    if !given.is_empty() && given != name {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({given}) does not match the name on the URL ({name})"
        )));
    }
    set(meta_mut(&mut config), "name", name);
    target.def.keep_names(&mut config);
    objects::tidy(&mut config);
    if part == Part::Status {
        let status = config.get("status").cloned();
        let version = meta(&config).get("resourceVersion").cloned();
        config = serde_json::json!({"metadata": {"name": name}});
        if let Some(version) = version {
            set(meta_mut(&mut config), "resourceVersion", version);
        }
        set_status(&mut config, status);
    } else if target.def.status {
        set_status(&mut config, None);
    }
    Ok(config)
}

/// A configuration names its kind and version.
fn check_type(target: &Target, config: &Value, strict: bool) -> Result<(), ApiError> {
    let resource = target.resource();
    let named = |field: &str| config.get(field).and_then(Value::as_str).unwrap_or("");
    let (kind, version) = (named("kind"), named("apiVersion"));
    if !strict || (kind == &*resource.kind && version == resource.api_version()) {
        return validate::kind(target, config, strict);
    }
    let (group, version) = version.split_once('/').unwrap_or(("", version));
    Err(ApiError::bad_request(format!(
        "invalid object type: {group}/{version}, Kind={kind}"
    )))
}

/// Which fields others have, and would have with other values.
fn conflicts(
    merged: &Value,
    live: &Value,
    mine: &Entry,
    others: &[Entry],
    root: Node<'_>,
) -> Vec<(Entry, Path)> {
    let mut found = Vec::new();
    for entry in others {
        for path in mine.paths.intersection(&entry.paths) {
            let is_item = path.last().is_some_and(|step| step == ".");
            if !is_item && managed::find(merged, path, root) != managed::find(live, path, root) {
                found.push((entry.clone(), path.clone()));
            }
        }
    }
    found
}

/// Whether a path, or something below it, is still somebody's.
fn is_held(path: &Path, mine: &Entry, others: &[Entry]) -> bool {
    let stem: &[String] = match path.split_last() {
        Some((last, stem)) if last == "." => stem,
        _ => path,
    };
    let mut entries = others.iter().chain([mine]);
    entries.any(|entry| entry.paths.iter().any(|it| it.starts_with(stem)))
}

fn without_managers(object: &Value) -> Value {
    let mut object = object.clone();
    meta_mut(&mut object).remove("managedFields");
    object
}

fn merge_top(live: &mut Value, config: &Value, root: Node<'_>) {
    let (Some(live), Some(config)) = (live.as_object_mut(), config.as_object()) else {
        return;
    };
    for (field, value) in config {
        merge_value(live.entry(field).or_insert(Value::Null), value, root.top(field));
    }
}

fn merge_value(live: &mut Value, config: &Value, place: Place<'_>) {
    match (&mut *live, config, place.list) {
        (Value::Object(live), Value::Object(config), _) if !place.node.is_atomic() => {
            merge_fields(live, config, place.node);
        }
        (Value::Array(live), Value::Array(config), ListKind::Keys(keys)) => {
            merge_items(
                live,
                config,
                &|item| Value::Object(keys.of(item, place.node)),
                place.node,
            );
        }
        (Value::Array(live), Value::Array(config), ListKind::Set) => {
            merge_items(live, config, &Value::clone, place.node);
        }
        _ => *live = config.clone(),
    }
}

/// Merges lists by key, in the order that structured-merge-diff gives them (`typed.mergingWalker.visitListItems`): items that are only live
/// keep their place before the next that both have, all others are in the order of the configuration.
fn merge_items(live: &mut Vec<Value>, config: &[Value], key: &dyn Fn(&Value) -> Value, node: Node<'_>) {
    let live_keys: Vec<Value> = live.iter().map(key).collect();
    let config_keys: Vec<Value> = config.iter().map(key).collect();
    let mut shared = config_keys.iter().filter(|it| live_keys.contains(it)).peekable();
    let mut merged = Vec::new();
    let (mut l, mut c) = (0, 0);
    while l < live.len() || c < config.len() {
        if let (Some(live_key), Some(config_key)) = (live_keys.get(l), config_keys.get(c)) {
            let is_later = shared.peek().is_some_and(|it| *it != live_key);
            if live_key != config_key && config_keys.contains(live_key) && is_later {
                l += 1;
                continue;
            }
        }
        if let Some(live_key) = live_keys.get(l) {
            if !config_keys.contains(live_key) {
                merged.push(live[l].clone());
                l += 1;
                continue;
            }
            if config_keys[..c].contains(live_key) || config_keys.get(c) == Some(live_key) {
                // It is merged with its counterpart there.
                l += 1;
            }
        }
        let Some(item) = config.get(c) else { continue };
        let found = live_keys.iter().position(|it| *it == config_keys[c]);
        let mut value = found.map_or(Value::Null, |at| live[at].clone());
        match (&mut value, item) {
            (Value::Object(value), Value::Object(item)) => merge_fields(value, item, node),
            _ => value = item.clone(),
        }
        merged.push(value);
        if shared.peek() == Some(&&config_keys[c]) {
            shared.next();
        }
        c += 1;
    }
    *live = merged;
}

fn merge_fields(live: &mut Map<String, Value>, config: &Map<String, Value>, node: Node<'_>) {
    for (field, value) in config {
        merge_value(live.entry(field).or_insert(Value::Null), value, node.field(field));
    }
}

/// A manager, as conflicts name it (structured-merge-diff has it from apimachinery `managedfields/internal.printManager`).
fn name_of(entry: &Entry) -> String {
    let mut name = format!("{:?}", entry.manager);
    // Writing to a string cannot fail.
    if !entry.subresource.is_empty() {
        let _written = write!(name, " with subresource {:?}", entry.subresource);
    }
    if entry.operation == UPDATE {
        let _written = write!(name, " using {}", entry.version);
    }
    name
}

fn conflict_error(conflicts: &[(Entry, Path)]) -> ApiError {
    let mut conflicts = conflicts.to_vec();
    conflicts.sort_by_key(|(_, path)| shown(path));
    let causes = conflicts.iter().map(|(entry, path)| {
        let message = format!("conflict with {}", name_of(entry));
        Cause::new("FieldManagerConflict", shown(path), message)
    });
    let mut by_manager: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (entry, path) in &conflicts {
        by_manager.entry(name_of(entry)).or_default().push(shown(path));
    }
    let what = match conflicts.as_slice() {
        [(entry, path)] => format!("conflict: conflict with {}: {}", name_of(entry), shown(path)),
        _ => {
            let parts: Vec<String> = by_manager
                .iter()
                .map(|(manager, paths)| format!("conflicts with {manager}:\n- {}", paths.join("\n- ")))
                .collect();
            format!("conflicts: {}", parts.join("\n"))
        }
    };
    let message = format!("Apply failed with {} {what}", conflicts.len());
    ApiError::new(409, "Conflict", message).with_causes(causes.collect())
}

/// A path as it is told: `.spec.containers[name="a"].image`.
fn shown(path: &Path) -> String {
    let mut text = String::new();
    for step in path {
        // Writing to a string cannot fail.
        let _written = match step.split_at_checked(2) {
            Some(("f:", name)) => write!(text, ".{name}"),
            Some(("k:", key)) => {
                let key: Map<String, Value> = serde_json::from_str(key).unwrap_or_default();
                let parts: Vec<String> = key
                    .iter()
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                write!(text, "[{}]", parts.join(","))
            }
            Some(("v:", value)) => write!(text, "[={value}]"),
            _ => Ok(()),
        };
    }
    text
}
