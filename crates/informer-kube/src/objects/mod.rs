//! Types of kube in the layers above: their kinds, their metadata, their bytes.

mod codec;
mod ext;
mod kind;
mod meta;

pub use codec::KubeCodec;
pub use ext::{KubeClientExt, KubeKindsExt};
pub use kind::{api_resource, resource_of, resource_with};
pub use meta::KubeMeta;
