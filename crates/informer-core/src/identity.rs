//! What the machinery knows of an object: its identity, read from the bytes beside the object.

use std::{error::Error, fmt, sync::Arc};

use crate::ResourceVersion;

/// Which state of which incarnation of an object: its resource version and uid, read before any transform.
///
/// Two equal stamps are the same state, so the object need not be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Stamp {
    /// The object's own resource version.
    pub version: ResourceVersion,
    /// The object's uid; empty where the source has none.
    pub uid: Arc<str>,
}

impl Stamp {
    /// A stamp of version and uid.
    #[must_use]
    pub fn new(version: impl Into<ResourceVersion>, uid: impl Into<Arc<str>>) -> Self {
        Self {
            version: version.into(),
            uid: uid.into(),
        }
    }

    /// Whether both are states of one incarnation. A missing uid on either side counts as the same: there is nothing to tell them apart.
    #[must_use]
    pub fn same_object(&self, other: &Self) -> bool {
        self.uid == other.uid || self.uid.is_empty() || other.uid.is_empty()
    }
}

/// What the codec read of an object's metadata.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Identity {
    /// The namespace; `None` for a cluster-wide kind.
    pub namespace: Option<Arc<str>>,
    /// The name.
    pub name: Arc<str>,
    /// Version and uid.
    pub stamp: Stamp,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        write!(
            f,
            "{}",
            if self.name.is_empty() {
                "<unnamed>"
            } else {
                &self.name
            }
        )
    }
}

/// An object and its identity.
#[derive(Debug, Clone)]
pub struct Decoded<K> {
    /// Read from the bytes, whatever the form of the object holds.
    pub identity: Identity,
    /// The object.
    pub object: K,
}

/// An object that could not be decoded, with its identity where that could be read.
#[derive(Debug, Clone)]
pub struct DecodeError {
    kind: Option<Arc<str>>,
    identity: Option<Box<Identity>>,
    message: Arc<str>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl DecodeError {
    /// An error with a sentence of what was wrong.
    #[must_use]
    pub fn new(message: impl Into<Arc<str>>) -> Self {
        Self {
            kind: None,
            identity: None,
            message: message.into(),
            source: None,
        }
    }

    /// The same, of the object with this identity.
    #[must_use]
    pub fn of(mut self, identity: Identity) -> Self {
        self.identity = Some(Box::new(identity));
        self
    }

    /// The same, of an object of this kind.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<Arc<str>>) -> Self {
        self.kind = Some(kind.into());
        self
    }

    /// The same, with its cause.
    #[must_use]
    pub fn caused_by(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// The identity, where it could be read.
    #[must_use]
    pub fn identity(&self) -> Option<&Identity> {
        self.identity.as_deref()
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.as_deref().unwrap_or("object");
        match &self.identity {
            Some(identity) => write!(f, "cannot decode {kind} {identity}: {}", self.message),
            None => write!(f, "cannot decode {kind}: {}", self.message),
        }
    }
}

impl Error for DecodeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_ref()
            .map(|source| &**source as &(dyn Error + 'static))
    }
}
