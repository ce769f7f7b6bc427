//! Which objects an informer of a factory holds.

use std::{fmt, sync::Arc};

use informer_core::Resource;

/// A kind, and which of its objects.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Selection {
    /// The kind.
    pub resource: Resource,
    /// One namespace; `None`: all.
    pub namespace: Option<Arc<str>>,
    /// A label selector as the server takes it; empty: all.
    pub labels: Arc<str>,
    /// A field selector as the server takes it; empty: all.
    pub fields: Arc<str>,
}

impl Selection {
    /// All objects of a kind.
    #[must_use]
    pub fn all(resource: Resource) -> Self {
        Self {
            resource,
            namespace: None,
            labels: "".into(),
            fields: "".into(),
        }
    }

    /// Of these, the ones in a namespace.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<Arc<str>>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Of these, the ones that a label selector matches.
    #[must_use]
    pub fn labels(mut self, selector: impl Into<Arc<str>>) -> Self {
        self.labels = selector.into();
        self
    }

    /// Of these, the ones that a field selector matches.
    #[must_use]
    pub fn fields(mut self, selector: impl Into<Arc<str>>) -> Self {
        self.fields = selector.into();
        self
    }
}

impl Selection {
    /// What narrows it, each part with a space before it.
    pub(crate) fn narrowed(&self) -> String {
        let mut text = String::new();
        if let Some(namespace) = &self.namespace {
            text.push_str(" in ");
            text.push_str(namespace);
        }
        for selector in [&self.labels, &self.fields] {
            if !selector.is_empty() {
                text.push_str(" with ");
                text.push_str(selector);
            }
        }
        text
    }
}

/// Prints the plural, and what narrows it.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.resource, self.narrowed())
    }
}
