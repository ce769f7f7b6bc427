//! Field selectors as a cache can answer them.

use serde_json::Value;

use crate::error::CacheError;

/// One requirement of a field selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Requirement {
    pub(crate) field: String,
    pub(crate) value: String,
    /// `!=`.
    pub(crate) unequal: bool,
}

/// `a=b,c!=d` with backslashes before commas, equal signs and backslashes in values (apimachinery `fields.ParseSelector`).
pub(crate) fn parse(selector: &str) -> Result<Vec<Requirement>, CacheError> {
    let mut all = Vec::new();
    for part in split(selector) {
        if part.trim().is_empty() {
            continue;
        }
        let bad = || CacheError::selector(format!("bad requirement {part:?} in field selector"));
        let at = part.find(['=', '!']).ok_or_else(bad)?;
        let (field, rest) = part.split_at(at);
        let (unequal, value) = match rest.strip_prefix("!=") {
            Some(value) => (true, value),
            None => {
                let value = rest.strip_prefix("==").or_else(|| rest.strip_prefix('='));
                (false, value.ok_or_else(bad)?)
            }
        };
        if field.trim().is_empty() {
            return Err(bad());
        }
        all.push(Requirement {
            field: field.trim().to_owned(),
            value: unescape(value),
            unequal,
        });
    }
    Ok(all)
}

fn split(selector: &str) -> Vec<&str> {
    let (mut parts, mut from, mut escaped) = (Vec::new(), 0, false);
    for (at, char) in selector.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => {
                parts.push(&selector[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&selector[from..]);
    parts
}

fn unescape(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(char) = chars.next() {
        match char {
            '\\' => text.extend(chars.next()),
            char => text.push(char),
        }
    }
    text
}

/// Whether an object as JSON has the field like that; `None` where it cannot be said: field labels are paths into the object with few
/// exceptions, of which events are the worst.
pub(crate) fn holds(requirement: &Requirement, object: &Value) -> Option<bool> {
    let odd = ["source", "reportingComponent", "involvedObject.fieldPath"];
    if odd.contains(&&*requirement.field) {
        return None;
    }
    let mut at = Some(object);
    for member in requirement.field.split('.') {
        at = at.and_then(|value| value.get(member));
    }
    let text = match at {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Bool(flag)) => flag.to_string(),
        Some(Value::Number(number)) => number.to_string(),
        Some(Value::Array(_) | Value::Object(_)) => return None,
    };
    Some((text == requirement.value) != requirement.unequal)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_are_parsed_and_held_against_objects() {
        let all = parse(r"metadata.name=a\,b,spec.n!=2,,status.phase==Running").unwrap();
        let object = json!({"metadata": {"name": "a,b"}, "spec": {"n": 3}, "status": {"phase": "Running"}});
        assert_eq!(all.len(), 3);
        assert!(all.iter().all(|it| holds(it, &object) == Some(true)));
        assert_eq!(holds(&parse("spec.nodeName=").unwrap()[0], &object), Some(true));
        assert_eq!(holds(&parse("spec=x").unwrap()[0], &object), None);
        assert_eq!(holds(&parse("source=kubelet").unwrap()[0], &object), None);
        assert!(parse("metadata.name").is_err() && parse("=a").is_err() && parse("a!b").is_err());
    }
}
