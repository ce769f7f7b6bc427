//! Label and field selectors, as the API server reads them.

mod field;
mod label;

pub use field::FieldSelector;
pub(crate) use field::ResolvedFields;
pub use label::LabelSelector;
pub(super) use label::{key_problem, value_problem};

use super::table::Stored;

/// A selector that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectorError(String);

impl SelectorError {
    fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl std::fmt::Display for SelectorError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SelectorError {}

/// What a list or a watch is about.
#[derive(Debug, Clone, Default)]
pub(crate) struct Filter {
    pub(crate) namespace: Option<String>,
    pub(crate) labels: LabelSelector,
    pub(crate) fields: ResolvedFields,
}

impl Filter {
    pub(crate) fn matches(&self, stored: &Stored) -> bool {
        self.namespace
            .as_deref()
            .is_none_or(|namespace| stored.namespace() == Some(namespace))
            && self.labels.matches(&stored.labels)
            && self.fields.matches(stored)
    }

    /// Whether it has no selector: the namespace is a prefix of the keys, not a selector.
    pub(crate) fn selects_all(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }
}
