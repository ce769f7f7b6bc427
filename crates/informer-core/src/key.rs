//! Keys of cached objects and the functions that make them.

use std::{cmp::Ordering, error::Error, fmt, hash::Hash, str::FromStr, sync::Arc};

use crate::Identity;

/// What a key of a store must be. Implemented for every type that fits.
pub trait Key: Clone + Ord + Hash + fmt::Debug + Send + Sync + 'static {}

impl<T: Clone + Ord + Hash + fmt::Debug + Send + Sync + 'static> Key for T {}

/// Namespace and name of an object, the default key.
///
/// Prints as client-go's `MetaNamespaceKeyFunc` does: `namespace/name`, or `name` alone for an object without a namespace.
/// Ordered by namespace, then name, so that one namespace is one range of an ordered store. Cloning copies a pointer.
#[derive(Clone)]
pub struct ObjectKey {
    text: Arc<str>,
    /// Where the name begins: 0 without a namespace, else one past the slash.
    name_at: u32,
}

impl ObjectKey {
    /// The key of `name` in `namespace`; an empty namespace is none.
    #[must_use]
    pub fn new(namespace: Option<&str>, name: &str) -> Self {
        match namespace.filter(|namespace| !namespace.is_empty()) {
            None => Self {
                text: name.into(),
                name_at: 0,
            },
            Some(namespace) => {
                let mut text = String::with_capacity(namespace.len() + 1 + name.len());
                text.push_str(namespace);
                text.push('/');
                text.push_str(name);
                // The server limits a namespace to 63 bytes; a longer one than u32 cannot be told apart and stays whole in the text.
                let name_at = u32::try_from(namespace.len() + 1).unwrap_or(0);
                Self {
                    text: text.into(),
                    name_at,
                }
            }
        }
    }

    /// The key of an object in a namespace.
    #[must_use]
    pub fn namespaced(namespace: &str, name: &str) -> Self {
        Self::new(Some(namespace), name)
    }

    /// The key of an object of a cluster-wide kind.
    #[must_use]
    pub fn cluster(name: &str) -> Self {
        Self::new(None, name)
    }

    /// The namespace, or `None` for an object of a cluster-wide kind.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        (self.name_at > 0).then(|| &self.text[..self.name_at as usize - 1])
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.text[self.name_at as usize..]
    }

    /// The key as client-go prints it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The smallest key of a namespace: where a scan of that namespace begins.
    #[must_use]
    pub fn first_of(namespace: &str) -> Self {
        Self::new(Some(namespace), "")
    }

    fn parts(&self) -> (Option<&str>, &str) {
        (self.namespace(), self.name())
    }
}

impl PartialEq for ObjectKey {
    fn eq(&self, other: &Self) -> bool {
        self.name_at == other.name_at && self.text == other.text
    }
}

impl Eq for ObjectKey {}

impl Hash for ObjectKey {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl PartialOrd for ObjectKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ObjectKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parts().cmp(&other.parts())
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.text)
    }
}

impl FromStr for ObjectKey {
    type Err = KeyError;

    /// Reads `namespace/name` or `name`. More than one slash is an error (client-go `SplitMetaNamespaceKey`), and so, unlike there, is
    /// a missing name.
    fn from_str(text: &str) -> Result<Self, KeyError> {
        let (namespace, name) = match text.split_once('/') {
            None => (None, text),
            Some((namespace, name)) => (Some(namespace), name),
        };
        if name.is_empty() || name.contains('/') || namespace == Some("") {
            let message = format!("{text:?} is not a key of the form namespace/name or name");
            return Err(KeyError::new(message).of_kind(KeyErrorKind::Malformed));
        }
        Ok(Self::new(namespace, name))
    }
}

/// A key could not be made: of which object and why, as a kind, a sentence, and the error behind it where there is one.
#[derive(Debug, Clone)]
pub struct KeyError {
    kind: KeyErrorKind,
    message: Box<str>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// What was wrong with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyErrorKind {
    /// The object has no name.
    NoName,
    /// Namespace or name hold a slash, which would make another key of the same text.
    Slash,
    /// A text is not the text of a key.
    Malformed,
    /// Anything else: a key function of somebody's own says no.
    Other,
}

impl KeyError {
    /// An error with a sentence that says what was wrong with which object.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            kind: KeyErrorKind::Other,
            message: message.into().into_boxed_str(),
            source: None,
        }
    }

    /// The same, of this kind.
    #[must_use]
    pub fn of_kind(mut self, kind: KeyErrorKind) -> Self {
        self.kind = kind;
        self
    }

    /// The same, with its cause.
    #[must_use]
    pub fn caused_by(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// What was wrong.
    #[must_use]
    pub fn kind(&self) -> KeyErrorKind {
        self.kind
    }
}

/// By kind and sentence: causes cannot be compared.
impl PartialEq for KeyError {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.message == other.message
    }
}

impl Eq for KeyError {}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no key: {}", self.message)
    }
}

impl Error for KeyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_ref()
            .map(|source| &**source as &(dyn Error + 'static))
    }
}

/// Makes the key of an object. Called once per object, at ingest, with what the codec read of it.
///
/// The same object must always give the same key. Two objects of one source must never have the same key: one would take the place of
/// the other. A failure drops that object and is reported.
///
/// The suite `conformance::key_func` of `informer-testkit` checks one.
pub trait KeyFunc<K: ?Sized>: Send + Sync {
    /// The key it makes.
    type Key: Key;

    /// The key of `object`, whose metadata said `identity`.
    ///
    /// # Errors
    /// When the object has no usable key, with a sentence that names it.
    fn key(&self, identity: &Identity, object: &K) -> Result<Self::Key, KeyError>;

    /// The key by the identity alone, where it depends on nothing else: what an object that could not be decoded is known by. `None`
    /// leaves such an object out: a list then counts it as absent.
    fn key_of_identity(&self, _identity: &Identity) -> Option<Self::Key> {
        None
    }
}

impl<K: ?Sized, F: KeyFunc<K> + ?Sized> KeyFunc<K> for Arc<F> {
    type Key = F::Key;

    fn key(&self, identity: &Identity, object: &K) -> Result<Self::Key, KeyError> {
        (**self).key(identity, object)
    }

    fn key_of_identity(&self, identity: &Identity) -> Option<F::Key> {
        (**self).key_of_identity(identity)
    }
}

/// The default key function: namespace and name (client-go `MetaNamespaceKeyFunc`).
#[derive(Debug, Clone, Copy, Default)]
pub struct NamespaceName;

impl<K: ?Sized> KeyFunc<K> for NamespaceName {
    type Key = ObjectKey;

    fn key(&self, identity: &Identity, _: &K) -> Result<ObjectKey, KeyError> {
        Self::of(identity)
    }

    fn key_of_identity(&self, identity: &Identity) -> Option<ObjectKey> {
        Self::of(identity).ok()
    }
}

impl NamespaceName {
    fn of(identity: &Identity) -> Result<ObjectKey, KeyError> {
        if identity.name.is_empty() {
            let message = format!("object {identity} has no name");
            return Err(KeyError::new(message).of_kind(KeyErrorKind::NoName));
        }
        if identity.name.contains('/') || identity.namespace.as_deref().is_some_and(|it| it.contains('/')) {
            let message = format!("namespace or name of {identity} holds a slash");
            return Err(KeyError::new(message).of_kind(KeyErrorKind::Slash));
        }
        Ok(ObjectKey::new(identity.namespace.as_deref(), &identity.name))
    }
}
