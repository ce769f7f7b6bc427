//! Label selectors in the form that kubectl takes.

use std::{error::Error, fmt, str::FromStr};

/// A label selector: `app=web,tier!=db,env in (a, b),!canary` (apimachinery `labels.Parse`). All its requirements must hold.
///
/// ```
/// use informer_sharedinformer::LabelSelector;
///
/// let selector: LabelSelector = "app=web,env in (test, prod),!canary".parse()?;
/// let label = |name: &str| match name {
///     "app" => Some("web"),
///     "env" => Some("prod"),
///     _ => None,
/// };
/// assert!(selector.matches(label));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    label: Box<str>,
    operator: Operator,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Operator {
    Exists,
    Absent,
    In(Vec<Box<str>>),
    /// Also where the label is absent.
    NotIn(Vec<Box<str>>),
    Greater(i64),
    Less(i64),
}

impl LabelSelector {
    /// The selector that matches everything.
    #[must_use]
    pub fn everything() -> Self {
        Self::default()
    }

    /// Whether it matches the object whose labels `label` gives by name.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements
            .iter()
            .all(|it| it.operator.holds(label(&it.label)))
    }
}

impl Operator {
    fn holds(&self, value: Option<&str>) -> bool {
        let among = |values: &[Box<str>]| value.is_some_and(|value| values.iter().any(|it| **it == *value));
        let number = value.and_then(|value| value.parse::<i64>().ok());
        match self {
            Self::Exists => value.is_some(),
            Self::Absent => value.is_none(),
            Self::In(values) => among(values),
            Self::NotIn(values) => !among(values),
            Self::Greater(than) => number.is_some_and(|number| number > *than),
            Self::Less(than) => number.is_some_and(|number| number < *than),
        }
    }
}

/// A text is no label selector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectorError {
    requirement: Box<str>,
    why: &'static str,
}

impl fmt::Display for SelectorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "bad requirement {:?} in label selector: {}",
            self.requirement, self.why
        )
    }
}

impl Error for SelectorError {}

impl FromStr for LabelSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        if text.trim().is_empty() {
            return Ok(Self::everything());
        }
        let requirements = split(text).map(requirement).collect::<Result<_, _>>()?;
        Ok(Self { requirements })
    }
}

/// At the commas outside parentheses.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    text.split(move |at: char| {
        match at {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at == ',' && depth == 0
    })
}

fn requirement(text: &str) -> Result<Requirement, SelectorError> {
    let text = text.trim();
    let bad = |why| SelectorError {
        requirement: text.into(),
        why,
    };
    let number = |value: &str| value.trim().parse().map_err(|_| bad("not an integer"));
    let (label, operator) = if let Some((label, value)) = text.split_once("!=") {
        (
            label,
            Operator::NotIn(vec![plain(value).ok_or_else(|| bad("bad value"))?]),
        )
    } else if let Some((label, value)) = text.split_once("==").or_else(|| text.split_once('=')) {
        (
            label,
            Operator::In(vec![plain(value).ok_or_else(|| bad("bad value"))?]),
        )
    } else if let Some((label, value)) = text.split_once('>') {
        (label, Operator::Greater(number(value)?))
    } else if let Some((label, value)) = text.split_once('<') {
        (label, Operator::Less(number(value)?))
    } else if let Some((head, set)) = text.split_once('(') {
        let set = set
            .strip_suffix(')')
            .ok_or_else(|| bad("no closing parenthesis"))?;
        let values: Option<Vec<_>> = set.split(',').map(plain).collect();
        let values = values.ok_or_else(|| bad("bad value"))?;
        match head.split_whitespace().collect::<Vec<_>>()[..] {
            [label, "in"] => (label, Operator::In(values)),
            [label, "notin"] => (label, Operator::NotIn(values)),
            _ => return Err(bad("expected: label in (values), or label notin (values)")),
        }
    } else if let Some(label) = text.strip_prefix('!') {
        (label, Operator::Absent)
    } else {
        (text, Operator::Exists)
    };
    let label = plain(label).filter(|label| !label.is_empty());
    Ok(Requirement {
        label: label.ok_or_else(|| bad("bad label name"))?,
        operator,
    })
}

/// A name or value, which may be empty; `None` where it holds what no label may.
fn plain(text: &str) -> Option<Box<str>> {
    let text = text.trim();
    let fits = |at: char| at.is_ascii_alphanumeric() || matches!(at, '-' | '_' | '.' | '/');
    text.chars().all(fits).then(|| text.into())
}
