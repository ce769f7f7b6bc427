//! `ResourceDef`: what the model knows of a resource.

use informer_core::Resource;
use serde_json::Value;

use super::print::JsonPath;

/// What a name must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameRule {
    /// A DNS subdomain: lower case letters, digits, dashes, dots.
    Subdomain,
    /// A DNS label: without dots.
    Label,
    /// Anything that fits between two slashes of a path.
    PathSegment,
}

/// A field that a field selector can name beside `metadata.name` and `metadata.namespace`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SelectableField {
    /// As in the selector.
    pub(crate) label: String,
    /// Where it is in the object; a number is an index.
    pub(crate) path: Vec<String>,
    /// Its value where the object has none.
    pub(crate) default: &'static str,
}

impl SelectableField {
    pub(crate) fn new(label: &str, path: &str, default: &'static str) -> Self {
        Self {
            label: label.to_owned(),
            path: path.split('.').map(str::to_owned).collect(),
            default,
        }
    }

    /// The value as a selector compares it.
    pub(crate) fn value(&self, object: &Value) -> String {
        let found = self.path.iter().try_fold(object, |at, step| match at {
            Value::Array(items) => items.get(step.parse::<usize>().ok()?),
            _ => at.get(step),
        });
        match found {
            Some(Value::String(text)) if !text.is_empty() => text.clone(),
            Some(Value::Bool(flag)) => flag.to_string(),
            Some(Value::Number(number)) => number.to_string(),
            _ => self.default.to_owned(),
        }
    }
}

/// A column that a custom resource's definition asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Printed {
    pub(crate) name: String,
    /// Its type: `string`, `integer`, `number`, `boolean` or `date`.
    pub(crate) kind: String,
    pub(crate) format: String,
    pub(crate) priority: i64,
    pub(crate) path: JsonPath,
}

/// One version of a resource as the model serves it: names, scope, and how the real server treats it on writes.
#[derive(Debug, Clone)]
#[must_use]
pub struct ResourceDef {
    pub(crate) resource: Resource,
    pub(crate) singular: String,
    pub(crate) short_names: Vec<String>,
    pub(crate) categories: Vec<String>,
    pub(crate) status: bool,
    pub(crate) generation: bool,
    /// It stays 1 whatever changes.
    pub(crate) generation_stays: bool,
    pub(crate) scale: bool,
    pub(crate) custom: bool,
    /// A version of a custom resource may be switched off; its objects stay.
    pub(crate) served: bool,
    pub(crate) returns_deleted: bool,
    pub(crate) create_on_update: bool,
    pub(crate) unconditional_update: bool,
    /// The status of a new object is taken from its creator.
    pub(crate) created_with_status: bool,
    /// A write of the status leaves the labels alone.
    pub(crate) status_keeps_labels: bool,
    /// Names of fields as they are kept, and as this version tells them.
    pub(crate) renames: &'static [(&'static str, &'static str)],
    /// The schema of a custom resource: which of its lists have keys.
    pub(crate) schema: Option<std::sync::Arc<Value>>,
    /// The columns of a custom resource.
    pub(crate) printed: Vec<Printed>,
    /// The resource whose objects it shares.
    pub(crate) shares: Option<(&'static str, &'static str)>,
    pub(crate) name_rule: NameRule,
    pub(crate) selectable: Vec<SelectableField>,
    pub(crate) phase: Option<&'static str>,
}

impl ResourceDef {
    /// A resource served like a built-in one without `status` subresource and generation: singular is the kind in lower case.
    pub fn new(resource: Resource) -> Self {
        Self {
            singular: resource.kind.to_lowercase(),
            resource,
            short_names: Vec::new(),
            categories: Vec::new(),
            status: false,
            generation: false,
            generation_stays: false,
            scale: false,
            custom: false,
            served: true,
            returns_deleted: false,
            create_on_update: false,
            unconditional_update: true,
            created_with_status: false,
            status_keeps_labels: false,
            renames: &[],
            schema: None,
            printed: Vec::new(),
            shares: None,
            name_rule: NameRule::Subdomain,
            selectable: Vec::new(),
            phase: None,
        }
    }

    /// With these short names.
    pub fn short_names<I: IntoIterator<Item = S>, S: Into<String>>(mut self, names: I) -> Self {
        self.short_names = names.into_iter().map(Into::into).collect();
        self
    }

    /// In these categories, as in `kubectl get all`.
    pub fn categories<I: IntoIterator<Item = S>, S: Into<String>>(mut self, names: I) -> Self {
        self.categories = names.into_iter().map(Into::into).collect();
        self
    }

    /// With this singular name.
    pub fn singular(mut self, name: impl Into<String>) -> Self {
        self.singular = name.into();
        self
    }

    /// With a `status` subresource: the main resource does not write `status`, the subresource writes nothing else.
    pub fn with_status(mut self) -> Self {
        self.status = true;
        self
    }

    /// Counting `metadata.generation`: 1 at first, one more with each change outside of `metadata` and `status`.
    pub fn with_generation(mut self) -> Self {
        self.generation = true;
        self
    }

    /// Selectable by this field: the label as in the selector, which is also its path in the object.
    pub fn selectable(mut self, label: &str) -> Self {
        self.selectable.push(SelectableField::new(label, label, ""));
        self
    }

    /// Group, version, kind, plural and scope.
    #[must_use]
    pub fn resource(&self) -> &Resource {
        &self.resource
    }

    /// Gives the fields of an object the names that they are kept under.
    pub(crate) fn keep_names(&self, object: &mut Value) {
        self.rename(object, |(kept, told)| (*told, *kept));
    }

    /// Gives the fields of a kept object the names that this version tells.
    pub(crate) fn tell_names(&self, object: &mut Value) {
        self.rename(object, |(kept, told)| (*kept, *told));
    }

    fn rename(
        &self,
        object: &mut Value,
        pair: impl Fn(&(&'static str, &'static str)) -> (&'static str, &'static str),
    ) {
        let Some(fields) = object.as_object_mut() else {
            return;
        };
        for (from, to) in self.renames.iter().map(pair) {
            if let Some(value) = fields.remove(from) {
                fields.insert(to.to_owned(), value);
            }
        }
    }

    pub(crate) fn field(mut self, label: &str, path: &str, default: &'static str) -> Self {
        self.selectable.push(SelectableField::new(label, path, default));
        self
    }
}
