//! The index functions a store begins with.

use std::{error::Error, fmt, sync::Arc};

use informer_core::IndexFunc;

/// Named index functions (client-go `Indexers`).
///
/// ```
/// use informer_store::Indexers;
///
/// struct Pod {
///     node: Option<String>,
/// }
///
/// let indexers = Indexers::new().with("node", |pod: &Pod, emit: &mut dyn FnMut(&str)| {
///     pod.node.as_deref().into_iter().for_each(emit);
/// });
/// # let _ = indexers;
/// ```
pub struct Indexers<K> {
    functions: Vec<Named<K>>,
}

pub(crate) struct Named<K> {
    pub(crate) name: Arc<str>,
    pub(crate) function: Arc<dyn IndexFunc<K>>,
}

impl<K> Indexers<K> {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            functions: Vec::new(),
        }
    }

    /// These and one more. A name that is there already makes [`indexed`](crate::indexed) fail.
    #[must_use]
    pub fn with(self, name: impl Into<Arc<str>>, function: impl IndexFunc<K> + 'static) -> Self {
        self.with_shared(name, Arc::new(function))
    }

    /// As [`with`](Self::with), for a function that is shared or whose type is not known.
    #[must_use]
    pub fn with_shared(mut self, name: impl Into<Arc<str>>, function: Arc<dyn IndexFunc<K>>) -> Self {
        let name = name.into();
        self.functions.push(Named { name, function });
        self
    }

    /// Their names, in the order in which they were given.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.functions.iter().map(|it| &*it.name)
    }

    /// The functions, unless a name occurs twice.
    pub(crate) fn checked(self) -> Result<Vec<Named<K>>, DuplicateIndex> {
        for (at, it) in self.functions.iter().enumerate() {
            if self.functions[..at].iter().any(|earlier| earlier.name == it.name) {
                return Err(DuplicateIndex {
                    name: it.name.clone(),
                });
            }
        }
        Ok(self.functions)
    }
}

impl<K> Default for Indexers<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Clone for Indexers<K> {
    fn clone(&self) -> Self {
        let functions = self.functions.iter().map(|it| Named {
            name: it.name.clone(),
            function: it.function.clone(),
        });
        Self {
            functions: functions.collect(),
        }
    }
}

impl<K> fmt::Debug for Indexers<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// Two indices of one name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuplicateIndex {
    pub(crate) name: Arc<str>,
}

impl DuplicateIndex {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for DuplicateIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is an index {:?} already", self.name)
    }
}

impl Error for DuplicateIndex {}
