//! Answers one request from the model.

use std::sync::Arc;

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
    ask::{
        delete_options, json_body, list_options, object_body_of, patch_body, watch_options, write_options,
    },
    route::{About, Route, is_true},
};
use crate::{
    FakeApi,
    api::{
        ApiError, Form, Include, Lag, ListFailure, Part, Patch, Query, Stored, Target, WatchId, Written,
        list_body, object_body,
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
            None => self.serve_discovery(request),
            Some(about) => self.serve_resource(request, about, lag),
        };
        result.unwrap_or_else(|error| Outcome::Full(failure(&error)))
    }

    fn serve_discovery(&self, request: &Incoming) -> Result<Outcome, ApiError> {
        let segments: Vec<&str> = request.route.segments.iter().map(String::as_str).collect();
        if request.method != Method::GET {
            return Ok(nowhere());
        }
        if let ["healthz" | "livez" | "readyz", ..] = segments.as_slice() {
            return Ok(Outcome::Full(response(StatusCode::OK, TEXT, "ok")));
        }
        let whole = matches!(segments.as_slice(), ["api"] | ["apis"]) && aggregated(&request.headers);
        match self.discovery(&segments, whole) {
            None => match segments.as_slice() {
                ["api", _] => self.missing(""),
                ["apis", group, _] => self.missing(group),
                _ => Ok(nowhere()),
            },
            Some(document) => {
                let content_type = if whole {
                    HeaderValue::from_static(accept::AGGREGATED)
                } else {
                    JSON
                };
                Ok(Outcome::Full(response(
                    StatusCode::OK,
                    content_type,
                    document.to_string(),
                )))
            }
        }
    }

    /// The `scale` of a workload: read, replaced or patched.
    fn serve_scale(&mut self, request: &Incoming, target: &Target, name: &str) -> Result<Outcome, ApiError> {
        let scale = match request.route.verb {
            Verb::Get => self.scale_of(target, name)?,
            Verb::Update => {
                let options = write_options(request, "UpdateOptions")?;
                self.write_scale(target, name, &json_body(request)?, &options)?
            }
            Verb::Patch => {
                let options = write_options(request, "PatchOptions")?;
                let patched = patch_body(request, target)?.apply(target, self.scale_of(target, name)?)?;
                self.write_scale(target, name, &patched, &options)?
            }
            _ => return Err(wrong_method(target, &request.method)),
        };
        Ok(json_ok(scale.to_string()))
    }

    fn serve_resource(
        &mut self,
        request: &Incoming,
        about: &About,
        lag: Option<Lag>,
    ) -> Result<Outcome, ApiError> {
        let verb = request.route.verb;
        let Some((key, def)) = self.kinds.find(&about.group, &about.version, &about.plural) else {
            return self.missing(&about.group);
        };
        let target = Target {
            namespace: about.namespace.clone(),
            key,
            def,
        };
        let name = about.name.as_deref().unwrap_or("");
        let part = match about.subresource.as_deref() {
            None => Part::Main,
            Some("status") if target.def.status => Part::Status,
            Some("finalize") if &*target.resource().plural == "namespaces" && verb == Verb::Update => {
                Part::Finalize
            }
            Some("scale") if target.def.scale => return self.serve_scale(request, &target, name),
            Some(_) if target.def.custom => return Err(ApiError::not_found(target.resource(), name)),
            Some(_) => return self.missing(&about.group),
        };
        if verb == Verb::Other {
            return Err(wrong_method(&target, &request.method));
        }
        match (target.resource().scope, about.namespace.is_some()) {
            (Scope::Cluster, true) => return self.missing(&about.group),
            (Scope::Namespaced, false) => match verb {
                Verb::List | Verb::Watch | Verb::StreamingList => {}
                Verb::Create | Verb::DeleteCollection if !target.def.custom => {
                    return Err(wrong_method(&target, &request.method));
                }
                _ => return self.missing(&about.group),
            },
            _ => {}
        }
        self.serve_verb(request, about, &target, part, lag)
    }

    fn serve_verb(
        &mut self,
        request: &Incoming,
        about: &About,
        target: &Target,
        part: Part,
        lag: Option<Lag>,
    ) -> Result<Outcome, ApiError> {
        let verb = request.route.verb;
        let name = about.name.as_deref().unwrap_or("");
        let route = &request.route;
        match verb {
            Verb::Get => self.serve_get(request, target, name, lag),
            Verb::List => self.serve_list(request, target, lag),
            Verb::Watch | Verb::StreamingList => {
                let form = self.form(request, false)?;
                let options = watch_options(route, about)?;
                Ok(Outcome::Watch(self.do_watch(target, &options, form, lag)?))
            }
            Verb::Create => {
                let object = object_body_of(request, target)?;
                let options = write_options(request, "CreateOptions")?;
                let written = self.do_create(target, object, &options)?;
                answer(self.form(request, false)?, target, &written, StatusCode::CREATED)
            }
            Verb::Update => {
                let object = object_body_of(request, target)?;
                let options = write_options(request, "UpdateOptions")?;
                let written = self.do_update(target, name, object, part, &options)?;
                answer(self.form(request, false)?, target, &written, StatusCode::OK)
            }
            Verb::Patch => {
                let patch = patch_body(request, target)?;
                let mut options = write_options(request, "PatchOptions")?;
                if matches!(patch, Patch::Apply { .. }) {
                    route.param("fieldManager").clone_into(&mut options.manager);
                }
                let written = self.do_patch(target, name, &patch, part, &options)?;
                answer(self.form(request, false)?, target, &written, StatusCode::OK)
            }
            Verb::Delete => {
                let written = self.do_delete(target, name, &delete_options(request)?)?;
                deleted(self.form(request, false)?, target, &written)
            }
            Verb::DeleteCollection => {
                let list = list_options(route, about)?;
                let deleted = self.do_delete_collection(target, &list, &delete_options(request)?)?;
                let items = deleted.items.iter().map(|it| &**it);
                let body = list_body(&target.def, Form::Whole, items, deleted.version, None, None);
                Ok(json_ok(body))
            }
            Verb::Discovery | Verb::Other => Err(wrong_method(target, &request.method)),
        }
    }

    fn serve_get(
        &self,
        request: &Incoming,
        target: &Target,
        name: &str,
        lag: Option<Lag>,
    ) -> Result<Outcome, ApiError> {
        let form = self.form(request, false)?;
        let wanted = request.route.param("resourceVersion").parse().unwrap_or(0);
        let current = self.view(lag);
        if wanted > current {
            return Ok(Outcome::NotYet { wanted, current });
        }
        let stored = self.find(target, name)?;
        Ok(json_ok(object_body(&target.def, form, stored)))
    }

    fn serve_list(&self, request: &Incoming, target: &Target, lag: Option<Lag>) -> Result<Outcome, ApiError> {
        let form = self.form(request, true)?;
        let route = &request.route;
        let mut options = list_options(route, &About::default())?;
        options.initial_events = route.query.get("sendInitialEvents").map(|value| is_true(value));
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

    /// In which form a request wants its answer.
    fn form(&self, request: &Incoming, list: bool) -> Result<Form, ApiError> {
        let mut form = form(&request.headers, list)?;
        if let Form::Table(style) = &mut form {
            style.now = self.wall_seconds();
            style.include = match request.route.param("includeObject") {
                "None" => Include::None,
                "Object" => Include::Object,
                _ => Include::Metadata,
            };
        }
        Ok(form)
    }

    /// What is said to a path that no resource is at: within the groups that are built in, a `Status`.
    fn missing(&self, group: &str) -> Result<Outcome, ApiError> {
        let mut defs = self.kinds.defs();
        if defs.any(|def| &*def.resource.group == group && !def.custom) {
            return Err(ApiError::new(
                404,
                "NotFound",
                "the server could not find the requested resource",
            )
            .with_details());
        }
        Ok(nowhere())
    }

    fn view(&self, lag: Option<Lag>) -> u64 {
        match lag {
            Some(lag) if self.elapsed() < lag.until => lag.view.min(self.revision),
            _ => self.revision,
        }
    }
}

