//! Resource versions: opaque, compared only on request.

use std::{cmp::Ordering, error::Error, fmt, sync::Arc};

/// A resource version as the server sent it, byte for byte.
///
/// It has no `Ord`: the API promises an order only since KEP-5504, only within one resource, and only for decimal versions;
/// [`compare`](Self::compare) is that order, and fails elsewhere. Cloning copies a pointer.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ResourceVersion(Arc<str>);

impl ResourceVersion {
    /// A version as text, taken as it is.
    #[must_use]
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The version that stands for "none": what a store has applied before its first list.
    #[must_use]
    pub fn none() -> Self {
        Self(Arc::from(""))
    }

    /// Whether this is the empty version.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// The text to send back to the server.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Which of two versions of one resource is later, by the rule of KEP-5504: decimal numbers of any length without leading zero,
    /// compared by length, then by digits (apimachinery `CompareResourceVersion`).
    ///
    /// # Errors
    /// When either is empty, `0` or no such number: then nothing can be said.
    pub fn compare(&self, other: &Self) -> Result<Ordering, Incomparable> {
        if !self.is_ordered() || !other.is_ordered() {
            return Err(Incomparable {
                left: self.clone(),
                right: other.clone(),
            });
        }
        Ok(self
            .0
            .len()
            .cmp(&other.0.len())
            .then_with(|| self.0.cmp(&other.0)))
    }

    fn is_ordered(&self) -> bool {
        !self.0.is_empty() && !self.0.starts_with('0') && self.0.bytes().all(|byte| byte.is_ascii_digit())
    }
}

impl Default for ResourceVersion {
    fn default() -> Self {
        Self::none()
    }
}

impl From<&str> for ResourceVersion {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Display for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ResourceVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}

/// Two resource versions that have no order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incomparable {
    left: ResourceVersion,
    right: ResourceVersion,
}

impl fmt::Display for Incomparable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "resource versions {:?} and {:?} cannot be compared",
            self.left.as_str(),
            self.right.as_str()
        )
    }
}

impl Error for Incomparable {}
