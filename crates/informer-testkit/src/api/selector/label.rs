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
        loop {
            requirements.push(parser.requirement()?);
            match parser.next() {
                Token::End => return Ok(Self { requirements }),
                Token::Comma => {}
                other => return Err(found(&other, "',' or 'end of string'")),
            }
            if !matches!(parser.peek(), Token::Word(_) | Token::Not) {
                return Err(found(&parser.peek(), "identifier after ','"));
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
    SelectorError::new(format!(
        "unable to parse requirement: found '{literal}', expected: {expected}"
    ))
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
                other => return Err(found(&other, "identifier")),
            },
            Token::Word(label) => (label, false),
            other => return Err(found(&other, "!, identifier, or 'end of string'")),
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
            other => return Err(found(&other, "in, notin, =, ==, !=, gt, lt")),
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
                "unable to parse requirement: values[0]: Invalid value: {value:?}: for 'Gt', 'Lt' operators, the value must be an integer"
            ))
        })
    }

    fn values(&mut self) -> Result<Vec<String>, SelectorError> {
        match self.next() {
            Token::Open => {}
            other => return Err(found(&other, "'('")),
        }
        let mut values = vec![self.value()];
        loop {
            match self.next() {
                Token::Comma => values.push(self.value()),
                Token::Close => return Ok(values),
                other => return Err(found(&other, "',' or ')'")),
            }
        }
    }
}

/// A qualified name: an optional DNS prefix and a slash, then at most 63 letters, digits, `-`, `_`, `.`.
fn check_label(label: &str) -> Result<(), SelectorError> {
    let name = label.rsplit_once('/').map_or(label, |(_, name)| name);
    if is_name(name) && label.matches('/').count() <= 1 {
        return Ok(());
    }
    Err(SelectorError::new(format!(
        "unable to parse requirement: <nil>: Invalid value: {label:?}: name part must consist of alphanumeric characters, '-', '_' or '.', \
         and must start and end with an alphanumeric character"
    )))
}

fn check_value(label: &str, value: &str) -> Result<(), SelectorError> {
    if value.is_empty() || is_name(value) {
        return Ok(());
    }
    Err(SelectorError::new(format!(
        "unable to parse requirement: values[0][{label}]: Invalid value: {value:?}: a valid label must be an empty string or consist of \
         alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
    )))
}

pub(crate) fn is_name(text: &str) -> bool {
    let is_edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= 63
        && is_edge(bytes.first())
        && is_edge(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}
