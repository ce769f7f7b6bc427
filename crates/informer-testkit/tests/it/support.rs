//! What the tests share.

use bytes::Bytes;
use http::{Method, Request, Response};
use informer_core::{Clock as _, Resource};
use informer_testkit::{FakeApi, ManualClock, Reply};
use serde_json::{Value, json};

pub(crate) fn pods() -> Resource {
    Resource::namespaced("", "v1", "pods", "Pod")
}

pub(crate) fn configmaps() -> Resource {
    Resource::namespaced("", "v1", "configmaps", "ConfigMap")
}

pub(crate) fn named(name: &str) -> Value {
    json!({"metadata": {"name": name}})
}

pub(crate) fn labelled(name: &str, labels: Value) -> Value {
    json!({"metadata": {"name": name, "labels": labels}})
}

pub(crate) fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap_or("")
}

pub(crate) fn version(object: &Value) -> u64 {
    let text = object["metadata"]["resourceVersion"].as_str().unwrap_or("");
    text.parse().unwrap_or(0)
}

pub(crate) fn names(objects: &[Value]) -> Vec<&str> {
    objects.iter().map(name).collect()
}

/// `TYPE name@version` of each event.
pub(crate) fn told(events: &[Value]) -> Vec<String> {
    events
        .iter()
        .map(|event| {
            let object = &event["object"];
            format!(
                "{} {}@{}",
                event["type"].as_str().unwrap_or("?"),
                name(object),
                version(object)
            )
        })
        .collect()
}

/// A model with a clock, spoken to over its HTTP face.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) api: FakeApi,
    pub(crate) clock: ManualClock,
}

impl Site {
    pub(crate) fn new() -> Self {
        Self::of(FakeApi::with_builtins())
    }

    pub(crate) fn of(mut api: FakeApi) -> Self {
        let clock = ManualClock::new();
        api.tick(clock.now());
        Self { api, clock }
    }

    pub(crate) fn send(&mut self, request: Request<Bytes>) -> Reply {
        self.api.handle(self.clock.now(), request)
    }

    pub(crate) fn request(
        &mut self,
        method: Method,
        uri: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Response<Bytes> {
        let mut request = Request::builder().method(method).uri(uri);
        for (header, value) in headers {
            request = request.header(*header, *value);
        }
        let request = request
            .body(Bytes::copy_from_slice(body.as_bytes()))
            .expect("a test writes valid requests");
        match self.send(request) {
            Reply::Full(response) => response,
            other => panic!("{uri}: not answered at once: {other:?}"),
        }
    }

    pub(crate) fn get(&mut self, uri: &str) -> (u16, Value) {
        self.call(Method::GET, uri, "")
    }

    pub(crate) fn call(&mut self, method: Method, uri: &str, body: &str) -> (u16, Value) {
        let response = self.request(method, uri, &[], body);
        let value = serde_json::from_slice(response.body()).unwrap_or(Value::Null);
        (response.status().as_u16(), value)
    }
}
