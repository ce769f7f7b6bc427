//! Label selectors: equality, sets, existence, and integer comparison (apimachinery `pkg/labels`).

use std::{collections::BTreeMap, str::FromStr};

use super::SelectorError;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Operator {
    /// `=`, `==` and `in`.
    In(Vec<String>),
    /// `!=` and `notin`: also true where the label is absent.
    NotIn(Vec<String>),
    Exists,
    Absent,
    Greater(i64),
    Less(i64),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    label: String,
    operator: Operator,
}

/// A label selector: all of its requirements must hold. Empty selects everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LabelSelector {
    requirements: Vec<Requirement>,
}

impl LabelSelector {
    /// Whether these labels are selected.
    #[must_use]
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.requirements.iter().all(|requirement| {
            let value = labels.get(&requirement.label);
            match &requirement.operator {
                Operator::In(values) => value.is_some_and(|value| values.contains(value)),
                Operator::NotIn(values) => value.is_none_or(|value| !values.contains(value)),
                Operator::Exists => value.is_some(),
                Operator::Absent => value.is_none(),
                Operator::Greater(limit) => integer(value).is_some_and(|value| value > *limit),
                Operator::Less(limit) => integer(value).is_some_and(|value| value < *limit),
            }
        })
    }

    /// Whether it selects everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }
}

fn integer(value: Option<&String>) -> Option<i64> {
    value?.parse().ok()
}

