//! What is read of messages. Fields that are not named are skipped, the managed fields among them.
//!
//! Numbers are those of apimachinery's `meta/v1/generated.proto` and `runtime/generated.proto`.

use std::{collections::BTreeMap, sync::Arc};

use bytes::Bytes;
use informer_core::{Identity, ResourceVersion, Stamp};
use jiff::Timestamp;
use prost::Message;

use crate::{ObjectMeta, OwnerReference, Status, StatusCause, StatusDetails, status::StatusMeta};

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct TypeMeta {
    #[prost(string, tag = "1")]
    pub(crate) api_version: String,
    #[prost(string, tag = "2")]
    pub(crate) kind: String,
}

/// Any object, as far as its identity goes, with the annotations that a bookmark has.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct Item {
    #[prost(message, optional, tag = "1")]
    pub(crate) metadata: Option<Head>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct Head {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "3")]
    namespace: String,
    #[prost(string, tag = "5")]
    uid: String,
    #[prost(string, tag = "6")]
    version: String,
}

impl Item {
    pub(crate) fn identity(self) -> Identity {
        let head = self.metadata.unwrap_or_default();
        Identity {
            namespace: Some(head.namespace)
                .filter(|namespace| !namespace.is_empty())
                .map(Arc::from),
            name: head.name.into(),
            stamp: Stamp::new(ResourceVersion::new(head.version), head.uid),
        }
    }
}

/// Any object, as far as its metadata goes.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct PartialItem {
    #[prost(message, optional, tag = "1")]
    pub(crate) metadata: Option<Metadata>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Metadata {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) generate_name: String,
    #[prost(string, tag = "3")]
    pub(crate) namespace: String,
    #[prost(string, tag = "5")]
    pub(crate) uid: String,
    #[prost(string, tag = "6")]
    pub(crate) version: String,
    #[prost(int64, tag = "7")]
    pub(crate) generation: i64,
    #[prost(message, optional, tag = "8")]
    pub(crate) created: Option<Time>,
    #[prost(message, optional, tag = "9")]
    pub(crate) deleted: Option<Time>,
    #[prost(int64, optional, tag = "10")]
    pub(crate) grace: Option<i64>,
    #[prost(btree_map = "string, string", tag = "11")]
    pub(crate) labels: BTreeMap<String, String>,
    #[prost(btree_map = "string, string", tag = "12")]
    pub(crate) annotations: BTreeMap<String, String>,
    #[prost(message, repeated, tag = "13")]
    pub(crate) owners: Vec<Owner>,
    #[prost(string, repeated, tag = "14")]
    pub(crate) finalizers: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct Time {
    #[prost(int64, tag = "1")]
    seconds: i64,
    #[prost(int32, tag = "2")]
    nanos: i32,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct Owner {
    #[prost(string, tag = "1")]
    kind: String,
    #[prost(string, tag = "3")]
    name: String,
    #[prost(string, tag = "4")]
    uid: String,
    #[prost(string, tag = "5")]
    api_version: String,
    #[prost(bool, optional, tag = "6")]
    controller: Option<bool>,
    #[prost(bool, optional, tag = "7")]
    blocks: Option<bool>,
}

impl Time {
    /// As RFC 3339. A time that no calendar has is left out.
    fn text(self) -> Option<String> {
        Timestamp::new(self.seconds, self.nanos)
            .ok()
            .map(|time| time.to_string())
    }
}

fn filled(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

impl From<Metadata> for ObjectMeta {
    fn from(metadata: Metadata) -> Self {
        Self {
            name: metadata.name,
            generate_name: filled(metadata.generate_name),
            namespace: filled(metadata.namespace),
            uid: metadata.uid,
            resource_version: metadata.version,
            generation: Some(metadata.generation).filter(|&generation| generation != 0),
            creation_timestamp: metadata.created.and_then(Time::text),
            deletion_timestamp: metadata.deleted.and_then(Time::text),
            deletion_grace_period_seconds: metadata.grace,
            labels: metadata.labels,
            annotations: metadata.annotations,
            finalizers: metadata.finalizers,
            owner_references: metadata.owners.into_iter().map(Into::into).collect(),
            managed_fields: None,
        }
    }
}

impl From<Owner> for OwnerReference {
    fn from(owner: Owner) -> Self {
        Self {
            api_version: owner.api_version,
            kind: owner.kind,
            name: owner.name,
            uid: owner.uid,
            controller: owner.controller,
            block_owner_deletion: owner.blocks,
        }
    }
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ListMeta {
    #[prost(string, tag = "2")]
    pub(crate) version: String,
    #[prost(string, tag = "3")]
    pub(crate) token: String,
    #[prost(int64, optional, tag = "4")]
    pub(crate) remaining: Option<i64>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct WatchEvent {
    #[prost(string, tag = "1")]
    pub(crate) event: String,
    #[prost(message, optional, tag = "2")]
    pub(crate) object: Option<RawExtension>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct RawExtension {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) raw: Bytes,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct StatusMessage {
    #[prost(message, optional, tag = "1")]
    metadata: Option<ListMeta>,
    #[prost(string, tag = "2")]
    status: String,
    #[prost(string, tag = "3")]
    message: String,
    #[prost(string, tag = "4")]
    reason: String,
    #[prost(message, optional, tag = "5")]
    details: Option<Details>,
    #[prost(int32, tag = "6")]
    code: i32,
}

#[derive(Clone, PartialEq, Eq, Message)]
struct Details {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    group: String,
    #[prost(string, tag = "3")]
    kind: String,
    #[prost(message, repeated, tag = "4")]
    causes: Vec<Cause>,
    #[prost(int32, tag = "5")]
    retry_after: i32,
    #[prost(string, tag = "6")]
    uid: String,
}

#[derive(Clone, PartialEq, Eq, Message)]
struct Cause {
    #[prost(string, tag = "1")]
    reason: String,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(string, tag = "3")]
    field: String,
}

impl From<StatusMessage> for Status {
    fn from(status: StatusMessage) -> Self {
        let metadata = status.metadata.unwrap_or_default();
        Self {
            api_version: Some("v1".to_owned()),
            kind: Some("Status".to_owned()),
            metadata: StatusMeta {
                resource_version: filled(metadata.version),
                continue_token: filled(metadata.token),
            },
            status: filled(status.status),
            message: filled(status.message),
            reason: filled(status.reason),
            details: status.details.map(Into::into),
            code: u16::try_from(status.code).ok().filter(|&code| code != 0),
        }
    }
}

impl From<Details> for StatusDetails {
    fn from(details: Details) -> Self {
        Self {
            name: filled(details.name),
            group: filled(details.group),
            kind: filled(details.kind),
            uid: filled(details.uid),
            causes: details.causes.into_iter().map(Into::into).collect(),
            retry_after_seconds: u32::try_from(details.retry_after)
                .ok()
                .filter(|&seconds| seconds != 0),
        }
    }
}

impl From<Cause> for StatusCause {
    fn from(cause: Cause) -> Self {
        Self {
            reason: filled(cause.reason),
            message: filled(cause.message),
            field: filled(cause.field),
        }
    }
}
