//! The `scale` subresource of workloads: how many replicas they shall have (kubernetes `registry/apps/*/storage.ScaleREST`).

use serde_json::{Value, json};

use super::{
    ApiError, Cause, FakeApi, Part, Target, WriteOptions,
    objects::{self, meta, meta_mut, set, text},
};

impl FakeApi {
    pub(crate) fn scale_of(&self, target: &Target, name: &str) -> Result<Value, ApiError> {
        let stored = self.find(target, name)?;
        Ok(scale(&objects::parse(stored)))
    }

    /// Writes the replicas of a workload as a `Scale` says.
    pub(crate) fn write_scale(
        &mut self,
        target: &Target,
        name: &str,
        wanted: &Value,
        options: &WriteOptions,
    ) -> Result<Value, ApiError> {
        let replicas = wanted
            .pointer("/spec/replicas")
            .and_then(Value::as_i64)
            .unwrap_or(0);
        if replicas < 0 {
            let cause = Cause::invalid("spec.replicas", replicas, "must be greater than or equal to 0");
            return Err(ApiError::invalid("autoscaling", "Scale", name, vec![cause]));
        }
        let mut object = objects::parse(self.find(target, name)?);
        let version = text(meta(wanted), "resourceVersion").to_owned();
        set(meta_mut(&mut object), "resourceVersion", version);
        object["spec"]["replicas"] = replicas.into();
        let written = self.do_update(target, name, object, Part::Main, options)?;
        Ok(scale(&objects::parse(written.state())))
    }
}

fn scale(object: &Value) -> Value {
    let fields = meta(object);
    let mut metadata = json!({});
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(value) = fields.get(field) {
            metadata[field] = value.clone();
        }
    }
    let number = |pointer: &str, default: i64| {
        let value = object.pointer(pointer).and_then(Value::as_i64);
        value.unwrap_or(default)
    };
    let mut spec = json!({});
    let replicas = number("/spec/replicas", 1);
    if replicas != 0 {
        spec["replicas"] = replicas.into();
    }
    let mut status = json!({"replicas": number("/status/replicas", 0)});
    let selector = selector(object);
    if !selector.is_empty() {
        status["selector"] = selector.into();
    }
    json!({
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": metadata,
        "spec": spec,
        "status": status,
    })
}

/// The selector as text; of expressions, those that are only about labels that must be equal are told.
fn selector(object: &Value) -> String {
    let labels = object
        .pointer("/spec/selector/matchLabels")
        .or_else(|| object.pointer("/spec/selector"));
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    let pairs: Vec<String> = labels
        .filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?)))
        .collect();
    pairs.join(",")
}