impl FromStr for LabelSelector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let mut parser = Parser::new(text);
        let mut requirements = Vec::new();
        if parser.peek() == Token::End {
            return Ok(Self::default());
        }
        if !matches!(parser.peek(), Token::Word(_) | Token::Not) {
            return Err(found(
                &parser.peek(),
                ", expected: !, identifier, or 'end of string'",
            ));
        }
        loop {
            let requirement = parser.requirement();
            requirements.push(
                requirement
                    .map_err(|error| SelectorError::new(format!("unable to parse requirement: {error}")))?,
            );
            match parser.next() {
                Token::End => return Ok(Self { requirements }),
                Token::Comma => {}
                other => return Err(found(&other, ", expected: ',' or 'end of string'")),
            }
            if !matches!(parser.peek(), Token::Word(_) | Token::Not) {
                return Err(found(&parser.peek(), ", expected: identifier after ','"));
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word(String),
    Comma,
    Open,
    Close,
    Not,
    Equal,
    NotEqual,
    Greater,
    Less,
    End,
}

fn found(token: &Token, expected: &str) -> SelectorError {
    let literal = match token {
        Token::Word(word) => word,
        Token::Comma => ",",
        Token::Open => "(",
        Token::Close => ")",
        Token::Not => "!",
        Token::Equal => "=",
        Token::NotEqual => "!=",
        Token::Greater => ">",
        Token::Less => "<",
        Token::End => "",
    };
    SelectorError::new(format!("found '{literal}'{expected}"))
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    fn peek(&self) -> Token {
        Self { rest: self.rest }.next()
    }

    fn next(&mut self) -> Token {
        self.rest = self.rest.trim_start();
        let two = self.rest.get(..2).unwrap_or("");
        let (token, length) = match (two, self.rest.chars().next()) {
            (_, None) => (Token::End, 0),
            ("==", _) => (Token::Equal, 2),
            ("!=", _) => (Token::NotEqual, 2),
            (_, Some('=')) => (Token::Equal, 1),
            (_, Some('!')) => (Token::Not, 1),
            (_, Some(',')) => (Token::Comma, 1),
            (_, Some('(')) => (Token::Open, 1),
            (_, Some(')')) => (Token::Close, 1),
            (_, Some('>')) => (Token::Greater, 1),
            (_, Some('<')) => (Token::Less, 1),
            _ => {
                let end = self
                    .rest
                    .find(|c: char| c.is_whitespace() || "=!,()><".contains(c))
                    .unwrap_or(self.rest.len());
                (Token::Word(self.rest[..end].to_owned()), end)
            }
        };
        self.rest = &self.rest[length..];
        token
    }

    fn requirement(&mut self) -> Result<Requirement, SelectorError> {
        let (label, negated) = match self.next() {
            Token::Not => match self.next() {
                Token::Word(label) => (label, true),
                other => return Err(found(&other, ", expected: identifier")),
            },
            Token::Word(label) => (label, false),
            other => return Err(found(&other, ", expected: identifier")),
        };
        check_label(&label)?;
        let operator = if negated {
            Operator::Absent
        } else {
            self.operator(&label)?
        };
        Ok(Requirement { label, operator })
    }

    fn operator(&mut self, label: &str) -> Result<Operator, SelectorError> {
        if matches!(self.peek(), Token::Comma | Token::End) {
            return Ok(Operator::Exists);
        }
        let operator = match self.next() {
            Token::Equal => Operator::In(vec![self.value()]),
            Token::NotEqual => Operator::NotIn(vec![self.value()]),
            Token::Greater => Operator::Greater(self.limit()?),
            Token::Less => Operator::Less(self.limit()?),
            Token::Word(word) if word == "in" => Operator::In(self.values()?),
            Token::Word(word) if word == "notin" => Operator::NotIn(self.values()?),
            other => return Err(found(&other, ", expected: in, notin, =, ==, !=, gt, lt")),
        };
        if let Operator::In(values) | Operator::NotIn(values) = &operator {
            for value in values {
                check_value(label, value)?;
            }
        }
        Ok(operator)
    }

    /// The value of an equality: nothing before a comma or the end is the empty value.
    fn value(&mut self) -> String {
        match self.peek() {
            Token::Word(word) => {
                self.next();
                word
            }
            _ => String::new(),
        }
    }

    fn limit(&mut self) -> Result<i64, SelectorError> {
        let value = self.value();
        value.parse().map_err(|_| {
            SelectorError::new(format!(
                "values[0]: Invalid value: {value:?}: for 'Gt', 'Lt' operators, the value must be an integer"
            ))
        })
    }

    fn values(&mut self) -> Result<Vec<String>, SelectorError> {
        match self.next() {
            Token::Open => {}
            other => return Err(found(&other, " expected: '('")),
        }
        let mut values = vec![self.value()];
        loop {
            match self.next() {
                Token::Comma => values.push(self.value()),
                Token::Close => return Ok(values),
                other => return Err(found(&other, ", expected: ',' or ')'")),
            }
        }
    }
}

fn check_label(label: &str) -> Result<(), SelectorError> {
    match key_problem(label, "a valid label key") {
        None => Ok(()),
        Some(problem) => Err(SelectorError::new(format!(
            "<nil>: Invalid value: {label:?}: {problem}"
        ))),
    }
}

fn check_value(label: &str, value: &str) -> Result<(), SelectorError> {
    match value_problem(value) {
        None => Ok(()),
        Some(problem) => Err(SelectorError::new(format!(
            "values[0][{label}]: Invalid value: {value:?}: {problem}"
        ))),
    }
}

const CHARACTERS: &str = "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const KEY_EXAMPLES: &str = "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is \
    '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/// What is wrong with a label's value.
pub(crate) fn value_problem(value: &str) -> Option<String> {
    if value.is_empty() || is_name(value) {
        return None;
    }
    if value.len() > 63 {
        return Some("must be no more than 63 bytes".to_owned());
    }
    Some(format!(
        "a valid label must be an empty string or {CHARACTERS} (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is \
         '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
    ))
}

/// What is wrong with a qualified name: an optional DNS prefix and a slash, then at most 63 letters, digits, `-`, `_`, `.`. `what` it should
/// have been.
pub(crate) fn key_problem(key: &str, what: &str) -> Option<String> {
    let parts: Vec<&str> = key.split('/').collect();
    let name = match parts.as_slice() {
        [name] => name,
        ["", _] => return Some("prefix part must be non-empty".to_owned()),
        [prefix, name] => {
            let is_part =
                |part: &str| is_name(part) && !part.contains(['_', '.']) && part == part.to_lowercase();
            if !prefix.split('.').all(is_part) {
                return Some("prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must \
                    start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is \
                    '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')".to_owned());
            }
            name
        }
        _ => {
            return Some(format!(
                "{what} must {CHARACTERS} {KEY_EXAMPLES} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            ));
        }
    };
    match name.len() {
        0 => Some("name part must be non-empty".to_owned()),
        64.. => Some("name part must be no more than 63 bytes".to_owned()),
        _ if is_name(name) => None,
        _ => Some(format!("name part must {CHARACTERS} {KEY_EXAMPLES}")),
    }
}

fn is_name(text: &str) -> bool {
    let is_edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= 63
        && is_edge(bytes.first())
        && is_edge(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}
