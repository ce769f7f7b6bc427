//! Transforms: what is done to an object before it is kept.

use std::{error::Error, fmt};

use informer_core::Identity;

/// Changes an object before it goes into the queue, for instance to drop what nobody reads (client-go `TransformFunc`).
///
/// It runs exactly once on each object that goes on, so it need not be idempotent. The machinery keeps key, version and uid apart from the
/// object, so it cannot change those; a key function that reads the object must give the same key afterwards, which is checked.
pub trait Transform<K>: Send + Sync {
    /// Changes `object`, whose metadata said `identity`.
    ///
    /// # Errors
    /// When the object cannot be used: it is reported and skipped, and its stored copy turns stale.
    fn transform(&self, identity: &Identity, object: &mut K) -> Result<(), TransformError>;
}

impl<K, F> Transform<K> for F
where
    F: Fn(&Identity, &mut K) -> Result<(), TransformError> + Send + Sync,
{
    fn transform(&self, identity: &Identity, object: &mut K) -> Result<(), TransformError> {
        self(identity, object)
    }
}

/// A transform refused an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransformError {
    message: Box<str>,
}

impl TransformError {
    /// An error with a sentence that says why.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into().into_boxed_str(),
        }
    }
}

impl fmt::Display for TransformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not transformed: {}", self.message)
    }
}

impl Error for TransformError {}
