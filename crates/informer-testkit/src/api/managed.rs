//! Who manages which field (structured-merge-diff's sets, in the `fieldsV1` form that objects carry them in).
//!
//! Fields are tracked from the first [`Patch::Apply`](super::Patch::Apply) on; what was there before belongs to `before-first-apply`.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{
    Part, Target,
    objects::{self, meta_mut, set},
    schema::{ListKind, Node, Place},
};

/// A way into an object: `f:` and the name of a field, `k:` and the key of an item, `v:` and a value; `.` is the item itself.
pub(super) type Path = Vec<String>;
pub(super) type Paths = BTreeSet<Path>;

/// Fields of one manager.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) manager: String,
    pub(super) operation: &'static str,
    pub(super) version: String,
    pub(super) subresource: String,
    pub(super) time: String,
    pub(super) paths: Paths,
}

pub(super) const APPLY: &str = "Apply";
pub(super) const UPDATE: &str = "Update";

impl Entry {
    pub(super) fn new(
        target: &Target,
        manager: &str,
        operation: &'static str,
        part: Part,
        now: &str,
    ) -> Self {
        Self {
            manager: if manager.is_empty() { "unknown" } else { manager }.to_owned(),
            operation,
            version: target.resource().api_version(),
            subresource: match part {
                Part::Main => "",
                Part::Status => "status",
                Part::Finalize => "finalize",
            }
            .to_owned(),
            time: now.to_owned(),
            paths: Paths::new(),
        }
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        let id = |it: &Self| (it.manager.clone(), it.operation, it.subresource.clone());
        id(self) == id(other)
    }

    fn parse(value: &Value) -> Option<Self> {
        let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or("").to_owned();
        let mut paths = Paths::new();
        read(value.get("fieldsV1")?.as_object()?, &mut Vec::new(), &mut paths);
        Some(Self {
            manager: text("manager"),
            operation: if text("operation") == APPLY { APPLY } else { UPDATE },
            version: text("apiVersion"),
            subresource: text("subresource"),
            time: text("time"),
            paths,
        })
    }

    fn render(&self) -> Value {
        let mut value = json!({
            "manager": self.manager,
            "operation": self.operation,
            "apiVersion": self.version,
            "time": self.time,
            "fieldsType": "FieldsV1",
            "fieldsV1": write(&self.paths),
        });
        if !self.subresource.is_empty() {
            value["subresource"] = self.subresource.as_str().into();
        }
        value
    }
}

fn read(fields: &Map<String, Value>, at: &mut Path, paths: &mut Paths) {
    for (step, below) in fields {
        at.push(step.clone());
        match below.as_object() {
            Some(below) if !below.is_empty() => read(below, at, paths),
            _ => drop(paths.insert(at.clone())),
        }
        at.pop();
    }
}

fn write(paths: &Paths) -> Value {
    let mut root = json!({});
    for path in paths {
        let mut at = &mut root;
        for step in path {
            at = &mut at[step.as_str()];
            if at.is_null() {
                *at = json!({});
            }
        }
    }
    root
}

/// The managers that an object names.
pub(super) fn entries(object: &Value) -> Vec<Entry> {
    let entries = objects::meta(object)
        .get("managedFields")
        .and_then(Value::as_array);
    entries.into_iter().flatten().filter_map(Entry::parse).collect()
}

/// Lets an object name these managers: who applies comes first, then by time and name.
pub(super) fn set_entries(object: &mut Value, mut entries: Vec<Entry>) {
    entries.retain(|entry| !entry.paths.is_empty());
    entries.sort_by(|a, b| {
        let key = |it: &Entry| {
            (
                it.operation,
                it.time.clone(),
                it.manager.clone(),
                it.subresource.clone(),
            )
        };
        key(a).cmp(&key(b))
    });
    let entries: Vec<Value> = entries.iter().map(Entry::render).collect();
    set(meta_mut(object), "managedFields", entries);
}

/// The fields that nobody manages.
const UNMANAGED: [&str; 10] = [
    "name",
    "namespace",
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generation",
    "managedFields",
    "selfLink",
];

/// All fields of an object that somebody can manage.
pub(super) fn fields_of(object: &Value, root: Node<'_>) -> Paths {
    let mut paths = Paths::new();
    for (name, value) in object.as_object().into_iter().flatten() {
        let mut at = vec![format!("f:{name}")];
        match (name.as_str(), value) {
            ("kind" | "apiVersion", _) => {}
            ("metadata", Value::Object(fields)) => {
                for (name, value) in fields
                    .iter()
                    .filter(|(name, _)| !UNMANAGED.contains(&name.as_str()))
                {
                    at.push(format!("f:{name}"));
                    collect(value, root.top("metadata").node.field(name), &mut at, &mut paths);
                    at.pop();
                }
            }
            _ => collect(value, root.top(name), &mut at, &mut paths),
        }
    }
    paths
}

