//! What the server checks of metadata before it writes (apimachinery `pkg/api/validation`).

use serde_json::Value;

use super::{
    ApiError, Cause, Target, crd,
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
        if let Some(problem) = selector::key_problem(name, "a valid label key") {
            causes.push(Cause::invalid("metadata.labels", format!("{name:?}"), &problem));
        }
        let value = value.as_str().unwrap_or("");
        if let Some(problem) = selector::value_problem(value) {
            causes.push(Cause::invalid("metadata.labels", format!("{value:?}"), &problem));
        }
    }
    let annotations = meta.get("annotations").and_then(Value::as_object);
    for name in annotations.into_iter().flatten().map(|(name, _)| name) {
        if let Some(problem) = selector::key_problem(&name.to_lowercase(), "a qualified name") {
            causes.push(Cause::invalid(
                "metadata.annotations",
                format!("{name:?}"),
                &problem,
            ));
        }
    }
}

/// Finalizers have a domain, but for those that everybody knows; custom resources may have any.
fn finalizer_causes(target: &Target, meta: &Meta, causes: &mut Vec<Cause>) {
    const STANDARD: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];
    for (index, name) in objects::texts(meta, "finalizers").iter().enumerate() {
        let problem = selector::key_problem(name, "a qualified name");
        let problem = problem.or_else(|| {
            let is_known = target.def.custom || name.contains('/') || STANDARD.contains(&&**name);
            (!is_known)
                .then(|| "name is neither a standard finalizer name nor is it fully qualified".to_owned())
        });
        if let Some(problem) = problem {
            let field = format!("metadata.finalizers[{index}]");
            causes.push(Cause::invalid(field, format!("{name:?}"), &problem));
        }
    }
}

/// The metadata of an object that is to be created, its name generated.
pub(super) fn create(target: &Target, object: &Value) -> Result<(), ApiError> {
    let meta = objects::meta(object);
    let name = objects::text(meta, "name");
    let mut causes = Vec::new();
    let prefix = objects::text(meta, "generateName");
    // A dash at its end will not be the last character.
    let begun = prefix
        .strip_suffix('-')
        .map_or_else(|| prefix.to_owned(), |it| format!("{it}a"));
    if !prefix.is_empty()
        && let Some(problem) = name_problem(target.def.name_rule, &begun)
    {
        causes.push(Cause::invalid(
            "metadata.generateName",
            format!("{prefix:?}"),
            problem,
        ));
    }
    if name.is_empty() {
        causes.push(Cause::required(
            "metadata.name",
            "name or generateName is required",
        ));
    } else if let Some(problem) = name_problem(target.def.name_rule, name) {
        causes.push(Cause::invalid("metadata.name", format!("{name:?}"), problem));
    }
    label_causes(meta, &mut causes);
    finalizer_causes(target, meta, &mut causes);
    causes.extend(crd::problems(target, object));
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
            let added: Vec<String> = added.iter().map(|it| format!("{it:?}")).collect();
            let message = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                added.join(", ")
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

/// The kind that the body names must be the one that the path names; a body may leave it out, but for that of a custom resource in a
/// client's request.
pub(super) fn kind(target: &Target, object: &Value, strict: bool) -> Result<(), ApiError> {
    let resource = target.resource();
    if !object.is_object() {
        return Err(ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): couldn't get version/kind; the body is no JSON object",
            resource.kind
        )));
    }
    let field = |name: &str| {
        object
            .get(name)
            .and_then(Value::as_str)
            .filter(|it| !it.is_empty())
    };
    if strict && target.def.custom && field("kind").is_none() {
        return Err(ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {}): Object 'Kind' is missing in '{object}'",
            resource.kind
        )));
    }
    if let Some(kind) = field("kind")
        && kind != &*resource.kind
    {
        if target.def.custom {
            let cause = Cause::invalid("kind", format!("{kind:?}"), &format!("must be {}", resource.kind));
            let name = objects::text(objects::meta(object), "name");
            return Err(ApiError::invalid(&resource.group, kind, name, vec![cause]));
        }
        let version = field("apiVersion").unwrap_or("");
        // The internal types of the server are in packages named like this.
        let internal = match resource.group.split('.').next() {
            None | Some("") => "core",
            Some(first) => first,
        };
        return Err(ApiError::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {}: converting ({version}.{kind}) to ({internal}.{}): unknown conversion",
            resource.kind, resource.kind
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
