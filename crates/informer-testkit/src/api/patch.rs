//! JSON patch (RFC 6902) and merge patch (RFC 7386).

use serde_json::Value;

use super::{ApiError, Target};

/// A patch.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Patch {
    /// A merge patch: fields to set, `null` to remove one.
    Merge(Value),
    /// A JSON patch: a list of operations.
    Json(Value),
}

impl Patch {
    pub(crate) fn apply(&self, target: &Target, name: &str, mut object: Value) -> Result<Value, ApiError> {
        match self {
            Self::Merge(patch) => {
                if !patch.is_object() {
                    return Err(ApiError::bad_request(
                        "Invalid JSON Patch: a merge patch is an object",
                    ));
                }
                json_patch::merge(&mut object, patch);
            }
            Self::Json(patch) => {
                let operations: json_patch::Patch = serde_json::from_value(patch.clone())
                    .map_err(|error| ApiError::bad_request(error.to_string()))?;
                json_patch::patch(&mut object, &operations)
                    .map_err(|error| rejected(target, name, &error.to_string()))?;
            }
        }
        Ok(object)
    }
}

/// The server answers a patch that does not apply like this (apiserver `handlers.jsonPatcher`: a generic 422).
fn rejected(target: &Target, name: &str, why: &str) -> ApiError {
    ApiError::new(
        422,
        "Invalid",
        format!(
            "the server rejected our request due to an error in our request: {} {name:?}: {why}",
            target.resource()
        ),
    )
}
