//! Answers one request from the model.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Method, Response, StatusCode,
    header::{CONTENT_TYPE, RETRY_AFTER},
};
use informer_core::Scope;
use serde_json::{Value, json};

use super::{
    Verb,
    accept::{self, aggregated, form},
    route::{About, Route, is_true},
};
use crate::{
    FakeApi,
    api::{
        ApiError, DeleteOptions, Form, Lag, ListFailure, ListOptions, Part, Patch, Query, Stored, Target,
        WatchId, WatchOptions, Written, list_body, object_body,
    },
};

/// A request, taken apart.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub(crate) method: Method,
    pub(crate) route: Route,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// What the model has to say to a request.
#[derive(Debug)]
pub(crate) enum Outcome {
    Full(Response<Bytes>),
    Watch(WatchId),
    /// The version that is asked for is not there yet.
    NotYet {
        wanted: u64,
        current: u64,
    },
}

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const JSON_PATCH: &str = "application/json-patch+json";
const MERGE_PATCH: &str = "application/merge-patch+json";

fn response(status: StatusCode, content_type: HeaderValue, body: impl Into<Bytes>) -> Response<Bytes> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, content_type);
    response
}

fn json_ok(body: impl Into<Bytes>) -> Outcome {
    Outcome::Full(response(StatusCode::OK, JSON, body))
}