/// Built-in kinds are served by a router that does not look at the resource, custom ones by a handler that does.
fn wrong_method(target: &Target, method: &Method) -> ApiError {
    if !target.def.custom {
        return ApiError::new(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
        )
        .with_details();
    }
    match *method {
        Method::PUT | Method::PATCH => ApiError::bad_request("name must be provided"),
        _ => ApiError::method_not_supported(target.resource(), &method.as_str().to_lowercase()),
    }
}

fn answer(form: Form, target: &Target, written: &Written, usual: StatusCode) -> Result<Outcome, ApiError> {
    let status = match written {
        Written::Created(_) => StatusCode::CREATED,
        Written::Would(_) => usual,
        Written::Is(_) | Written::Gone(_) | Written::WouldGo(_) => StatusCode::OK,
    };
    let body = object_body(&target.def, form, written.state());
    Ok(Outcome::Full(response(status, JSON, body)))
}

/// A deletion answers with the object while that is still there, and for some kinds afterwards; else with a `Status`.
fn deleted(form: Form, target: &Target, written: &Written) -> Result<Outcome, ApiError> {
    match written {
        Written::Gone(stored) | Written::WouldGo(stored) if !target.def.returns_deleted => {
            Ok(json_ok(success(target, stored).to_string()))
        }
        _ => answer(form, target, written, StatusCode::OK),
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
