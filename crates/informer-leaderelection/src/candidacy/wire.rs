//! LeaseCandidate of `coordination.k8s.io/v1beta1`.

use informer_core::Resource;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::MicroTime;

/// A LeaseCandidate of `coordination.k8s.io/v1beta1`, with whatever else it carries.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LeaseCandidate {
    /// Its metadata, as they are.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// What it says.
    #[serde(default)]
    pub spec: LeaseCandidateSpec,
}

impl LeaseCandidate {
    /// Its kind.
    #[must_use]
    pub fn resource() -> Resource {
        Resource::namespaced(
            "coordination.k8s.io",
            "v1beta1",
            "leasecandidates",
            "LeaseCandidate",
        )
    }
}

/// What a LeaseCandidate says.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeaseCandidateSpec {
    /// The lease that it is a candidate for.
    #[serde(default)]
    pub lease_name: String,
    /// When the server last asked whether it is alive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ping_time: Option<MicroTime>,
    /// When it last said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renew_time: Option<MicroTime>,
    /// The version of its program, as `1.37.2`.
    #[serde(default)]
    pub binary_version: String,
    /// The version that it behaves as; not later than that of its program.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub emulation_version: String,
    /// How the server elects: `OldestEmulationVersion`.
    #[serde(default)]
    pub strategy: String,
    /// The rest.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}
