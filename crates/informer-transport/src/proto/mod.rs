//! Kubernetes protobuf: the envelope, what is read of messages, and how a message is walked.

mod envelope;
mod fields;
mod messages;

pub(crate) use envelope::{Unknown, open, status};
pub(crate) use fields::{Input, NoMessage, without_managed_fields};
use messages::StatusMessage;
pub(crate) use messages::{Item, ListMeta, PartialItem, TypeMeta, WatchEvent};

/// What to ask for, and how answers call it.
pub(crate) const MEDIA_TYPE: &str = "application/vnd.kubernetes.protobuf";
/// What each message that stands alone begins with (apimachinery `runtime/serializer/protobuf`).
pub(crate) const MAGIC: &[u8; 4] = b"k8s\0";