fn collect(value: &Value, place: Place<'_>, at: &mut Path, paths: &mut Paths) {
    match (value, place.list) {
        (Value::Array(items), ListKind::Keys(keys)) if !items.is_empty() => {
            for item in items {
                at.push(format!("k:{}", Value::Object(keys.of(item, place.node))));
                at.push(".".to_owned());
                paths.insert(at.clone());
                at.pop();
                collect_map(item, place.node, at, paths);
                at.pop();
            }
        }
        (Value::Array(items), ListKind::Set) if !items.is_empty() => {
            for item in items {
                at.push(format!("v:{item}"));
                paths.insert(at.clone());
                at.pop();
            }
        }
        _ => collect_map(value, place.node, at, paths),
    }
}

fn collect_map(value: &Value, node: Node<'_>, at: &mut Path, paths: &mut Paths) {
    match value {
        Value::Object(fields) if !fields.is_empty() && !node.is_atomic() => {
            for (name, value) in fields {
                at.push(format!("f:{name}"));
                collect(value, node.field(name), at, paths);
                at.pop();
            }
        }
        _ => drop(paths.insert(at.clone())),
    }
}

/// What is at a path.
pub(super) fn find<'a>(object: &'a Value, path: &[String], root: Node<'_>) -> Option<&'a Value> {
    let mut value = object;
    let mut place: Option<Place<'_>> = None;
    for step in path {
        if let Some(name) = step.strip_prefix("f:") {
            place = Some(match place {
                None => root.top(name),
                Some(place) => place.node.field(name),
            });
            value = value.get(name)?;
        } else if step != "." {
            let place = place?;
            value = value.as_array()?.iter().find(|item| is_item(item, step, place))?;
        }
    }
    Some(value)
}

/// Whether a step leads to this item.
fn is_item(item: &Value, step: &str, place: Place<'_>) -> bool {
    match (place.list, step.split_at(2)) {
        (ListKind::Keys(keys), ("k:", key)) => {
            serde_json::from_str::<Map<String, Value>>(key).is_ok_and(|key| key == keys.of(item, place.node))
        }
        (_, ("v:", value)) => serde_json::from_str::<Value>(value).is_ok_and(|value| value == *item),
        _ => false,
    }
}

/// Takes away what is at a path, and maps that become empty by it.
pub(super) fn remove(value: &mut Value, path: &[String], place: Option<Place<'_>>, root: Node<'_>) {
    let Some((step, rest)) = path.split_first() else {
        return;
    };
    if let Some(name) = step.strip_prefix("f:") {
        let inner = match place {
            None => root.top(name),
            Some(place) => place.node.field(name),
        };
        let Some(fields) = value.as_object_mut() else {
            return;
        };
        let Some(field) = fields.get_mut(name) else { return };
        if !rest.is_empty() {
            remove(field, rest, Some(inner), root);
        }
        let is_empty = match field {
            Value::Object(fields) => fields.is_empty(),
            Value::Array(items) => items.is_empty(),
            _ => false,
        };
        if rest.is_empty() || is_empty {
            fields.remove(name);
        }
    } else if let (Some(place), Some(items)) = (place, value.as_array_mut()) {
        if rest.is_empty() || rest == ["."] {
            items.retain(|item| !is_item(item, step, place));
        } else if let Some(item) = items.iter_mut().find(|item| is_item(item, step, place)) {
            remove(item, rest, Some(place), root);
        }
    }
}

/// What an update that is no apply does to the managers: who changed a field has it. Nothing where fields are not tracked yet.
pub(super) fn update(
    target: &Target,
    object: &mut Value,
    status: Option<&Value>,
    old: &Value,
    by: (Part, &str, &str),
) {
    let mut managers = entries(old);
    if managers.is_empty() {
        return;
    }
    let (part, manager, now) = by;
    let root = Node::root(&target.def);
    let mut new = object.clone();
    super::write::set_status(&mut new, status.cloned());
    let after = fields_of(&new, root);
    let changed: Paths = after
        .into_iter()
        .filter(|path| find(old, path, root) != find(&new, path, root))
        .filter(|path| path.last().is_none_or(|step| step != ".") || find(old, path, root).is_none())
        .collect();
    let mine = Entry::new(target, manager, UPDATE, part, now);
    for entry in &mut managers {
        entry.paths.retain(|path| find(&new, path, root).is_some());
        if !entry.is_same(&mine) {
            entry.paths.retain(|path| !changed.contains(path));
        }
    }
    if !changed.is_empty() {
        match managers.iter_mut().find(|entry| entry.is_same(&mine)) {
            Some(entry) => {
                entry.paths.extend(changed);
                entry.time = mine.time;
            }
            None => managers.push(Entry {
                paths: changed,
                ..mine
            }),
        }
    }
    set_entries(object, managers);
}
