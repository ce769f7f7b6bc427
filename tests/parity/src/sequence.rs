//! A sequence of operations, and what each of them did.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::view::View;

/// Operations for one suite, each in words that both sides understand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sequence {
    /// Which suite plays them.
    pub suite: String,
    /// In their order.
    pub ops: Vec<String>,
}

/// What one operation did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Step {
    /// What came of it, in order.
    pub said: Vec<String>,
    /// What is seen now and was not before; empty for what is there no more.
    pub seen: BTreeMap<String, String>,
}

/// Plays a sequence: `play` does one operation, says what came of it, and puts what is to be seen.
pub fn play(ops: &[String], mut play: impl FnMut(Op<'_>, &mut Vec<String>, &mut View)) -> Vec<Step> {
    let mut view = View::default();
    let mut step = |op: &String| {
        let mut said = Vec::new();
        play(Op::read(op), &mut said, &mut view);
        Step {
            said,
            seen: view.changes(),
        }
    };
    ops.iter().map(&mut step).collect()
}

/// An operation, taken apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op<'a> {
    /// What to do.
    pub verb: &'a str,
    /// Everything behind the verb.
    pub rest: &'a str,
}

impl<'a> Op<'a> {
    /// Takes an operation apart.
    #[must_use]
    pub fn read(text: &'a str) -> Self {
        let text = text.trim();
        let (verb, rest) = text.split_once(' ').unwrap_or((text, ""));
        Self {
            verb,
            rest: rest.trim(),
        }
    }

    /// What it is about, word by word.
    pub fn args(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.rest.split_whitespace()
    }

    /// The first of its words, or nothing.
    #[must_use]
    pub fn arg(&self) -> &'a str {
        self.args().next().unwrap_or_default()
    }

    /// The operations that it holds, separated by semicolons.
    pub fn parts(text: &'a str) -> impl Iterator<Item = Self> {
        text.split(';')
            .filter(|part| !part.trim().is_empty())
            .map(Self::read)
    }

    /// The version that stands first, after an `@`.
    #[must_use]
    pub fn version(&self) -> &'a str {
        let first = self.arg();
        first.strip_prefix('@').unwrap_or(first)
    }
}
