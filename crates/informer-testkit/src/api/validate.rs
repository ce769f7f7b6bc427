//! What the server checks of metadata before it writes (apimachinery `pkg/api/validation`).

use serde_json::Value;

use super::{
    ApiError, Cause, Target,
    def::NameRule,
    objects::{self, Meta},
    selector,
};

const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and \
    end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an \
    alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

fn is_label(text: &str, max: usize) -> bool {
    let is_edge = |byte: Option<&u8>| byte.is_some_and(|it| it.is_ascii_lowercase() || it.is_ascii_digit());
    let bytes = text.as_bytes();
    bytes.len() <= max
        && is_edge(bytes.first())
        && is_edge(bytes.last())
        && bytes
            .iter()
            .all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || *it == b'-')
}

fn name_problem(rule: NameRule, name: &str) -> Option<&'static str> {
    match rule {
        NameRule::Label => (!is_label(name, 63)).then_some(LABEL),
        NameRule::Subdomain if name.len() > 253 => Some("must be no more than 253 characters"),
        NameRule::Subdomain => (!name.split('.').all(|part| is_label(part, 253))).then_some(SUBDOMAIN),
        NameRule::PathSegment => match name {
            "." | ".." => Some("may not be '.' or '..'"),
            _ if name.contains('/') => Some("may not contain '/'"),
            _ if name.contains('%') => Some("may not contain '%'"),
            _ => None,
        },
    }
}

fn label_causes(meta: &Meta, causes: &mut Vec<Cause>) {
    let labels = meta.get("labels").and_then(Value::as_object);
    for (name, value) in labels.into_iter().flatten() {
        let short = name.rsplit_once('/').map_or(name.as_str(), |(_, short)| short);
        if !selector::is_label_name(short) {
            causes.push(Cause::invalid(
                "metadata.labels",
                format!("{name:?}"),
                "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            ));
        }
        let value = value.as_str().unwrap_or("");
        if !value.is_empty() && !selector::is_label_name(value) {
            causes.push(Cause::invalid(
                "metadata.labels",
                format!("{value:?}"),
                "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with \
                 an alphanumeric character",
            ));
        }
    }
}

/// The metadata of an object that is to be created, its name generated.
pub(super) fn create(target: &Target, object: &Value) -> Result<(), ApiError> {
    let meta = objects::meta(object);
    let name = objects::text(meta, "name");
    let mut causes = Vec::new();
    if name.is_empty() {
        causes.push(Cause::required(
            "metadata.name",
            "name or generateName is required",
        ));
    } else if let Some(problem) = name_problem(target.def.name_rule, name) {
        causes.push(Cause::invalid("metadata.name", format!("{name:?}"), problem));
    }
    label_causes(meta, &mut causes);
    finish(target, name, causes)
}

/// The metadata of an object that is to replace another.
pub(super) fn update(target: &Target, object: &Value, old: &Value) -> Result<(), ApiError> {
    let (meta, old) = (objects::meta(object), objects::meta(old));
    let mut causes = Vec::new();
    if old.contains_key("deletionTimestamp") {
        let before = objects::texts(old, "finalizers");
        let mut added = objects::texts(meta, "finalizers");
        added.retain(|it| !before.contains(it));
        if !added.is_empty() {
            let message = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers {added:?}"
            );
            causes.push(Cause::forbidden("metadata.finalizers", &message));
        }
    }
    label_causes(meta, &mut causes);
    finish(target, objects::text(meta, "name"), causes)
}

fn finish(target: &Target, name: &str, causes: Vec<Cause>) -> Result<(), ApiError> {
    if causes.is_empty() {
        return Ok(());
    }
    let resource = target.resource();
    Err(ApiError::invalid(&resource.group, &resource.kind, name, causes))
}

/// The kind that the body names must be the one that the path names; a body may leave it out.
pub(super) fn kind(target: &Target, object: &Value) -> Result<(), ApiError> {
    if !object.is_object() {
        return Err(ApiError::bad_request(
            "the object provided is unrecognized: couldn't get version/kind; the body is no JSON object",
        ));
    }
    let resource = target.resource();
    let field = |name: &str| {
        object
            .get(name)
            .and_then(Value::as_str)
            .filter(|it| !it.is_empty())
    };
    if let Some(kind) = field("kind")
        && kind != &*resource.kind
    {
        let version = field("apiVersion").unwrap_or("");
        return Err(ApiError::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {}: converting ({version}.{kind}) to ({}.{}): unknown conversion",
            resource.kind,
            resource.api_version(),
            resource.kind
        )));
    }
    match field("apiVersion") {
        Some(version) if version != resource.api_version() => Err(ApiError::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({})",
            resource.api_version()
        ))),
        _ => Ok(()),
    }
}
