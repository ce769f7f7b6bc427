//! Patches: JSON patch (RFC 6902), merge patch (RFC 7386), strategic merge patch, and configurations to apply.

use serde_json::Value;

use super::{ApiError, Target, schema::Node, strategic};

/// A patch.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Patch {
    /// A merge patch: fields to set, `null` to remove one.
    Merge(Value),
    /// A JSON patch: a list of operations.
    Json(Value),
    /// A strategic merge patch: as a merge patch, but lists with a known merge key are merged by it. Built-in kinds only; the keys that are
    /// known are those of metadata, pods, workloads, services, nodes, and of conditions. All other lists are replaced.
    Strategic(Value),
    /// What a manager of fields wants: server-side apply. In a request; [`FakeApi::apply`](crate::FakeApi::apply) says who the manager is.
    ///
    /// Lists have the keys that strategic merge knows, or those of a custom resource's schema; all others are one value. Left out are
    /// bodies in YAML, defaults, and managers of fields from before the first apply: they are one, `before-first-apply`.
    Apply {
        /// The fields that the manager cares for.
        object: Value,
        /// Take fields that others own.
        force: bool,
    },
}

impl Patch {
    /// The patched object. Not for configurations to apply.
    pub(crate) fn apply(&self, target: &Target, mut object: Value) -> Result<Value, ApiError> {
        match self {
            Self::Merge(patch) => {
                if !patch.is_object() {
                    return Err(not_an_object());
                }
                json_patch::merge(&mut object, patch);
            }
            Self::Strategic(patch) => {
                let Value::Object(patch) = patch else {
                    return Err(ApiError::bad_request(
                        "json: cannot unmarshal array into Go value of type map[string]interface {}",
                    ));
                };
                strategic::merge(&mut object, patch, Node::root(&target.def))?;
            }
            Self::Json(patch) => {
                if !patch.is_array() {
                    return Err(ApiError::bad_request(
                        "error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp",
                    ));
                }
                let operations: json_patch::Patch =
                    serde_json::from_value(patch.clone()).map_err(|_| rejected())?;
                json_patch::patch(&mut object, &operations).map_err(|_| rejected())?;
            }
            Self::Apply { .. } => {}
        }
        Ok(object)
    }
}

fn not_an_object() -> ApiError {
    ApiError::bad_request(
        "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}",
    )
}

/// The server says no more of a patch that does not apply (apiserver `handlers.jsonPatcher`: a generic 422).
fn rejected() -> ApiError {
    ApiError::new(
        422,
        "Invalid",
        "the server rejected our request due to an error in our request",
    )
    .with_details()
}
