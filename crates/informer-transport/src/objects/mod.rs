//! Forms of objects that need no types of the kind: metadata only, and dynamic.

mod dynamic;
mod packed;
mod partial;

pub use dynamic::DynamicObject;
pub use packed::PackedObject;
pub use partial::{ObjectMeta, OwnerReference, PartialMetadata};

use serde::{Deserialize, Deserializer};

/// Servers and people write `null` where nothing would do.
pub(crate) fn null_is_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}