/// A failure as a response.
pub(crate) fn failure(error: &ApiError) -> Response<Bytes> {
    let mut response = response(error.status_code(), JSON, error.to_json());
    if let Some(seconds) = error.retry_after_seconds() {
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// What the server says to a path that nobody serves: no `Status`, plain text.
fn nowhere() -> Outcome {
    Outcome::Full(response(StatusCode::NOT_FOUND, TEXT, "404 page not found\n"))
}

impl FakeApi {
    /// Answers a request, or says what to wait for. With a lag, as a replica that is behind.
    pub(crate) fn serve(&mut self, request: &Incoming, lag: Option<Lag>) -> Outcome {
        let result = match &request.route.about {
            None => Ok(self.serve_discovery(request)),
            Some(about) => self.serve_resource(request, about, lag),
        };
        result.unwrap_or_else(|error| Outcome::Full(failure(&error)))
    }

    fn serve_discovery(&self, request: &Incoming) -> Outcome {
        let segments: Vec<&str> = request.route.segments.iter().map(String::as_str).collect();
        if request.method != Method::GET {
            return nowhere();
        }
        if let ["healthz" | "livez" | "readyz", ..] = segments.as_slice() {
            return Outcome::Full(response(StatusCode::OK, TEXT, "ok"));
        }
        let whole = matches!(segments.as_slice(), ["api"] | ["apis"]) && aggregated(&request.headers);
        match self.discovery(&segments, whole) {
            None => nowhere(),
            Some(document) => {
                let content_type = if whole {
                    HeaderValue::from_static(accept::AGGREGATED)
                } else {
                    JSON
                };
                Outcome::Full(response(StatusCode::OK, content_type, document.to_string()))
            }
        }
    }

    fn serve_resource(
        &mut self,
        request: &Incoming,
        about: &About,
        lag: Option<Lag>,
    ) -> Result<Outcome, ApiError> {
        let verb = request.route.verb;
        let Some((key, def)) = self.kinds.find(&about.group, &about.version, &about.plural) else {
            return Ok(nowhere());
        };
        let target = Target {
            namespace: about.namespace.clone(),
            key,
            def,
        };
        let part = match about.subresource.as_deref() {
            None => Part::Main,
            Some("status") if target.def.status => Part::Status,
            Some("finalize") if &*target.resource().plural == "namespaces" => Part::Main,
            Some(_) => return Ok(nowhere()),
        };
        if verb == Verb::Other {
            return Ok(wrong_method(&target, &request.method));
        }
        match (target.resource().scope, about.namespace.is_some()) {
            (Scope::Cluster, true) => return Ok(nowhere()),
            (Scope::Namespaced, false) => match verb {
                Verb::List | Verb::Watch | Verb::StreamingList => {}
                Verb::Create | Verb::DeleteCollection => return Ok(wrong_method(&target, &request.method)),
                _ => return Ok(nowhere()),
            },
            _ => {}
        }
        let name = about.name.as_deref().unwrap_or("");
        let route = &request.route;
        match verb {
            Verb::Get => self.serve_get(request, &target, name, lag),
            Verb::List => self.serve_list(request, &target, lag),
            Verb::Watch | Verb::StreamingList => {
                let form = form(&request.headers, false)?;
                let options = watch_options(route, about)?;
                Ok(Outcome::Watch(self.do_watch(&target, &options, form, lag)?))
            }
            Verb::Create => {
                let object = json_body(request)?;
                let written = self.do_create(&target, object, dry_run(route))?;
                answer(request, &target, &written, StatusCode::CREATED)
            }
            Verb::Update => {
                let object = json_body(request)?;
                let written = self.do_update(&target, name, object, part, dry_run(route))?;
                answer(request, &target, &written, StatusCode::OK)
            }
            Verb::Patch => {
                let patch = patch_body(request)?;
                let written = self.do_patch(&target, name, &patch, part, dry_run(route))?;
                answer(request, &target, &written, StatusCode::OK)
            }
            Verb::Delete => {
                let written = self.do_delete(&target, name, &delete_options(request)?)?;
                deleted(request, &target, &written)
            }
            Verb::DeleteCollection => {
                let list = list_options(route, about)?;
                let items = self.do_delete_collection(&target, &list, &delete_options(request)?)?;
                let items = items.iter().map(|it| &**it);
                let body = list_body(&target.def, Form::Whole, items, self.revision, None, None);
                Ok(json_ok(body))
            }
            Verb::Discovery | Verb::Other => Ok(nowhere()),
        }
    }

    fn serve_get(
        &self,
        request: &Incoming,
        target: &Target,
        name: &str,
        lag: Option<Lag>,
    ) -> Result<Outcome, ApiError> {
        let form = form(&request.headers, false)?;
        let wanted = request.route.param("resourceVersion").parse().unwrap_or(0);
        let current = self.view(lag);
        if wanted > current {
            return Ok(Outcome::NotYet { wanted, current });
        }
        let stored = self.find(target, name)?;
        Ok(json_ok(object_body(&target.def, form, stored)))
    }

    fn serve_list(&self, request: &Incoming, target: &Target, lag: Option<Lag>) -> Result<Outcome, ApiError> {
        let form = form(&request.headers, true)?;
        let route = &request.route;
        if route.query.contains_key("sendInitialEvents") {
            let cause =
                crate::api::Cause::forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
            return Err(ApiError::invalid("meta.k8s.io", "ListOptions", "", vec![cause]));
        }
        let options = list_options(route, &About::default())?;
        let kind = self.kind_of(target)?;
        let query = Query::read(target, kind, &options)?;
        match query.run(kind, self.revision, self.view(lag)) {
            Ok(page) => {
                let items = page.items.iter().map(|it| &**it);
                let token = page.token.as_deref();
                let body = list_body(&target.def, form, items, page.version, token, page.remaining);
                Ok(json_ok(body))
            }
            Err(ListFailure::TooLarge { wanted, current }) => Ok(Outcome::NotYet { wanted, current }),
            Err(ListFailure::Refused(error)) => Err(error),
        }
    }

    fn view(&self, lag: Option<Lag>) -> u64 {
        match lag {
            Some(lag) if self.elapsed() < lag.until => lag.view.min(self.revision),
            _ => self.revision,
        }
    }
}

/// Built-in kinds are served by a router that knows no `Status`, custom ones by a handler that does.
fn wrong_method(target: &Target, method: &Method) -> Outcome {
    Outcome::Full(if target.def.custom {
        failure(&ApiError::method_not_supported(
            target.resource(),
            &method.as_str().to_lowercase(),
        ))
    } else {
        response(StatusCode::METHOD_NOT_ALLOWED, TEXT, "405: Method Not Allowed")
    })
}

fn answer(
    request: &Incoming,
    target: &Target,
    written: &Written,
    usual: StatusCode,
) -> Result<Outcome, ApiError> {
    let form = form(&request.headers, false)?;
    let status = match written {
        Written::Created(_) => StatusCode::CREATED,
        Written::Would(_) => usual,
        Written::Is(_) | Written::Gone(_) => StatusCode::OK,
    };
    let body = object_body(&target.def, form, written.state());
    Ok(Outcome::Full(response(status, JSON, body)))
}

/// A deletion answers with the object while that is still there, and for some kinds afterwards; else with a `Status`.
fn deleted(request: &Incoming, target: &Target, written: &Written) -> Result<Outcome, ApiError> {
    match written {
        Written::Gone(stored) if !target.def.returns_deleted => {
            Ok(json_ok(success(target, stored).to_string()))
        }
        _ => answer(request, target, written, StatusCode::OK),
    }
}

fn success(target: &Target, stored: &Arc<Stored>) -> Value {
    let object: Value = serde_json::from_slice(&stored.body).unwrap_or_default();
    let mut details = json!({
        "name": stored.name(),
        "kind": &*target.resource().plural,
        "uid": object.pointer("/metadata/uid"),
    });
    if !target.resource().group.is_empty() {
        details["group"] = (*target.resource().group).into();
    }
    json!({
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "details": details,
    })
}

fn dry_run(route: &Route) -> bool {
    !route.param("dryRun").is_empty()
}

fn content_type(request: &Incoming) -> &str {
    let value = request.headers.get(CONTENT_TYPE);
    let text = value.and_then(|value| value.to_str().ok()).unwrap_or("");
    text.split(';').next().unwrap_or("").trim()
}

fn json_body(request: &Incoming) -> Result<Value, ApiError> {
    match content_type(request) {
        "" | "application/json" => {}
        "application/vnd.kubernetes.protobuf" => {
            return Err(ApiError::unsupported_media_type(
                "the body of the request was in an unknown format - accepted media types include: application/json (this server does not \
                 read protobuf: set the client's content type to application/json)",
            ));
        }
        _ => {
            return Err(ApiError::unsupported_media_type(
                "the body of the request was in an unknown format - accepted media types include: application/json",
            ));
        }
    }
    parse(&request.body)
}

fn parse(body: &[u8]) -> Result<Value, ApiError> {
    serde_json::from_slice(body).map_err(|error| {
        ApiError::bad_request(format!("couldn't get version/kind; json parse error: {error}"))
    })
}

fn patch_body(request: &Incoming) -> Result<Patch, ApiError> {
    match content_type(request) {
        JSON_PATCH => Ok(Patch::Json(parse(&request.body)?)),
        MERGE_PATCH => Ok(Patch::Merge(parse(&request.body)?)),
        _ => Err(ApiError::unsupported_media_type(format!(
            "the body of the request was in an unknown format - accepted media types include: {JSON_PATCH}, {MERGE_PATCH}"
        ))),
    }
}

fn delete_options(request: &Incoming) -> Result<DeleteOptions, ApiError> {
    let mut options = if request.body.is_empty() {
        DeleteOptions::default()
    } else {
        DeleteOptions::from_json(&json_body(request)?)
    };
    options.dry_run |= dry_run(&request.route);
    Ok(options)
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

fn list_options(route: &Route, about: &About) -> Result<ListOptions, ApiError> {
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

fn watch_options(route: &Route, about: &About) -> Result<WatchOptions, ApiError> {
    let flag = |name: &str| route.query.get(name).map(|value| is_true(value));
    let mut options = WatchOptions::default();
    options.namespace.clone_from(&about.namespace);
    options.labels = route.param("labelSelector").to_owned();
    options.fields = route.param("fieldSelector").to_owned();
    options.version = route.param("resourceVersion").to_owned();
    options.version_match = route.param("resourceVersionMatch").to_owned();
    options.initial_events = flag("sendInitialEvents");
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
