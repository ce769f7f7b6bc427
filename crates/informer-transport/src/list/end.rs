//! `ListEnd`: what a list says besides its items.

use informer_core::ResourceVersion;
use serde::Deserialize;

/// What a list says besides its items.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ListEnd {
    /// The version of the list; empty where the server gave none.
    pub version: ResourceVersion,
    /// Where the next page begins.
    pub token: Option<Box<str>>,
    /// How many items are left for later pages, where the server knows.
    pub remaining: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Metadata {
    resource_version: Option<String>,
    #[serde(rename = "continue")]
    token: Option<Box<str>>,
    remaining_item_count: Option<u64>,
}

impl From<Metadata> for ListEnd {
    fn from(metadata: Metadata) -> Self {
        Self {
            version: ResourceVersion::new(metadata.resource_version.unwrap_or_default()),
            token: metadata.token.filter(|token| !token.is_empty()),
            remaining: metadata.remaining_item_count,
        }
    }
}
