//! Field selectors: equality over the few fields that a kind names (apimachinery `pkg/fields`).

use std::str::FromStr;

use super::SelectorError;
use crate::api::{
    def::{ResourceDef, SelectableField},
    table::Stored,
};

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    label: String,
    equal: bool,
    value: String,
}

/// A field selector: all of its terms must hold. Empty selects everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FieldSelector {
    terms: Vec<Term>,
}

impl FieldSelector {
    /// The value that a field must have, where the selector says so.
    #[must_use]
    pub fn required(&self, label: &str) -> Option<&str> {
        let mut terms = self.terms.iter();
        let found = terms.find(|term| term.label == label && term.equal)?;
        Some(&found.value)
    }

    /// Whether it selects everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The selector over the fields of a kind: those that a version allows, among those whose values are kept.
    pub(crate) fn resolve(
        &self,
        namespaced: bool,
        def: &ResourceDef,
        known: &[SelectableField],
    ) -> Result<ResolvedFields, SelectorError> {
        let mut terms = Vec::new();
        for term in &self.terms {
            // For pods of old clients (kubernetes `pkg/apis/core/v1/conversion.go`).
            let label = match term.label.as_str() {
                "spec.host" => "spec.nodeName",
                label => label,
            };
            let field = match label {
                "metadata.name" => Field::Name,
                "metadata.namespace" if namespaced => Field::Namespace,
                _ => {
                    let field = def.selectable.iter().find(|field| field.label == label);
                    match field.and_then(|field| known.iter().position(|it| it == field)) {
                        Some(index) => Field::Known(index),
                        None => return Err(unknown(label, def.selectable.is_empty() && !def.custom)),
                    }
                }
            };
            terms.push(ResolvedTerm {
                field,
                equal: term.equal,
                value: term.value.clone(),
            });
        }
        Ok(ResolvedFields { terms })
    }
}

fn unknown(label: &str, only_metadata: bool) -> SelectorError {
    SelectorError::new(if only_metadata {
        format!("{label:?} is not a known field selector: only \"metadata.name\", \"metadata.namespace\"")
    } else {
        format!("field label not supported: {label}")
    })
}

impl FromStr for FieldSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let mut terms = Vec::new();
        for part in split(text) {
            if part.is_empty() {
                continue;
            }
            let bad = || SelectorError::new(format!("invalid selector: '{text}'; can't understand '{part}'"));
            let (label, operator, value) = operator(&part).ok_or_else(bad)?;
            terms.push(Term {
                label: label.to_owned(),
                equal: operator != "!=",
                value: unescape(value).map_err(|rest| {
                    SelectorError::new(format!("invalid field selector: invalid escape sequence: {rest}"))
                })?,
            });
        }
        Ok(Self { terms })
    }
}

/// The parts between commas that no backslash protects.
fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut escaped = false;
    for c in text.chars() {
        match (escaped, c) {
            (false, ',') => {
                parts.push(String::new());
                continue;
            }
            (false, '\\') => escaped = true,
            _ => escaped = false,
        }
        if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    parts
}

/// The first operator of a term that no backslash protects.
fn operator(part: &str) -> Option<(&str, &'static str, &str)> {
    let mut escaped = false;
    for (at, c) in part.char_indices() {
        if escaped || c == '\\' {
            escaped = !escaped;
            continue;
        }
        for operator in ["!=", "==", "="] {
            if let Some(value) = part[at..].strip_prefix(operator) {
                return Some((&part[..at], operator, value));
            }
        }
    }
    None
}

/// The value without its backslashes, or what of it cannot be read.
fn unescape(value: &str) -> Result<String, String> {
    let mut plain = String::new();
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(c @ ('\\' | ',' | '=')) => plain.push(c),
                other => return Err(['\\'].into_iter().chain(other).collect()),
            },
            ',' | '=' => return Err(c.to_string()),
            c => plain.push(c),
        }
    }
    Ok(plain)
}

#[derive(Debug, Clone, Copy)]
enum Field {
    Name,
    Namespace,
    /// Index into the kind's selectable fields.
    Known(usize),
}

#[derive(Debug, Clone)]
struct ResolvedTerm {
    field: Field,
    equal: bool,
    value: String,
}

/// A field selector over the fields of one kind.
#[derive(Debug, Clone, Default)]
pub(crate) struct ResolvedFields {
    terms: Vec<ResolvedTerm>,
}

impl ResolvedFields {
    pub(crate) fn matches(&self, stored: &Stored) -> bool {
        self.terms.iter().all(|term| {
            let value = match term.field {
                Field::Name => stored.name(),
                Field::Namespace => stored.namespace().unwrap_or(""),
                Field::Known(index) => stored.fields.get(index).map_or("", String::as_str),
            };
            (value == term.value) == term.equal
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}
