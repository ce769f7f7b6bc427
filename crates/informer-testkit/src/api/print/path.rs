//! JSONPath as far as printed columns use it: fields, elements, and the element with a field of some value.

use serde_json::Value;

/// A path such as `.status.conditions[?(@.type=="Ready")].status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonPath(Vec<Step>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Field(String),
    /// From the end where it is negative.
    Element(i64),
    All,
    Where(Vec<Self>, Value),
    /// What is not known here finds nothing.
    Unknown,
}

impl JsonPath {
    pub(crate) fn parse(text: &str) -> Self {
        Self(steps(text))
    }

    /// The first that is found.
    pub(crate) fn first<'a>(&self, object: &'a Value) -> Option<&'a Value> {
        find(&self.0, object)
    }
}

fn steps(mut text: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    while !text.is_empty() {
        if let Some(rest) = text.strip_prefix('[') {
            let end = closing(rest);
            steps.push(bracket(&rest[..end]));
            text = rest.get(end + 1..).unwrap_or("");
        } else {
            let (name, rest) = name(text.strip_prefix('.').unwrap_or(text));
            if !name.is_empty() {
                steps.push(if name == "*" { Step::All } else { Step::Field(name) });
            }
            text = rest;
        }
    }
    steps
}

/// A name up to a dot or bracket; a backslash takes what follows as it is.
fn name(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => name.extend(chars.next().map(|(_, c)| c)),
            '.' | '[' => return (name, &text[at..]),
            c => name.push(c),
        }
    }
    (name, "")
}

/// Where the bracket ends, outside of quotes and of brackets inside.
fn closing(text: &str) -> usize {
    let (mut depth, mut quote) = (0, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') if depth == 0 => return at,
            (None, ']') => depth -= 1,
            (None, _) => {}
        }
    }
    text.len()
}

fn quoted(text: &str) -> Option<&str> {
    let inner = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    inner('\'').or_else(|| inner('"'))
}

fn bracket(text: &str) -> Step {
    let text = text.trim();
    if text == "*" {
        return Step::All;
    }
    if let Some(name) = quoted(text) {
        return Step::Field(name.to_owned());
    }
    if let Ok(at) = text.parse() {
        return Step::Element(at);
    }
    let filter = text
        .strip_prefix("?(")
        .and_then(|text| text.strip_suffix(')'))
        .and_then(|text| text.split_once("=="));
    match filter {
        Some((path, value)) => {
            let value = value.trim();
            let value = match quoted(value) {
                Some(text) => Value::from(text),
                None => serde_json::from_str(value).unwrap_or(Value::Null),
            };
            Step::Where(steps(path.trim().trim_start_matches('@')), value)
        }
        None => Step::Unknown,
    }
}

fn find<'a>(steps: &[Step], value: &'a Value) -> Option<&'a Value> {
    let Some((step, rest)) = steps.split_first() else {
        return Some(value);
    };
    match step {
        Step::Field(name) => find(rest, value.get(name)?),
        Step::Element(at) => {
            let items = value.as_array()?;
            let at = match usize::try_from(*at) {
                Ok(at) => at,
                Err(_) => items
                    .len()
                    .checked_sub(usize::try_from(at.unsigned_abs()).ok()?)?,
            };
            find(rest, items.get(at)?)
        }
        Step::All => match value {
            Value::Array(items) => items.iter().find_map(|item| find(rest, item)),
            Value::Object(fields) => fields.values().find_map(|field| find(rest, field)),
            _ => None,
        },
        Step::Where(path, wanted) => {
            let items = value.as_array()?;
            let mut fitting = items.iter().filter(|item| find(path, item) == Some(wanted));
            fitting.find_map(|item| find(rest, item))
        }
        Step::Unknown => None,
    }
}

#[test]
fn paths_find_the_first() {
    let object = serde_json::json!({
        "a": {"b": 1, "c.d/e": 2},
        "list": [{"type": "X", "s": "x"}, {"type": "Ready", "s": "y"}, {"type": "Ready", "s": "z"}],
    });
    let found = |path: &str| JsonPath::parse(path).first(&object).cloned();
    assert_eq!(found(".a.b"), Some(1.into()));
    assert_eq!(found(".a.c\\.d/e"), Some(2.into()));
    assert_eq!(found(".a['c.d/e']"), Some(2.into()));
    assert_eq!(found(".list[0].s"), Some("x".into()));
    assert_eq!(found(".list[-1].s"), Some("z".into()));
    assert_eq!(found(".list[*].s"), Some("x".into()));
    assert_eq!(found(r#".list[?(@.type=="Ready")].s"#), Some("y".into()));
    assert_eq!(found(".list[?(@.type == 'None')].s"), None);
    for nothing in [
        ".x",
        ".a.b.c",
        ".list[9]",
        ".list[-4]",
        ".list.s",
        ".a[0]",
        ".list[?(@.s)]",
    ] {
        assert_eq!(found(nothing), None, "{nothing}");
    }
}
