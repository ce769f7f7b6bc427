//! What a request says in its body, its query and its headers.

use std::time::Duration;

use http::header::{CONTENT_TYPE, USER_AGENT};
use serde_json::Value;

use super::{
    route::{About, Route, is_true},
    serve::Incoming,
};
use crate::api::{
    ApiError, Cause, DeleteOptions, ListOptions, Patch, Propagation, Target, WatchOptions, WriteOptions,
};

const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";
const STRATEGIC_PATCH: &str = "application/strategic-merge-patch+json";
const APPLY_PATCH: &str = "application/apply-patch+yaml";

/// Whether a request says that it is a dry run. `kind` are the options that a complaint is about.
fn dry_run(route: &Route, kind: &str) -> Result<bool, ApiError> {
    match route.param("dryRun") {
        "" => Ok(false),
        "All" => Ok(true),
        other => {
            let message = format!("Unsupported value: [{other:?}]: supported values: \"All\"");
            let cause = Cause::new("FieldValueNotSupported", "dryRun", message);
            Err(ApiError::invalid("meta.k8s.io", kind, "", vec![cause]))
        }
    }
}

pub(super) fn write_options(request: &Incoming, kind: &str) -> Result<WriteOptions, ApiError> {
    let given = request.route.param("fieldManager");
    let agent = request
        .headers
        .get(USER_AGENT)
        .and_then(|it| it.to_str().ok())
        .unwrap_or("");
    // Who does not say is known by the program's name (apiserver `handlers.managerOrUserAgent`).
    let manager = if given.is_empty() {
        agent.split('/').next().unwrap_or("")
    } else {
        given
    };
    Ok(WriteOptions {
        dry_run: dry_run(&request.route, kind)?,
        strict: true,
        manager: manager.to_owned(),
    })
}

fn content_type(request: &Incoming) -> &str {
    let value = request.headers.get(CONTENT_TYPE);
    let text = value.and_then(|value| value.to_str().ok()).unwrap_or("");
    text.split(';').next().unwrap_or("").trim()
}

pub(super) fn json_body(request: &Incoming) -> Result<Value, ApiError> {
    check_content_type(request)?;
    parse(&request.body)
}

fn check_content_type(request: &Incoming) -> Result<(), ApiError> {
    match content_type(request) {
        "" | "application/json" => Ok(()),
        "application/vnd.kubernetes.protobuf" => Err(ApiError::unsupported_media_type(
            "the body of the request was in an unknown format - accepted media types include: application/json (this server does not \
             read protobuf: set the client's content type to application/json)",
        )),
        _ => Err(ApiError::unsupported_media_type(
            "the body of the request was in an unknown format - accepted media types include: application/json",
        )),
    }
}

/// The object that a body is.
pub(super) fn object_body_of(request: &Incoming, target: &Target) -> Result<Value, ApiError> {
    check_content_type(request)?;
    parse(&request.body).map_err(|error| {
        let kind = &target.resource().kind;
        ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): {error}"
        ))
    })
}

fn parse(body: &[u8]) -> Result<Value, ApiError> {
    serde_json::from_slice(body).map_err(|error| {
        ApiError::bad_request(format!("couldn't get version/kind; json parse error: {error}"))
    })
}

pub(super) fn patch_body(request: &Incoming, target: &Target) -> Result<Patch, ApiError> {
    let parse =
        || serde_json::from_slice(&request.body).map_err(|_| ApiError::bad_request("invalid JSON patch"));
    match content_type(request) {
        JSON_PATCH => Ok(Patch::Json(parse()?)),
        MERGE_PATCH => Ok(Patch::Merge(parse()?)),
        STRATEGIC_PATCH if !target.def.custom => Ok(Patch::Strategic(parse()?)),
        APPLY_PATCH => Ok(Patch::Apply {
            object: serde_json::from_slice(&request.body).map_err(|error| {
                ApiError::bad_request(format!(
                    "error decoding YAML: this server reads JSON here: {error}"
                ))
            })?,
            force: is_true_param(&request.route, "force"),
        }),
        _ if target.def.custom => Err(ApiError::unsupported_media_type(format!(
            "the body of the request was in an unknown format - accepted media types include: {JSON_PATCH}, {MERGE_PATCH}, {APPLY_PATCH}"
        ))),
        _ => Err(ApiError::unsupported_media_type("415: Unsupported Media Type").with_details()),
    }
}

fn is_true_param(route: &Route, name: &str) -> bool {
    route.query.get(name).is_some_and(|value| is_true(value))
}

/// From the body, or else from the query (apiserver `handlers.DeleteResource`).
pub(super) fn delete_options(request: &Incoming) -> Result<DeleteOptions, ApiError> {
    if !request.body.is_empty() {
        return DeleteOptions::from_json(&json_body(request)?);
    }
    Ok(DeleteOptions {
        dry_run: dry_run(&request.route, "DeleteOptions")?,
        propagation: Propagation::parse(request.route.param("propagationPolicy"))?,
        ..DeleteOptions::default()
    })
}

fn number(route: &Route, name: &str) -> Result<Option<u64>, ApiError> {
    let text = route.param(name);
    if text.is_empty() {
        return Ok(None);
    }
    // Negative numbers are taken as none, as by the server.
    match text.parse::<i64>() {
        Ok(number) => Ok(u64::try_from(number).ok()),
        Err(_) => Err(ApiError::bad_request(format!(
            "strconv.ParseInt: parsing {text:?}: invalid syntax"
        ))),
    }
}

pub(super) fn list_options(route: &Route, about: &About) -> Result<ListOptions, ApiError> {
    let mut options = ListOptions::default();
    options.namespace.clone_from(&about.namespace);
    options.labels = route.param("labelSelector").to_owned();
    options.fields = route.param("fieldSelector").to_owned();
    options.version = route.param("resourceVersion").to_owned();
    options.version_match = route.param("resourceVersionMatch").to_owned();
    options.limit = number(route, "limit")?.unwrap_or(0);
    options.token = route.param("continue").to_owned();
    Ok(options)
}

pub(super) fn watch_options(route: &Route, about: &About) -> Result<WatchOptions, ApiError> {
    let flag = |name: &str| route.query.get(name).map(|value| is_true(value));
    let mut options = WatchOptions::default();
    options.namespace.clone_from(&about.namespace);
    options.labels = route.param("labelSelector").to_owned();
    options.fields = route.param("fieldSelector").to_owned();
    options.version = route.param("resourceVersion").to_owned();
    options.version_match = route.param("resourceVersionMatch").to_owned();
    options.initial_events = flag("sendInitialEvents");
    route.param("continue").clone_into(&mut options.token);
    options.bookmarks = flag("allowWatchBookmarks") == Some(true);
    options.timeout = number(route, "timeoutSeconds")?.map(Duration::from_secs);
    if let Some(name) = &about.name {
        // A watch of one object is one of the collection that selects it (apiserver `handlers.listOpts`).
        let selector = format!("metadata.name={name}");
        if !options.fields.is_empty() && options.fields != selector {
            return Err(ApiError::bad_request(
                "fieldSelector metadata.name doesn't match requested name",
            ));
        }
        options.fields = selector;
    }
    Ok(options)
}
