//! `PartialMetadata`: an object's metadata without the object.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::null_is_default;

/// Metadata only: what the server sends as `PartialObjectMetadata`, or what is left of a full object when it is decoded as this.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartialMetadata {
    /// Group and version of a full object, where it said them; nothing for a partial object, which is no version of the object's kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// The kind of a full object, where it said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The metadata.
    #[serde(default, deserialize_with = "null_is_default")]
    pub metadata: ObjectMeta,
}

/// The metadata of an object.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct ObjectMeta {
    /// The name.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "null_is_default"
    )]
    pub name: String,
    /// What the server makes a name from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generate_name: Option<String>,
    /// The namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The uid.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "null_is_default"
    )]
    pub uid: String,
    /// The resource version.
    #[serde(
        skip_serializing_if = "String::is_empty",
        deserialize_with = "null_is_default"
    )]
    pub resource_version: String,
    /// It changes with the specification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
    /// When it was made, as RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<String>,
    /// When it was marked for deletion, or will be gone, as RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<String>,
    /// How many seconds it was given to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_grace_period_seconds: Option<i64>,
    /// Labels.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "null_is_default"
    )]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "null_is_default"
    )]
    pub annotations: BTreeMap<String, String>,
    /// Who has to agree before it goes.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_is_default")]
    pub finalizers: Vec<String>,
    /// Whom it belongs to.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "null_is_default")]
    pub owner_references: Vec<OwnerReference>,
    /// Who set which field; there only if the codec was told to keep it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub managed_fields: Option<serde_json::Value>,
}

#[cfg(feature = "protobuf")]
impl ObjectMeta {
    /// The identity of the object that has this metadata.
    pub(crate) fn identity(&self) -> informer_core::Identity {
        use informer_core::{Identity, ResourceVersion, Stamp};

        Identity {
            namespace: self.namespace.as_deref().map(Into::into),
            name: self.name.as_str().into(),
            stamp: Stamp::new(
                ResourceVersion::new(self.resource_version.as_str()),
                self.uid.as_str(),
            ),
        }
    }
}

/// A reference to an owner.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct OwnerReference {
    /// Group and version.
    pub api_version: String,
    /// Kind.
    pub kind: String,
    /// Name.
    pub name: String,
    /// Uid.
    pub uid: String,
    /// It is the managing controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// The owner cannot go before this object does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
}
